//! Reads the JSON, so that every error knows its place.

use std::fmt;

use asset_proto::v1::{Assurance, BackfillStatus, Condition, Group, Match, Quality, SchemaStatus, Since};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};

use super::{
    keys::{CONDITION, GROUP, Keys},
    words::OneOf,
};

/// The whole file.
pub struct Document(pub Vec<Group>);

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(DocumentVisitor).map(Self)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Vec<Group>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a condition, an array of conditions, or {\"groups\": [...]}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Ok(vec![group(String::new(), all(seq)?)?])
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some(first) = map.next_key::<String>()? else {
            return Err(A::Error::custom("there is no condition in it"));
        };
        if first != "groups" {
            let condition = condition(map, Some(first))?;
            return group(String::new(), vec![condition]).map(|group| vec![group]);
        }
        let Groups(groups) = map.next_value()?;
        match map.next_key::<String>()? {
            None if groups.is_empty() => Err(A::Error::custom("`groups` is empty")),
            None => Ok(groups),
            Some(key) => Err(A::Error::custom(format!("unknown key `{key}`; beside `groups` there is none"))),
        }
    }
}

struct Groups(Vec<Group>);

impl<'de> Deserialize<'de> for Groups {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let groups = Vec::<OneGroup>::deserialize(json)?;
        Ok(Self(groups.into_iter().map(|OneGroup(group)| group).collect()))
    }
}

struct OneGroup(Group);

impl<'de> Deserialize<'de> for OneGroup {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_map(GroupVisitor).map(Self)
    }
}

struct GroupVisitor;

impl<'de> Visitor<'de> for GroupVisitor {
    type Value = Group;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a group: {\"name\": ..., \"conditions\": [...]}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Group, A::Error> {
        let mut name = None;
        let mut conditions = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => once(&mut map, &key, &mut name)?,
                "conditions" => once(&mut map, &key, &mut conditions)?,
                _ => return Err(A::Error::custom(GROUP.refuse(&key))),
            }
        }
        let Conditions(conditions) = conditions.ok_or_else(|| missing("conditions", &GROUP))?;
        group(name.unwrap_or_default(), conditions)
    }
}

struct Conditions(Vec<Condition>);

impl<'de> Deserialize<'de> for Conditions {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let conditions = Vec::<OneCondition>::deserialize(json)?;
        Ok(Self(conditions.into_iter().map(|one| one.0).collect()))
    }
}

struct OneCondition(Condition);

impl<'de> Deserialize<'de> for OneCondition {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_map(ConditionVisitor).map(Self)
    }
}

struct ConditionVisitor;

impl<'de> Visitor<'de> for ConditionVisitor {
    type Value = Condition;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a condition: {\"assetKey\": ..., ...}")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Condition, A::Error> {
        condition(map, None)
    }
}

fn all<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Vec<Condition>, A::Error> {
    let mut conditions = Vec::new();
    while let Some(OneCondition(condition)) = seq.next_element()? {
        conditions.push(condition);
    }
    Ok(conditions)
}

fn group<E: Error>(name: String, conditions: Vec<Condition>) -> Result<Group, E> {
    if conditions.is_empty() {
        return Err(E::custom("there is no condition in it"));
    }
    Ok(Group { name, conditions })
}

/// Reads a condition, of which a key may have been read already.
fn condition<'de, A: MapAccess<'de>>(mut map: A, first: Option<String>) -> Result<Condition, A::Error> {
    let mut asset_key = None;
    let mut alias = None;
    let mut required = None;
    let mut min_snapshot = None;
    let mut since = None;
    let mut committed_after = None;
    let mut watermark_gte = None;
    let (mut lag, mut quality, mut schema, mut tag) = (None, None, None, None);
    let (mut backfill, mut ignore_backfill, mut assurance, mut matching) = (None, None, None, None);
    let mut timezone = None;
    let mut next = match first {
        Some(first) => Some(first),
        None => map.next_key::<String>()?,
    };
    while let Some(key) = next {
        match key.as_str() {
            "assetKey" => once(&mut map, &key, &mut asset_key)?,
            "alias" => once(&mut map, &key, &mut alias)?,
            "snapshotRequired" => once(&mut map, &key, &mut required)?,
            "minSnapshotId" => once(&mut map, &key, &mut min_snapshot)?,
            "since" => once(&mut map, &key, &mut since)?,
            "committedAfter" => once(&mut map, &key, &mut committed_after)?,
            "watermarkGte" => once(&mut map, &key, &mut watermark_gte)?,
            "maxWatermarkLagSeconds" => once(&mut map, &key, &mut lag)?,
            "qualityStatus" => once(&mut map, &key, &mut quality)?,
            "schemaStatus" => once(&mut map, &key, &mut schema)?,
            "tag" => once(&mut map, &key, &mut tag)?,
            "backfillStatus" => once(&mut map, &key, &mut backfill)?,
            "ignoreBackfill" => once(&mut map, &key, &mut ignore_backfill)?,
            "assurance" => once(&mut map, &key, &mut assurance)?,
            "match" => once(&mut map, &key, &mut matching)?,
            "timezone" => once(&mut map, &key, &mut timezone)?,
            _ => return Err(A::Error::custom(CONDITION.refuse(&key))),
        }
        next = map.next_key::<String>()?;
    }
    Ok(Condition {
        asset_key: asset_key.ok_or_else(|| missing("assetKey", &CONDITION))?,
        alias: alias.unwrap_or_default(),
        snapshot_required: required.unwrap_or_default(),
        min_snapshot_id: min_snapshot.map(|SnapshotId(id)| id),
        since: since.map_or(Since::Unspecified, |FromWhen(since)| since).into(),
        committed_after: committed_after.map(|Moment(text)| text).unwrap_or_default(),
        watermark_gte: watermark_gte.map(|Moment(text)| text).unwrap_or_default(),
        max_watermark_lag_seconds: lag,
        quality_status: quality.map_or(Quality::Unspecified, |OneOf(word)| word).into(),
        schema_status: schema.map_or(SchemaStatus::Unspecified, |OneOf(word)| word).into(),
        tag: tag.unwrap_or_default(),
        backfill_status: backfill.map_or(BackfillStatus::Unspecified, |OneOf(word)| word).into(),
        ignore_backfill: ignore_backfill.unwrap_or_default(),
        assurance: assurance.map_or(Assurance::Unspecified, |OneOf(word)| word).into(),
        r#match: matching.map_or(Match::Unspecified, |OneOf(word)| word).into(),
        timezone: timezone.unwrap_or_default(),
    })
}

/// Reads the value of a key that may be there once.
fn once<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    map: &mut A,
    key: &str,
    to: &mut Option<T>,
) -> Result<(), A::Error> {
    if to.is_some() {
        return Err(A::Error::custom(format!("`{key}` is given twice")));
    }
    *to = Some(map.next_value()?);
    Ok(())
}

fn missing<E: Error>(key: &str, keys: &Keys) -> E {
    E::custom(format!("`{key}` is missing; {} needs it", keys.object))
}

struct SnapshotId(i64);

impl<'de> Deserialize<'de> for SnapshotId {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(SnapshotIdVisitor).map(Self)
    }
}

struct SnapshotIdVisitor;

impl SnapshotIdVisitor {
    fn out_of_range<E: Error>(given: impl fmt::Display) -> E {
        E::custom(format!("`minSnapshotId` is {given}; it must be a whole number from 0 to {}", i64::MAX))
    }
}

impl Visitor<'_> for SnapshotIdVisitor {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "`minSnapshotId` as a whole number from 0 to {}", i64::MAX)
    }

    fn visit_i64<E: Error>(self, id: i64) -> Result<i64, E> {
        match id {
            0.. => Ok(id),
            _ => Err(Self::out_of_range(id)),
        }
    }

    fn visit_u64<E: Error>(self, id: u64) -> Result<i64, E> {
        i64::try_from(id).map_err(|_| Self::out_of_range(id))
    }

    fn visit_f64<E: Error>(self, id: f64) -> Result<i64, E> {
        Err(Self::out_of_range(id))
    }
}

/// A time as the agent reads it: a text, or milliseconds as a number.
struct Moment(String);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(MomentVisitor).map(Self)
    }
}

struct MomentVisitor;

impl Visitor<'_> for MomentVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a time as text, or epoch milliseconds as a whole number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_i64<E: Error>(self, millis: i64) -> Result<String, E> {
        Ok(millis.to_string())
    }

    fn visit_u64<E: Error>(self, millis: u64) -> Result<String, E> {
        Ok(millis.to_string())
    }
}

struct FromWhen(Since);

impl<'de> Deserialize<'de> for FromWhen {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_str(FromWhenVisitor).map(Self)
    }
}

struct FromWhenVisitor;

impl Visitor<'_> for FromWhenVisitor {
    type Value = Since;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("`since` as \"exists\" or \"registered\"")
    }

    fn visit_str<E: Error>(self, since: &str) -> Result<Since, E> {
        match since {
            "exists" => Ok(Since::Exists),
            "registered" => Ok(Since::Registered),
            "consumed" => Err(E::custom(
                "`since` is `consumed`, which this version does not serve; it serves `exists` and `registered`",
            )),
            other => Err(E::custom(format!("`since` is `{other}`; it must be `exists` or `registered`"))),
        }
    }
}

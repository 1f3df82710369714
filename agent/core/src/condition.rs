//! Conditions, groups and dependencies: what somebody waits for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    facts::{BackfillStatus, Quality, SchemaStatus},
    key::AssetKey,
    time::{Zone, parse_moment, show_moment},
    version::{Assurance, Millis},
};

/// Most groups of one dependency.
pub const MAX_GROUPS: usize = 64;
/// Most conditions of one group.
pub const MAX_CONDITIONS: usize = 64;
/// Longest name of a group or alias, in characters.
pub const MAX_NAME_CHARS: usize = 64;

/// Longest name of a tag, in characters.
pub const MAX_TAG_CHARS: usize = 128;
/// Greatest lag of a watermark that can be asked for: a hundred years.
pub const MAX_LAG_SECONDS: i64 = 100 * 366 * 86_400;

/// From where on a version counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Since {
    /// The state as it is.
    #[default]
    Exists,
    /// Newer than the head when the wait began.
    Registered,
}

/// Which data version is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Match {
    /// The newest one only.
    #[default]
    Head,
    /// The newest one that satisfies the whole condition.
    Newest,
}

/// A condition as somebody wrote it. The JSON form is the one of the declared conditions, and what
/// equals what it was left out is not written, so that a digest of it outlives new fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConditionSpec {
    /// Key of the asset.
    pub asset_key: String,
    /// Name to hand its version on under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Says that a data version must exist; implied in any case.
    #[serde(default, skip_serializing_if = "is_default")]
    pub snapshot_required: bool,
    /// Native id that must have been reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_snapshot_id: Option<i64>,
    /// From where on a version counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub since: Since,
    /// When it must have been committed or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed_after: Option<String>,
    /// What its watermark must have reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watermark_gte: Option<String>,
    /// How far its watermark may lie behind the time of now, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_watermark_lag_seconds: Option<i64>,
    /// What a check must have said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_status: Option<Quality>,
    /// Where its schema must stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_status: Option<SchemaStatus>,
    /// A tag that it must have: exact, or with `*` and `?`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Where backfills of the asset must stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfill_status: Option<BackfillStatus>,
    /// Whether versions that were committed during a backfill don't count.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ignore_backfill: bool,
    /// How it must be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
    /// Which data version is looked at.
    #[serde(default, rename = "match", skip_serializing_if = "is_default")]
    pub matching: Match,
    /// Zone of times that have none of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

/// A group as somebody wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GroupSpec {
    /// Its name; empty for a default one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its conditions.
    pub conditions: Vec<ConditionSpec>,
}

/// A condition that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The asset.
    pub asset: AssetKey,
    /// Name that its version is handed on under: the alias, else the table's.
    pub name: String,
    /// Native id that must have been reached.
    pub min_snapshot_id: Option<i64>,
    /// From where on a version counts.
    pub since: Since,
    /// When its data version must have been committed or later.
    pub committed_after: Option<Millis>,
    /// What the effective watermark of its data version must have reached.
    pub watermark_gte: Option<Millis>,
    /// How far that may lie behind the time of now, in seconds.
    pub max_watermark_lag_seconds: Option<i64>,
    /// What a check must have said of its data version.
    pub quality_status: Option<Quality>,
    /// Where the schema of its data version must stand.
    pub schema_status: Option<SchemaStatus>,
    /// A tag that its data version must have.
    pub tag: Option<TagGlob>,
    /// Where backfills of the asset must stand.
    pub backfill_status: Option<BackfillStatus>,
    /// Whether versions that were committed during a backfill don't count.
    pub ignore_backfill: bool,
    /// How its data version must be known.
    pub assurance: Option<Assurance>,
    /// Which data version is looked at.
    pub matching: Match,
}

/// A tag's name, exact or with `*` (any text) and `?` (any character).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TagGlob(String);

impl TagGlob {
    /// As written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a name matches.
    pub fn matches(&self, name: &str) -> bool {
        let (glob, name): (Vec<char>, Vec<char>) = (self.0.chars().collect(), name.chars().collect());
        let (mut g, mut n) = (0, 0);
        // Where the last `*` stands, and the end of what it takes so far.
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            match glob.get(g) {
                Some('*') => {
                    star = Some((g, n));
                    g += 1;
                }
                Some(c) if *c == '?' || *c == name[n] => {
                    g += 1;
                    n += 1;
                }
                _ => {
                    let Some((at, taken)) = star else {
                        return false;
                    };
                    star = Some((at, taken + 1));
                    g = at + 1;
                    n = taken + 1;
                }
            }
        }
        glob[g..].iter().all(|c| *c == '*')
    }
}

/// What holds where a condition says nothing.
pub struct Defaults<'a> {
    /// Name of a format's default catalog.
    pub catalog: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// Zone of times that have none of their own.
    pub zone: &'a Zone,
}

impl Defaults<'_> {
    /// No default catalog, and UTC: for what is in canonical form already.
    pub const NONE: Defaults<'static> = Defaults { catalog: &|_| None, zone: &Zone::UTC };
}

/// Conditions that must hold together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// At least one.
    pub conditions: Vec<Condition>,
}

/// Groups of which one must hold. Checked: every name is unique, no group has an asset twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dependency {
    groups: Vec<Group>,
    specs: Vec<GroupSpec>,
}

/// One thing that is wrong in a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, such as `groups[0].conditions[1].asset_key`.
    pub field: String,
    /// What is wrong and what is expected.
    pub description: String,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Dependency {
    /// Checks what somebody wrote; all that is wrong is answered at once.
    pub fn check(specs: Vec<GroupSpec>, defaults: &Defaults<'_>) -> Result<Self, Vec<Violation>> {
        let mut checker = Checker::default();
        let single = specs.len() == 1;
        if specs.is_empty() {
            checker.report("groups", "at least one group is needed");
        }
        if specs.len() > MAX_GROUPS {
            checker.report("groups", &format!("at most {MAX_GROUPS} groups are allowed"));
        }
        let mut names = BTreeSet::new();
        let mut groups = Vec::new();
        let mut canonical = Vec::new();
        for (index, spec) in specs.into_iter().enumerate().take(MAX_GROUPS) {
            let field = format!("groups[{index}]");
            let name = match spec.name.as_str() {
                "" if single => "default".to_owned(),
                "" => format!("group-{}", index + 1),
                name => name.to_owned(),
            };
            checker.check_name(&format!("{field}.name"), &name);
            if !names.insert(name.clone()) {
                let text = format!("the name `{name}` is used twice");
                checker.report(&format!("{field}.name"), &text);
            }
            let conditions = checker.check_group(&field, &spec.conditions, defaults);
            canonical.push(GroupSpec {
                name: name.clone(),
                conditions: conditions.iter().map(Condition::to_spec).collect(),
            });
            groups.push(Group { name, conditions });
        }
        if checker.violations.is_empty() {
            Ok(Self { groups, specs: canonical })
        } else {
            Err(checker.violations)
        }
    }

    /// Its groups; the first that holds gives the pins.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// All conditions of all groups.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> {
        self.groups.iter().flat_map(|group| &group.conditions)
    }

    /// The assets that it looks at, each once.
    pub fn assets(&self) -> BTreeSet<AssetKey> {
        self.conditions().map(|condition| condition.asset.clone()).collect()
    }

    /// The checked groups in canonical form: equal texts mean equal dependencies.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.specs).unwrap_or_default()
    }
}

impl Condition {
    fn to_spec(&self) -> ConditionSpec {
        ConditionSpec {
            asset_key: self.asset.to_string(),
            alias: (self.name != self.asset.table()).then(|| self.name.clone()),
            snapshot_required: false,
            min_snapshot_id: self.min_snapshot_id,
            since: self.since,
            committed_after: self.committed_after.map(show_moment),
            watermark_gte: self.watermark_gte.map(show_moment),
            max_watermark_lag_seconds: self.max_watermark_lag_seconds,
            quality_status: self.quality_status,
            schema_status: self.schema_status,
            tag: self.tag.as_ref().map(|tag| tag.0.clone()),
            backfill_status: self.backfill_status,
            ignore_backfill: self.ignore_backfill,
            assurance: self.assurance,
            matching: self.matching,
            timezone: None,
        }
    }

    /// Whether it may pin a data version that is not the newest.
    pub fn looks_back(&self) -> bool {
        // Where native ids tell no order, the commit of one is looked for.
        let by_commit = self.min_snapshot_id.is_some() && !matches!(self.asset.format(), "paimon" | "delta");
        self.matching == Match::Newest || self.tag.is_some() || self.ignore_backfill || by_commit
    }
}

#[derive(Default)]
struct Checker {
    violations: Vec<Violation>,
}

impl Checker {
    fn report(&mut self, field: &str, description: &str) {
        self.violations.push(Violation { field: field.to_owned(), description: description.to_owned() });
    }

    fn check_name(&mut self, field: &str, name: &str) {
        if name.chars().count() > MAX_NAME_CHARS {
            self.report(field, &format!("at most {MAX_NAME_CHARS} characters are allowed"));
        }
        if name.chars().any(char::is_control) {
            self.report(field, "control characters are not allowed");
        }
    }

    fn check_tag(&mut self, field: &str, tag: &str) {
        if tag.chars().count() > MAX_TAG_CHARS {
            self.report(field, &format!("at most {MAX_TAG_CHARS} characters are allowed"));
        }
        if tag.chars().any(char::is_control) {
            self.report(field, "control characters are not allowed");
        }
    }

    fn check_group(
        &mut self,
        field: &str,
        specs: &[ConditionSpec],
        defaults: &Defaults<'_>,
    ) -> Vec<Condition> {
        if specs.is_empty() {
            let field = format!("{field}.conditions");
            self.report(&field, "at least one condition is needed");
        }
        if specs.len() > MAX_CONDITIONS {
            let text = format!("at most {MAX_CONDITIONS} conditions are allowed");
            self.report(&format!("{field}.conditions"), &text);
        }
        let mut assets = BTreeSet::new();
        let mut names = BTreeSet::new();
        let mut conditions = Vec::new();
        for (index, spec) in specs.iter().enumerate().take(MAX_CONDITIONS) {
            let field = format!("{field}.conditions[{index}]");
            if let Some(alias) = &spec.alias {
                self.check_name(&format!("{field}.alias"), alias);
            }
            if spec.min_snapshot_id.is_some_and(|id| id < 0) {
                let text = format!(
                    "must be between 0 and {}, is {}",
                    i64::MAX,
                    spec.min_snapshot_id.unwrap_or_default()
                );
                self.report(&format!("{field}.min_snapshot_id"), &text);
            }
            if let Some(seconds) = spec.max_watermark_lag_seconds
                && !(0..=MAX_LAG_SECONDS).contains(&seconds)
            {
                let text = format!("must be between 0 and {MAX_LAG_SECONDS} seconds, is {seconds}");
                self.report(&format!("{field}.max_watermark_lag_seconds"), &text);
            }
            let tag = spec.tag.clone().filter(|tag| !tag.is_empty());
            if let Some(tag) = &tag {
                self.check_tag(&format!("{field}.tag"), tag);
            }
            let (committed_after, watermark_gte) = self.check_times(&field, spec, defaults.zone);
            let asset = match AssetKey::parse(&spec.asset_key, defaults.catalog) {
                Ok(asset) => asset,
                Err(error) => {
                    self.report(&format!("{field}.asset_key"), &format!("`{}`: {error}", spec.asset_key));
                    continue;
                }
            };
            let alias = spec.alias.clone().filter(|alias| !alias.is_empty());
            let name = alias.unwrap_or_else(|| asset.table());
            let asset_twice = !assets.insert(asset.clone());
            let name_twice = !names.insert(name.clone());
            if asset_twice {
                let text = format!("{asset} stands twice in this group");
                self.report(&format!("{field}.asset_key"), &text);
            } else if name_twice {
                let text = format!("the name `{name}` is used twice in this group; set an alias");
                self.report(&format!("{field}.alias"), &text);
            }
            conditions.push(Condition {
                asset,
                name,
                min_snapshot_id: spec.min_snapshot_id,
                since: spec.since,
                committed_after,
                watermark_gte,
                max_watermark_lag_seconds: spec.max_watermark_lag_seconds,
                quality_status: spec.quality_status,
                schema_status: spec.schema_status,
                tag: tag.map(TagGlob),
                backfill_status: spec.backfill_status,
                ignore_backfill: spec.ignore_backfill,
                assurance: spec.assurance,
                matching: spec.matching,
            });
        }
        conditions
    }

    fn check_times(
        &mut self,
        field: &str,
        spec: &ConditionSpec,
        default: &Zone,
    ) -> (Option<Millis>, Option<Millis>) {
        let zone = match spec.timezone.as_deref().filter(|zone| !zone.is_empty()).map(Zone::parse) {
            None => default.clone(),
            Some(Ok(zone)) => zone,
            Some(Err(error)) => {
                self.report(&format!("{field}.timezone"), &error.to_string());
                return (None, None);
            }
        };
        let mut moment = |name: &str, text: &Option<String>| {
            let text = text.as_deref().filter(|text| !text.is_empty())?;
            let read = parse_moment(text, &zone);
            read.map_err(|error| self.report(&format!("{field}.{name}"), &error.to_string())).ok()
        };
        let committed_after = moment("committed_after", &spec.committed_after);
        (committed_after, moment("watermark_gte", &spec.watermark_gte))
    }
}

#[cfg(test)]
mod tests;

use super::*;
use crate::{
    change::Change,
    condition::{ConditionSpec, Since},
    samples::{
        NATIVE, OBSERVED_AT, advance, asset, at, check, committed, gap, group, key, one, orders, rewrite,
        wants, wants_min, wants_newer,
    },
    version::CommitClass,
    words::{Language, sentence},
};

const ORDERS: &str = "paimon://ods/orders";
const USERS: &str = "paimon://ods/users";

fn world(changes: &[Change]) -> World {
    World::from([(orders(), Some(asset(&orders(), changes)))])
}

fn unknown() -> World {
    World::new()
}

fn absent() -> World {
    World::from([(orders(), None)])
}

/// Evaluates for a wait that began in one world and looks at another.
fn evaluated(condition: ConditionSpec, began: &World, now: &World, releasing: Releasing) -> ConditionVerdict {
    let dependency = one(condition);
    let baselines = Baselines::begin(&dependency, lookup(began));
    let mut evaluation = evaluate(&dependency, &baselines, releasing, NOW, lookup(now));
    evaluation.groups.remove(0).conditions.remove(0)
}

/// How a verdict reads: what blocks, code, arguments, and the sentence.
fn told(verdict: &ConditionVerdict) -> String {
    let asset = verdict.asset.as_str();
    match &verdict.verdict {
        Verdict::Ready(pin) => {
            format!("READY: {}", sentence(asset, &verdict.wanted, Ok(pin.snapshot_id), Language::English))
        }
        Verdict::Blocked(reason) => {
            let args: Vec<_> = reason.args().iter().map(|(name, value)| format!("{name}={value}")).collect();
            let label = verdict.blocked_by().unwrap().as_label();
            let text = sentence(asset, &verdict.wanted, Err(reason), Language::English);
            format!("{label} {}[{}]: {text}", reason.code(), args.join(" "))
        }
    }
}

#[test]
fn every_reason_in_words() {
    let two = || world(&[advance(1), advance(2)]);
    let min_and_newer = ConditionSpec { since: Since::Registered, ..wants_min(ORDERS, 1003) };
    for (condition, began, now, expected) in [
        (
            wants(ORDERS),
            unknown(),
            unknown(),
            "unknown_asset UNKNOWN_ASSET[]: paimon://lake/ods/orders: needs a snapshot, has no asset of this key; \
             missing: a catalog of the agent's configuration that has this table",
        ),
        (
            wants_newer(ORDERS),
            absent(),
            absent(),
            "unknown_asset TABLE_ABSENT[]: paimon://lake/ods/orders: needs a snapshot newer than the head when the \
             wait began, has no such table in its catalog; missing: the table and its first snapshot",
        ),
        (
            wants(ORDERS),
            world(&[]),
            world(&[]),
            "snapshot NO_SNAPSHOT[]: paimon://lake/ods/orders: needs a snapshot, has a table without a snapshot; \
             missing: the first snapshot",
        ),
        (
            wants_min(ORDERS, 1005),
            two(),
            two(),
            "snapshot BELOW_MIN_SNAPSHOT[wanted_snapshot_id=1005 found_snapshot_id=1002 behind=3]: \
             paimon://lake/ods/orders: needs snapshot >= 1005, has snapshot 1002; missing: 3 behind",
        ),
        (
            wants_newer(ORDERS),
            two(),
            two(),
            "snapshot NOT_NEWER[found_snapshot_id=1002]: paimon://lake/ods/orders: needs a snapshot newer than 1002, \
             the head when the wait began, has snapshot 1002; missing: a newer snapshot with data",
        ),
        (
            min_and_newer.clone(),
            two(),
            two(),
            "snapshot BELOW_MIN_SNAPSHOT[wanted_snapshot_id=1003 found_snapshot_id=1002 behind=1]: \
             paimon://lake/ods/orders: needs snapshot >= 1003 and newer than 1002, the head when the wait began, \
             has snapshot 1002; missing: 1 behind",
        ),
        (
            wants_newer(ORDERS),
            two(),
            world(&[advance(1), advance(2), rewrite(3)]),
            "snapshot NOT_NEWER[found_snapshot_id=1002 head_snapshot_id=1003]: paimon://lake/ods/orders: needs a \
             snapshot newer than 1002, the head when the wait began, has data snapshot 1002 (newer ones up to 1003 \
             brought no data); missing: a newer snapshot with data",
        ),
        (
            wants(ORDERS),
            two(),
            world(&[advance(1), advance(2), Change::Expired { earliest: 3 }]),
            "snapshot NOT_READABLE[found_snapshot_id=1002]: paimon://lake/ods/orders: needs a snapshot, has snapshot \
             1002, which has expired; missing: a snapshot that can be read",
        ),
        (
            ConditionSpec { committed_after: Some("1970-01-01T00:00:00.021Z".into()), ..wants(ORDERS) },
            two(),
            two(),
            "snapshot COMMITTED_EARLY[found_snapshot_id=1002 wanted_commit_millis=21 found_commit_millis=20]: \
             paimon://lake/ods/orders: needs a snapshot committed at 1970-01-01T00:00:00.021Z or later, has snapshot \
             1002, committed 1970-01-01T00:00:00.02Z; missing: a later commit, this one was 1ms too early",
        ),
        (
            ConditionSpec { watermark_gte: Some("20261130+16h".into()), ..wants_min(ORDERS, 1001) },
            two(),
            // 18 minutes before it.
            world(&[committed(CommitClass::Advance, 1, Some(1_796_054_400_000 - 18 * 60_000)), rewrite(2)]),
            "watermark BELOW_WATERMARK[found_snapshot_id=1001 wanted_watermark=1796054400000 \
             found_watermark=1796053320000]: paimon://lake/ods/orders: needs snapshot >= 1001 and with watermark >= \
             2026-11-30T16:00:00Z, has snapshot 1001 with watermark 2026-11-30T15:42:00Z; missing: 18min behind",
        ),
        (
            ConditionSpec { watermark_gte: Some("0".into()), ..wants(ORDERS) },
            two(),
            two(),
            "watermark BELOW_WATERMARK[found_snapshot_id=1002 wanted_watermark=0]: paimon://lake/ods/orders: needs a \
             snapshot with watermark >= 1970-01-01T00:00:00Z, has snapshot 1002 without a watermark; missing: a first \
             watermark: does the job that writes this table set one?",
        ),
        (
            ConditionSpec {
                watermark_gte: Some("5".into()),
                committed_after: Some("20".into()),
                ..wants(ORDERS)
            },
            two(),
            world(&[committed(CommitClass::Advance, 1, Some(5)), advance(2)]),
            "READY: paimon://lake/ods/orders: needs a snapshot committed at 1970-01-01T00:00:00.02Z or later and with \
             watermark >= 1970-01-01T00:00:00.005Z, has snapshot 1002",
        ),
        (
            wants(ORDERS),
            two(),
            world(&[advance(1), advance(2), Change::Gone]),
            "unknown_asset TABLE_GONE[since_millis=7]: paimon://lake/ods/orders: needs a snapshot, has a table that \
             is gone from its catalog; missing: the table, back in its catalog",
        ),
        (
            wants(ORDERS),
            unknown(),
            two(),
            "READY: paimon://lake/ods/orders: needs a snapshot, has snapshot 1002",
        ),
        (
            min_and_newer,
            two(),
            world(&[advance(1), advance(2), advance(3)]),
            "READY: paimon://lake/ods/orders: needs snapshot >= 1003 and newer than 1002, the head when the wait \
             began, has snapshot 1003",
        ),
    ] {
        assert_eq!(told(&evaluated(condition, &began, &now, Releasing::On)), expected);
    }
}

#[test]
fn every_reason_for_knowing_nothing_in_words() {
    for (unread, expected) in [
        (
            Unread::NoCatalog,
            "unknown_asset UNKNOWN_ASSET[]: paimon://lake/ods/orders: needs a snapshot, has no asset of this key; \
             missing: a catalog of the agent's configuration that has this table",
        ),
        (
            Unread::NotListed,
            "unknown_asset TABLE_NOT_LISTED[]: paimon://lake/ods/orders: needs a snapshot, has no asset of this key; \
             missing: this table in `tables` of its catalog, or `discover: true` there",
        ),
        (
            Unread::PollingOff,
            "unknown_asset POLLING_OFF[]: paimon://lake/ods/orders: needs a snapshot, has a table that was not read \
             yet; missing: an agent that reads tables: its configuration has `paimon-polling.enabled: false`",
        ),
        (
            Unread::NotYet,
            "unknown_asset TABLE_NOT_READ_YET[]: paimon://lake/ods/orders: needs a snapshot, has a table that was \
             not read yet; missing: the table's first read, which is due",
        ),
        (
            Unread::Failing("no permission".to_owned()),
            "unknown_asset TABLE_NEVER_READ[error=no permission]: paimon://lake/ods/orders: needs a snapshot, has a \
             table that can't be read (no permission); missing: a table that can be read",
        ),
    ] {
        let dependency = one(wants(ORDERS));
        let lookup = |_: &AssetKey| Knowledge::Unread(&unread);
        let evaluation = evaluate(&dependency, &Baselines::default(), Releasing::On, NOW, lookup);
        assert_eq!(told(&evaluation.groups[0].conditions[0]), expected);
    }
}

#[test]
fn a_paused_agent_says_what_it_holds_back() {
    let now = world(&[advance(1)]);
    let paused = evaluated(wants(ORDERS), &now, &now, Releasing::Paused);
    assert_eq!(
        told(&paused),
        "paused AGENT_PAUSED[found_snapshot_id=1001]: paimon://lake/ods/orders: needs a snapshot, has snapshot 1001; \
         missing: an agent that releases: its configuration has `enabled: false`"
    );
    // What does not hold anyway keeps its own reason.
    let blocked = evaluated(wants_min(ORDERS, 1002), &now, &now, Releasing::Paused);
    assert_eq!(
        blocked.verdict,
        Verdict::Blocked(Reason::BelowMinSnapshot { wanted: 1002, found: 1001, head: None })
    );
}

/// Native id of the pin, if ready.
fn ready(verdict: &ConditionVerdict) -> Option<i64> {
    match &verdict.verdict {
        Verdict::Ready(pin) => Some(pin.snapshot_id - NATIVE),
        Verdict::Blocked(_) => None,
    }
}

#[test]
fn what_counts_as_newer() {
    let two = || world(&[advance(1), advance(2)]);
    let mut read_first = asset(&orders(), &[advance(1), advance(2)]);
    read_first.first_head = Floor::At(at(2));
    let first_read = |changes: &[Change]| {
        let asset = read_first.clone().apply(changes, 9).asset;
        World::from([(orders(), Some(asset))])
    };
    for (name, began, now, expected) in [
        ("a compaction", two(), world(&[advance(1), advance(2), rewrite(3)]), None),
        ("data", two(), world(&[advance(1), advance(2), rewrite(3), advance(4)]), Some(4)),
        ("a compaction behind a gap", two(), world(&[advance(2), gap(3, 3), rewrite(4)]), Some(4)),
        ("data under a compaction", two(), world(&[advance(2), advance(3), rewrite(4)]), Some(3)),
        (
            "a compaction of what the head carried",
            world(&[advance(1), rewrite(2)]),
            world(&[advance(1), rewrite(2), rewrite(3)]),
            None,
        ),
        ("the first of a table without snapshots", world(&[]), world(&[advance(1)]), Some(1)),
        ("the first of an absent table", absent(), world(&[advance(1)]), Some(1)),
        ("what the first read found", unknown(), first_read(&[]), None),
        ("what came after the first read", unknown(), first_read(&[advance(3)]), Some(3)),
    ] {
        let verdict = evaluated(wants_newer(ORDERS), &began, &now, Releasing::On);
        assert_eq!(ready(&verdict), expected, "{name}");
    }
}

#[test]
fn the_minimum_is_reached_by_data() {
    let now = world(&[advance(1), rewrite(2)]);
    let verdict = |min| ready(&evaluated(wants_min(ORDERS, min), &now, &now, Releasing::On));
    assert_eq!((verdict(1001), verdict(1002)), (Some(1), None));
    assert_eq!(verdict(0), Some(1));
}

#[test]
fn a_pin_is_the_data_version_or_who_carries_it() {
    let changes = |earliest| {
        let advanced = committed(CommitClass::Advance, 2, Some(40));
        let compacted = committed(CommitClass::Rewrite, 3, Some(50));
        world(&[advance(1), advanced, compacted, rewrite(4), Change::Expired { earliest }])
    };
    for (earliest, snapshot_id) in [(1, 1002), (2, 1002), (3, 1004), (4, 1004)] {
        let now = changes(earliest);
        let verdict =
            evaluated(ConditionSpec { alias: Some("o".into()), ..wants(ORDERS) }, &now, &now, Releasing::On);
        let pin = Pin {
            asset: "paimon://lake/ods/orders".into(),
            name: "o".into(),
            snapshot_id,
            position: at(2),
            fingerprint: "f2".into(),
            commit_time: Some(20),
            // Of the compaction: it carries the same data, at a later time.
            watermark: Some(50),
            schema_id: Some(0),
            observed_at: OBSERVED_AT,
            tag: None,
        };
        assert_eq!(verdict.verdict, Verdict::Ready(pin.clone()), "earliest {earliest}");
        // The store keeps pins as JSON.
        let json = serde_json::to_string(&pin).unwrap();
        assert_eq!(serde_json::from_str::<Pin>(&json).unwrap(), pin);
    }
    assert_eq!(ready(&evaluated(wants(ORDERS), &changes(5), &changes(5), Releasing::On)), None);
}

#[test]
fn all_of_a_group_or_another_group() {
    let users = key("paimon://lake/ods/users");
    let now = World::from([
        (orders(), Some(asset(&orders(), &[advance(1), advance(2)]))),
        (users.clone(), Some(asset(&users, &[advance(1)]))),
    ]);
    for (groups, expected) in [
        (vec![vec![wants(ORDERS), wants(USERS)]], Some("orders=1002 users=1001")),
        (vec![vec![wants(USERS), wants(ORDERS)]], Some("users=1001 orders=1002")),
        (vec![vec![wants(ORDERS), wants_min(USERS, 1002)]], None),
        (vec![vec![wants_min(USERS, 1002)], vec![wants(ORDERS)]], Some("orders=1002")),
        (vec![vec![wants(USERS)], vec![wants(ORDERS)]], Some("users=1001")),
        (vec![vec![wants_min(USERS, 1002)], vec![wants_min(ORDERS, 1003)]], None),
    ] {
        let specs = groups.into_iter().map(|conditions| group("", conditions)).collect();
        let dependency = check(specs).unwrap();
        let evaluation = evaluate(&dependency, &Baselines::default(), Releasing::On, NOW, lookup(&now));
        let pins = evaluation.pins().map(|pins| {
            let pins: Vec<_> = pins.iter().map(|pin| format!("{}={}", pin.name, pin.snapshot_id)).collect();
            pins.join(" ")
        });
        assert_eq!(pins.as_deref(), expected, "{}", dependency.to_json());
        // Each condition is told of, whether its group holds or not.
        let told: Vec<_> = evaluation.groups.iter().map(|group| group.conditions.len()).collect();
        let asked: Vec<_> = dependency.groups().iter().map(|group| group.conditions.len()).collect();
        assert_eq!(told, asked);
    }
}

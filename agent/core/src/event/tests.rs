use std::collections::BTreeMap;

use super::*;
use crate::samples::{at, commit, key, orders};

fn evidence(fact: Fact, position: Option<Position>) -> Evidence {
    Evidence { fact, position, observed_at: 1, outcome: Outcome::Applied }
}

fn rolled_back(cause: HistoryBreak, generation: i64) -> Evidence {
    let position = Position { generation, ordinal: 3 };
    evidence(Fact::RolledBack { cause, base: Some(3) }, Some(position))
}

/// Every pair of these is another event.
fn different() -> Vec<(&'static str, Evidence)> {
    let committed = |ordinal, fingerprint: &str| {
        Fact::Committed(Commit { fingerprint: fingerprint.into(), ..commit(ordinal, "APPEND", None) })
    };
    let second = Position { generation: 2, ordinal: 1 };
    vec![
        ("commit", evidence(committed(1, "a"), Some(at(1)))),
        ("commit with another id", evidence(committed(2, "a"), Some(at(2)))),
        ("commit with another fingerprint", evidence(committed(1, "b"), Some(at(1)))),
        ("commit of another generation", evidence(committed(1, "a"), Some(second))),
        ("gap", evidence(Fact::Gap { first: 1 }, Some(at(1)))),
        ("gap to another end", evidence(Fact::Gap { first: 1 }, Some(at(2)))),
        ("gap from another start", evidence(Fact::Gap { first: 2 }, Some(at(2)))),
        ("gap of another generation", evidence(Fact::Gap { first: 1 }, Some(second))),
        ("rewound", rolled_back(HistoryBreak::Rewound { known: 5, found: Some(3) }, 9)),
        ("rewound again", rolled_back(HistoryBreak::Rewound { known: 5, found: Some(3) }, 10)),
        ("rewound further", rolled_back(HistoryBreak::Rewound { known: 5, found: Some(2) }, 9)),
        ("rewound to nothing", rolled_back(HistoryBreak::Rewound { known: 5, found: None }, 9)),
        ("rewound from elsewhere", rolled_back(HistoryBreak::Rewound { known: 6, found: Some(3) }, 9)),
        ("recreated", rolled_back(HistoryBreak::Recreated, 9)),
    ]
}

#[test]
fn dedupe_keys_differ_where_events_do() {
    let mut seen = BTreeMap::new();
    for asset in [orders(), key("paimon://lake/ods/orders2")] {
        for (name, event) in different() {
            let dedupe_key = event.dedupe_key(&asset);
            assert_eq!(dedupe_key.len(), 64, "{name}");
            let twin = seen.insert(dedupe_key, (name, asset.clone()));
            assert_eq!(twin, None, "{name} of {asset}");
        }
    }
}

#[test]
fn dedupe_keys_are_equal_however_an_event_was_learned() {
    for (name, event) in different() {
        let later =
            Evidence { observed_at: 99, outcome: Outcome::Ignored(IgnoredReason::Stale), ..event.clone() };
        assert_eq!(event.dedupe_key(&orders()), later.dedupe_key(&orders()), "{name}");
    }
    // What else a report says of the commit makes no other commit of it.
    let plain = commit(1, "APPEND", None);
    let richer = Commit { watermark: Some(5), delta_record_count: None, ..plain.clone() };
    let key = |commit| evidence(Fact::Committed(commit), Some(at(1))).dedupe_key(&orders());
    assert_eq!(key(plain), key(richer));
}

#[test]
fn names() {
    let names: Vec<_> = different().iter().map(|(_, event)| event.event_type().as_str()).collect();
    assert_eq!((names[0], names[4], names[8]), ("SNAPSHOT_COMMITTED", "GAP_DETECTED", "ROLLED_BACK"));
}

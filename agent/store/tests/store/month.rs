//! A table with a commit every half minute, for a month: its log stays bounded, and what comes late or asks
//! for what is old still finds it.

use asset_core::{
    baseline::Baselines,
    change::{Change, Found, HistoryBreak},
    condition::{ConditionSpec, Defaults, Dependency, GroupSpec, Match},
    evaluate::{Releasing, evaluate},
    facts::Quality,
    key::AssetKey,
    version::{CommitClass, Floor, Position},
};
use asset_store::{Loaded, Retention, Role, SourceBatch, Store};

use crate::{
    File, advance, commit, committed, key,
    reporting::{quality, report},
};

const PAUSE: i64 = 30_000;
const DAY: i64 = 86_400_000;
const COMMITS: i64 = 31 * DAY / PAUSE;

async fn apply_at(store: &Store, changes: Vec<Change>, now: i64) {
    let lock = store.cursor(&key("orders")).await.unwrap().map(|cursor| cursor.lock_version);
    let batch = SourceBatch {
        key: key("orders"),
        read_lock: lock,
        cursor: "c".into(),
        present: true,
        changes,
        observed_at: now,
    };
    committed(store.apply(vec![batch]).await.unwrap().remove(0));
}

/// The snapshot that a condition pins.
async fn pinned(store: &Store, condition: ConditionSpec, now: i64) -> Option<i64> {
    let group = GroupSpec { conditions: vec![condition], ..GroupSpec::default() };
    let dependency = Dependency::check(vec![group], &Defaults::NONE).unwrap();
    let (loaded, _) = store.load_deep(&[key("orders")]).await.unwrap();
    let lookup = |key: &AssetKey| loaded[key].knowledge();
    let evaluation = evaluate(&dependency, &Baselines::default(), Releasing::On, now, lookup);
    Some(evaluation.pins()?[0].snapshot_id)
}

#[tokio::test]
async fn a_busy_table_through_a_month() {
    let file = File::new();
    let store = file.open().await;
    let at = |id: i64| id * PAUSE;
    let orders = || ConditionSpec { asset_key: key("orders").to_string(), ..ConditionSpec::default() };
    let mut most = 0;
    let tagged = 500;
    for from in (1..=COMMITS).step_by(1_000) {
        let last = (from + 999).min(COMMITS);
        let mut changes: Vec<Change> = (from..=last).map(advance).collect();
        if from < tagged && tagged <= last {
            let found = Found { class: CommitClass::Advance, ordinal: tagged, commit: commit(tagged) };
            changes.push(Change::Tagged { name: "month-1".into(), found });
        }
        // Expiry keeps an hour.
        changes.push(Change::Expired { earliest: (last - 120).max(1) });
        apply_at(&store, changes, at(last)).await;
        store.trim(Retention { newest: 1_000, since: at(last) - DAY }).await.unwrap();
        let (loaded, _) = store.load_deep(&[key("orders")]).await.unwrap();
        let Loaded::Known(asset) = &loaded[&key("orders")] else { panic!("unknown") };
        most = most.max(asset.log.entries().count());
    }
    let now = at(COMMITS);
    assert!(most <= 1_001, "{most} lines are loaded to look back");
    assert!(lines(&file).await <= DAY / PAUSE + 1_001, "a day is kept, and one batch");

    // A verdict of 20 hours ago still binds: its snapshot has expired, so nobody is pinned to it.
    let late = COMMITS - 20 * 3_600_000 / PAUSE;
    let told = report(&store, "orders", Role::Read, vec![quality("late", late, Quality::Passed, now)]).await;
    assert!(format!("{told:?}").contains("Applied"), "{told:?}");
    let newest = ConditionSpec { quality_status: Some(Quality::Passed), matching: Match::Newest, ..orders() };
    assert_eq!(pinned(&store, newest.clone(), now).await, None);
    let recent = COMMITS - 100;
    report(&store, "orders", Role::Read, vec![quality("recent", recent, Quality::Passed, now)]).await;
    assert_eq!(pinned(&store, newest, now).await, Some(recent));
    // The tag of the first day selects what it names.
    let monthly = ConditionSpec { tag: Some("month-*".into()), ..orders() };
    assert_eq!(pinned(&store, monthly, now).await, Some(tagged));

    // A rollback by 1,500 snapshots, beyond all that can be read: whoever had seen the head has seen it all.
    let seen = Floor::At(Position { generation: 1, ordinal: COMMITS });
    let commits = (COMMITS - 1_600..=COMMITS - 1_500).map(|ordinal| Found {
        class: CommitClass::Advance,
        ordinal,
        commit: commit(ordinal),
    });
    let cause = HistoryBreak::Rewound { known: COMMITS, found: Some(COMMITS - 1_500) };
    apply_at(&store, vec![Change::NewHistory { cause, commits: commits.collect() }], now).await;
    let (loaded, _) = store.load(&[key("orders")]).await.unwrap();
    let Loaded::Known(asset) = &loaded[&key("orders")] else { panic!("unknown") };
    let head = asset.latest_data().unwrap().0;
    assert_eq!((head.generation, head.ordinal), (2, COMMITS - 1_500));
    assert!(!asset.log.carry(seen).is_below(head), "nobody is started");
}

/// Lines of the log in the file.
async fn lines(file: &File) -> i64 {
    use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};
    let url: SqliteConnectOptions = file.url().parse().unwrap();
    let mut connection = url.connect().await.unwrap();
    sqlx::query_scalar("SELECT count(*) FROM t_ds_asset_version").fetch_one(&mut connection).await.unwrap()
}

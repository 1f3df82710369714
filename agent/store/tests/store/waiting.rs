//! Waits with identity: registered once, decided once, repeated until acknowledged.

use asset_core::{
    baseline::Baseline,
    change::{Change, Found, HistoryBreak},
    condition::Dependency,
    evaluate::{Pin, Releasing, evaluate},
    version::{Commit, CommitClass, Floor, Position},
};
use asset_store::{Decision, DecisionOutcome, Identity, Loaded, Registration, Store, StoredWait, WaitStatus};

use crate::{File, advance, apply, commit, key, newer, reached};

pub fn registration(number: i64, dependency: Dependency) -> Registration {
    Registration {
        identity: Identity {
            scheduler: "default".into(),
            project_code: 1,
            workflow_definition_code: 2,
            task_definition_code: 3,
            workflow_instance_id: number,
            task_name: "wait".into(),
        },
        wait_id: None,
        new_wait_id: format!("w-{number}"),
        dependency,
        deadline: None,
        now: number,
    }
}

pub async fn register(store: &Store, registration: Registration) -> StoredWait {
    store.register(vec![registration]).await.unwrap().remove(0)
}

/// What an evaluation of the wait would write as of now.
pub async fn verdict(store: &Store, wait: &StoredWait) -> Decision {
    let keys: Vec<_> = wait.dependency.assets().into_iter().collect();
    let (loaded, revision) = store.load(&keys).await.unwrap();
    let locks = keys.iter().map(|key| match &loaded[key] {
        Loaded::Known(asset) => (key.clone(), Some(asset.lock_version)),
        _ => (key.clone(), None),
    });
    let evaluation =
        evaluate(&wait.dependency, &wait.baselines, Releasing::On, 1, |key| loaded[key].knowledge());
    Decision {
        wait_id: wait.wait_id.clone(),
        wait_lock: wait.lock_version,
        asset_locks: locks.collect(),
        ready: evaluation.pins(),
        revision,
        at: 99,
    }
}

pub async fn decide(store: &Store, decision: Decision) -> DecisionOutcome {
    store.decide(vec![decision]).await.unwrap().remove(0)
}

pub async fn stored(store: &Store, id: &str) -> StoredWait {
    store.waits(&[id.to_owned()]).await.unwrap().remove(0)
}

async fn marks(store: &Store) -> Vec<String> {
    store.marked(i64::MAX, 100).await.unwrap()
}

fn pins(wait: &StoredWait) -> Vec<(i64, Position)> {
    match &wait.status {
        WaitStatus::Open => Vec::new(),
        WaitStatus::Ready { pins, .. } => {
            pins.iter().map(|pin: &Pin| (pin.snapshot_id, pin.position)).collect()
        }
    }
}

#[tokio::test]
async fn a_change_marks_the_open_waits_of_its_asset_and_a_verdict_takes_the_mark_away() {
    let file = File::new();
    let store = file.open().await;
    apply(&store, "orders", vec![advance(1)]).await;
    let wait = register(&store, registration(1, reached(&["orders"], 3))).await;
    register(&store, registration(2, reached(&["customers"], 3))).await;
    assert!(marks(&store).await.is_empty(), "who registers is evaluated by its caller");

    apply(&store, "orders", vec![advance(2)]).await;
    assert_eq!(marks(&store).await, ["w-1"]);
    let blocked = verdict(&store, &wait).await;
    assert!(blocked.ready.is_none());
    // A change after the evaluation leaves a newer mark, which stays.
    apply(&store, "orders", vec![advance(3)]).await;
    assert_eq!(decide(&store, blocked).await, DecisionOutcome::Stale);
    assert_eq!(marks(&store).await, ["w-1"]);

    let ready = verdict(&store, &wait).await;
    assert_eq!(decide(&store, ready).await, DecisionOutcome::Written);
    assert!(marks(&store).await.is_empty());
    // Nobody is marked who has been released.
    apply(&store, "orders", vec![advance(4)]).await;
    assert!(marks(&store).await.is_empty());
    assert_eq!(store.open_waits().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_ready_is_written_once_and_keeps_its_pins() {
    let file = File::new();
    let store = file.open().await;
    let wait = register(&store, registration(1, reached(&["orders"], 1))).await;
    apply(&store, "orders", vec![advance(1)]).await;
    let first = verdict(&store, &wait).await;
    assert_eq!(decide(&store, first.clone()).await, DecisionOutcome::Written);
    assert_eq!(decide(&store, first).await, DecisionOutcome::Stale, "an answer that was lost");
    apply(&store, "orders", vec![advance(2)]).await;
    assert_eq!(decide(&store, verdict(&store, &wait).await).await, DecisionOutcome::Stale);

    let pinned = vec![(1, Position { generation: 1, ordinal: 1 })];
    assert_eq!(pins(&stored(&store, "w-1").await), pinned);
    drop(store);
    let store = file.open().await;
    // By its id, or by who it is while nobody acknowledged it.
    for wait_id in [Some("w-1".to_owned()), None] {
        let again =
            Registration { wait_id, new_wait_id: "new".into(), ..registration(1, reached(&["orders"], 1)) };
        let again = register(&store, again).await;
        assert_eq!((again.wait_id.as_str(), pins(&again)), ("w-1", pinned.clone()));
    }
}

#[tokio::test]
async fn two_decisions_on_one_wait_in_one_group() {
    let file = File::new();
    let store = file.open().await;
    let wait = register(&store, registration(1, reached(&["orders"], 1))).await;
    apply(&store, "orders", vec![advance(1)]).await;
    let decision = verdict(&store, &wait).await;
    let outcomes = store.decide(vec![decision.clone(), decision]).await.unwrap();
    assert_eq!(outcomes, [DecisionOutcome::Written, DecisionOutcome::Stale]);
}

#[tokio::test]
async fn acknowledging() {
    let file = File::new();
    let store = file.open().await;
    let dependency = || reached(&["orders"], 1);
    let wait = register(&store, registration(1, dependency())).await;
    let ids = ["w-1".to_owned(), "nobody".to_owned()];
    assert_eq!(store.acknowledge(&ids, 5).await.unwrap(), [Some(false), None]);
    apply(&store, "orders", vec![advance(1)]).await;
    decide(&store, verdict(&store, &wait).await).await;
    for _ in 0..2 {
        assert_eq!(store.acknowledge(&ids, 5).await.unwrap(), [Some(true), None]);
    }
    // Whoever has its id is told the same; without it, a person runs the instance again.
    let by_id = Registration { wait_id: Some("w-1".into()), ..registration(1, dependency()) };
    assert_eq!(pins(&register(&store, by_id).await).len(), 1);
    let fresh = Registration { new_wait_id: "w-2".into(), ..registration(1, dependency()) };
    let fresh = register(&store, fresh).await;
    assert_eq!((fresh.wait_id.as_str(), fresh.status), ("w-2", WaitStatus::Open));
}

#[tokio::test]
async fn identity_and_conditions_make_a_wait() {
    let file = File::new();
    let store = file.open().await;
    register(&store, registration(1, reached(&["orders"], 1))).await;
    let joined = Registration { new_wait_id: "other".into(), ..registration(1, reached(&["orders"], 1)) };
    assert_eq!(register(&store, joined).await.wait_id, "w-1");
    for (number, dependency, name) in
        [(2, reached(&["orders"], 1), "w-2"), (1, reached(&["orders"], 2), "w-3")]
    {
        // Somebody else's id is of no use.
        let stranger = Registration {
            wait_id: Some("w-1".into()),
            new_wait_id: name.into(),
            ..registration(number, dependency)
        };
        assert_eq!(register(&store, stranger).await.wait_id, name);
    }
    let open: Vec<String> = store.open_waits().await.unwrap().into_iter().map(|wait| wait.wait_id).collect();
    assert_eq!(open, ["w-1", "w-2", "w-3"]);
}

#[tokio::test]
async fn a_pin_that_can_not_be_read_any_more_opens_its_wait_again() {
    let file = File::new();
    let store = file.open().await;
    let wait = register(&store, registration(1, reached(&["orders"], 1))).await;
    apply(&store, "orders", vec![advance(1)]).await;
    decide(&store, verdict(&store, &wait).await).await;
    let gone = Change::Expired { earliest: 2 };
    apply(&store, "orders", vec![advance(2), gone]).await;

    let again = register(&store, registration(1, reached(&["orders"], 1))).await;
    assert_eq!((again.wait_id.as_str(), &again.status), ("w-1", &WaitStatus::Open));
    // It looks at its assets again.
    apply(&store, "orders", vec![advance(3)]).await;
    assert_eq!(marks(&store).await, ["w-1"]);
    assert_eq!(decide(&store, verdict(&store, &again).await).await, DecisionOutcome::Written);
    assert_eq!(pins(&stored(&store, "w-1").await)[0].0, 3);
}

/// What a table holds after a rollback to so many commits, with other ones behind them.
fn rolled_back(to: i64, others: &[i64]) -> Change {
    let same = (1..=to).map(commit);
    let others = others.iter().map(|id| Commit { fingerprint: format!("x{id}"), ..commit(*id) });
    let commits = same.chain(others).map(|commit| Found {
        class: CommitClass::Advance,
        ordinal: commit.snapshot_id,
        commit,
    });
    Change::NewHistory {
        cause: HistoryBreak::Rewound { known: 3, found: Some(to) },
        commits: commits.collect(),
    }
}

#[tokio::test]
async fn a_ready_that_nobody_acknowledged_outlives_a_rollback_exactly_if_its_pin_does() {
    for (change, stays) in [
        (rolled_back(2, &[3]), true),
        (rolled_back(1, &[2, 3]), false),
        (rolled_back(1, &[]), false),
        (Change::Gone, false),
    ] {
        let file = File::new();
        let store = file.open().await;
        let wait = register(&store, registration(1, reached(&["orders"], 2))).await;
        apply(&store, "orders", vec![advance(1), advance(2)]).await;
        decide(&store, verdict(&store, &wait).await).await;
        apply(&store, "orders", vec![advance(3)]).await;
        apply(&store, "orders", vec![change.clone()]).await;
        let again = register(&store, registration(1, reached(&["orders"], 2))).await;
        let pinned: Vec<i64> = pins(&again).into_iter().map(|(id, _)| id).collect();
        assert_eq!(pinned, if stays { vec![2] } else { vec![] }, "{change:?}");
    }
}

#[tokio::test]
async fn a_rollback_is_no_news_and_what_comes_after_it_is() {
    let file = File::new();
    let store = file.open().await;
    apply(&store, "orders", vec![advance(1), advance(2), advance(3)]).await;
    let wait = register(&store, registration(1, newer("orders"))).await;
    for quiet in [rolled_back(1, &[]), rolled_back(3, &[]), rolled_back(2, &[])] {
        apply(&store, "orders", vec![quiet]).await;
        assert_eq!(verdict(&store, &wait).await.ready, None);
    }
    // The id was used before, by a commit that the wait had seen.
    let other = Commit { fingerprint: "x3".into(), ..commit(3) };
    apply(
        &store,
        "orders",
        vec![Change::Committed { class: CommitClass::Advance, ordinal: 3, commit: other }],
    )
    .await;
    let ready = verdict(&store, &wait).await.ready.unwrap();
    assert_eq!(ready[0].position, Position { generation: 4, ordinal: 3 });
    assert_eq!(ready[0].fingerprint, "x3");
}

#[tokio::test]
async fn baselines_are_taken_when_a_wait_is_first_registered_and_kept() {
    let file = File::new();
    let store = file.open().await;
    let unread = register(&store, registration(1, newer("orders"))).await;
    assert_eq!(unread.baselines.of(&key("orders")), Baseline::FirstRead);
    apply(&store, "orders", vec![advance(1)]).await;
    let head = Baseline::Above(Floor::At(Position { generation: 1, ordinal: 1 }));
    assert_eq!(register(&store, registration(2, newer("orders"))).await.baselines.of(&key("orders")), head);
    apply(&store, "orders", vec![advance(2)]).await;
    assert_eq!(register(&store, registration(2, newer("orders"))).await.baselines.of(&key("orders")), head);
    assert_eq!(stored(&store, "w-1").await.baselines.of(&key("orders")), Baseline::FirstRead);
}

#[tokio::test]
async fn thousands_of_waits_in_one_group() {
    const WAITS: i64 = 3_000;
    let file = File::new();
    let store = file.open().await;
    let registrations = (1..=WAITS).map(|number| registration(number, reached(&["orders"], 1)));
    let waits = store.register(registrations.collect()).await.unwrap();
    apply(&store, "orders", vec![advance(1)]).await;
    assert_eq!(store.marked(i64::MAX, usize::MAX).await.unwrap().len(), WAITS as usize);
    let first = verdict(&store, &waits[0]).await;
    let decisions = waits.iter().map(|wait| Decision {
        wait_id: wait.wait_id.clone(),
        wait_lock: wait.lock_version,
        ..first.clone()
    });
    let outcomes = store.decide(decisions.collect()).await.unwrap();
    assert!(outcomes.iter().all(|outcome| *outcome == DecisionOutcome::Written));
    assert!(marks(&store).await.is_empty() && store.open_waits().await.unwrap().is_empty());
    let ids: Vec<String> = waits.into_iter().map(|wait| wait.wait_id).collect();
    assert!(store.acknowledge(&ids, 1).await.unwrap().iter().all(|known| *known == Some(true)));
}

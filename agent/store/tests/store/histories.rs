//! Whatever way a history comes in, the store ends with what the fold over all of it says.

use asset_core::{
    asset::Asset,
    change::{Change, Found, HistoryBreak},
    version::{CommitClass, Version},
};
use asset_store::Loaded;
use proptest::{collection::vec, prelude::*};

use crate::{File, apply, commit, key};

#[derive(Debug, Clone)]
enum Step {
    Commit(CommitClass, i64),
    Gap(i64, i64),
    Expired(i64),
    /// A commit of this ordinal from a history before, as what follows on the head.
    ComesBack(i64),
    /// Back to this ordinal at most, then so many other commits.
    RolledBack(i64, i64),
    Recreated(i64),
    Gone,
}

fn step() -> impl Strategy<Value = Step> {
    let ordinal = 1..30_i64;
    prop_oneof![
        4 => ordinal.clone().prop_map(|id| Step::Commit(CommitClass::Advance, id)),
        3 => ordinal.clone().prop_map(|id| Step::Commit(CommitClass::Rewrite, id)),
        1 => (ordinal.clone(), 0..4_i64).prop_map(|(first, more)| Step::Gap(first, first + more)),
        1 => ordinal.clone().prop_map(Step::Expired),
        2 => ordinal.clone().prop_map(Step::ComesBack),
        2 => (ordinal, 0..3_i64).prop_map(|(to, more)| Step::RolledBack(to, more)),
        1 => (0..3_i64).prop_map(Step::Recreated),
        1 => Just(Step::Gone),
    ]
}

/// A commit of a history that is the so-manieth of its table: no other one has its fingerprint.
fn found(class: CommitClass, ordinal: i64, history: i64) -> Found {
    let mut commit = commit(ordinal);
    commit.fingerprint = format!("f{ordinal}.{history}");
    Found { class, ordinal, commit }
}

/// The step as a source would tell it of a table that stands so.
fn change(step: &Step, asset: &Asset) -> Change {
    let history = asset.generation();
    let news = |from: i64, count: i64| {
        (from..from + count).map(move |ordinal| found(CommitClass::Advance, ordinal, history + 1))
    };
    match *step {
        Step::Commit(class, ordinal) => {
            let Found { class, ordinal, commit } = found(class, ordinal, history);
            Change::Committed { class, ordinal, commit }
        }
        Step::ComesBack(ordinal) => {
            let before = asset.log.versions().rev().find(|(at, _)| at.ordinal == ordinal);
            match before {
                Some((_, Version { class, commit, .. })) => {
                    Change::Committed { class: *class, ordinal, commit: commit.clone() }
                }
                None => Change::Back,
            }
        }
        Step::Gap(first, last) => Change::Gap { first, last },
        Step::Expired(earliest) => Change::Expired { earliest },
        Step::RolledBack(to, more) => {
            let stands = asset
                .log
                .versions()
                .filter(|(at, version)| at.generation == history && at.ordinal <= to && version.readable);
            let mut commits: Vec<Found> = stands
                .map(|(at, version)| Found {
                    class: version.class,
                    ordinal: at.ordinal,
                    commit: version.commit.clone(),
                })
                .collect();
            let next = commits.last().map_or(1, |last| last.ordinal + 1);
            commits.extend(news(next, more));
            let cause =
                HistoryBreak::Rewound { known: to + 1, found: commits.last().map(|last| last.ordinal) };
            Change::NewHistory { cause, commits }
        }
        Step::Recreated(count) => {
            Change::NewHistory { cause: HistoryBreak::Recreated, commits: news(1, count).collect() }
        }
        Step::Gone => Change::Gone,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Batches of any size, in any order of ordinals, with the store opened anew in between.
    #[test]
    fn the_stored_log_is_the_fold_of_all_changes(
        batches in vec((vec(step(), 0..6), any::<bool>()), 1..8),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let file = File::new();
            let mut store = file.open().await;
            let mut expected = Asset::new(key("orders"));
            for (steps, reopen) in batches {
                let mut changes = Vec::new();
                let mut newest_back = 0;
                for step in &steps {
                    // What a source tells at one time is in the order of the history.
                    let step = match step {
                        Step::ComesBack(ordinal) if *ordinal <= newest_back => &Step::Gone,
                        step => step,
                    };
                    if let Step::ComesBack(ordinal) = step {
                        newest_back = *ordinal;
                    }
                    let change = change(step, &expected);
                    expected = expected.apply(std::slice::from_ref(&change), 7).asset;
                    changes.push(change);
                }
                apply(&store, "orders", changes).await;
                if reopen {
                    store.close().await;
                    drop(store);
                    store = file.open().await;
                }
            }
            let (loaded, _) = store.load(&[key("orders")]).await.unwrap();
            let Loaded::Known(stored) = &loaded[&key("orders")] else { panic!("{loaded:?}") };
            let mut log = expected.log.clone();
            log.keep_from_latest_data();
            prop_assert_eq!(&stored.log, &log);
            prop_assert_eq!(stored.gone_since, expected.gone_since);
            Ok(())
        })?;
    }
}

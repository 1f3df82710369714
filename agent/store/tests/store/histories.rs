//! Whatever way a history comes in, the store ends with what the fold over all of it says.

use asset_core::{asset::Asset, change::Change};
use asset_store::Loaded;
use proptest::{collection::vec, prelude::*};

use crate::{File, advance, apply, key, rewrite};

#[derive(Debug, Clone)]
enum Step {
    Advance(i64),
    Rewrite(i64),
    Gap(i64, i64),
    Expired(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let ordinal = 1..30_i64;
    prop_oneof![
        4 => ordinal.clone().prop_map(Step::Advance),
        3 => ordinal.clone().prop_map(Step::Rewrite),
        1 => (ordinal.clone(), 0..4_i64).prop_map(|(first, more)| Step::Gap(first, first + more)),
        1 => ordinal.prop_map(Step::Expired),
    ]
}

fn change(step: &Step) -> Change {
    match *step {
        Step::Advance(id) => advance(id),
        Step::Rewrite(id) => rewrite(id),
        Step::Gap(first, last) => Change::Gap { first, last },
        Step::Expired(earliest) => Change::Expired { earliest },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

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
                let changes: Vec<Change> = steps.iter().map(change).collect();
                expected = expected.apply(&changes, 7).asset;
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
            Ok(())
        })?;
    }
}

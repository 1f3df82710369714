//! Any history of one branch, polled at any moments and in any batches, comes out whole.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::paimon::manifest_list::container;

#[derive(Debug, Clone)]
enum Step {
    Append,
    Compact,
    /// An append without data, or with +1 −1.
    Zero {
        empty: bool,
    },
    /// Keeps so many.
    Expire {
        keep: usize,
    },
    /// The next file, half-written; the step after it writes it whole.
    Half,
    Poll(Depth),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Append),
        2 => Just(Step::Compact),
        1 => any::<bool>().prop_map(|empty| Step::Zero { empty }),
        2 => (1_usize..6).prop_map(|keep| Step::Expire { keep }),
        1 => Just(Step::Half),
        3 => Just(Step::Poll(Depth::Fast)),
        2 => Just(Step::Poll(Depth::Strict)),
    ]
}

/// What was written, and what came out of it.
struct Run {
    lake: Lake,
    follower: Follower,
    /// Whether each commit brought data, by id from 1.
    written: Vec<CommitClass>,
    kept_from: i64,
    /// First ordinal that had to come out: all before the first read is history.
    first: Option<i64>,
    /// The last ordinal that came out, as a commit or in a gap.
    last: i64,
    expired: i64,
}

impl Run {
    fn commit(&mut self, class: CommitClass, mut fields: Value) {
        self.written.push(class);
        let id = self.written.len() as i64;
        fields["uuid"] = json!(format!("u{id}"));
        self.lake.snapshot(id, fields);
    }

    async fn poll(&mut self, depth: Depth) -> Result<bool, TestCaseError> {
        let first_read = self.follower.cursor.is_none();
        let poll = match self.follower.poll(&self.lake, depth).await {
            Err(error) => {
                prop_assert_eq!(error.kind(), "malformed");
                return Ok(false);
            }
            Ok(poll) => poll,
        };
        let Poll::Changed { changes, more, .. } = poll else {
            prop_assert_eq!(poll, Poll::Unchanged);
            return Ok(false);
        };
        if first_read {
            self.last = self.kept_from - 1;
            self.first = Some(self.kept_from);
        }
        for change in &changes {
            match change {
                Change::Committed { class, ordinal, commit } => {
                    prop_assert_eq!(*ordinal, self.last + 1, "in order, none twice, none left out");
                    prop_assert_eq!(*class, self.written[*ordinal as usize - 1]);
                    prop_assert_eq!(&commit.fingerprint, &format!("u{ordinal}"));
                    self.last = *ordinal;
                }
                Change::Gap { first, last } => {
                    prop_assert_eq!(*first, self.last + 1);
                    prop_assert!(first <= last && *last < self.kept_from, "only what expired is missing");
                    self.last = *last;
                }
                Change::Expired { earliest } => {
                    prop_assert_eq!(*earliest, self.kept_from);
                    prop_assert!(*earliest > self.expired, "told once");
                    self.expired = *earliest;
                }
                Change::Schema { id } => prop_assert!(first_read && *id == 0, "told once: {id}"),
                Change::NewHistory { .. }
                | Change::Tagged { .. }
                | Change::Untagged { .. }
                | Change::Gone
                | Change::Back => {
                    prop_assert!(false, "no break: {:?}", change)
                }
            }
        }
        Ok(more)
    }
}

async fn run(steps: Vec<Step>, batch_size: usize) -> Result<(), TestCaseError> {
    let lake = Lake::new(batch_size);
    lake.create("first");
    lake.write("manifest/empty", container(&[]));
    lake.write("manifest/full", container(&[2]));
    let mut run = Run {
        lake,
        follower: Follower::default(),
        written: vec![],
        kept_from: 1,
        first: None,
        last: 0,
        expired: 0,
    };
    for step in steps {
        match step {
            Step::Append => {
                run.commit(CommitClass::Advance, json!({"commitKind": "APPEND", "deltaRecordCount": 2}))
            }
            Step::Compact => {
                run.commit(CommitClass::Rewrite, json!({"commitKind": "COMPACT", "deltaRecordCount": 0}))
            }
            Step::Zero { empty } => {
                let (class, list) = match empty {
                    true => (CommitClass::Rewrite, "empty"),
                    false => (CommitClass::Advance, "full"),
                };
                let fields =
                    json!({"commitKind": "APPEND", "deltaRecordCount": 0, "deltaManifestList": list});
                run.commit(class, fields);
            }
            Step::Expire { keep } => {
                let newest = run.written.len() as i64;
                let from = (newest - keep as i64 + 1).max(run.kept_from);
                run.lake.remove(run.kept_from..from);
                run.kept_from = from;
            }
            Step::Half => {
                let next = run.written.len() + 1;
                run.lake.write(&format!("snapshot/snapshot-{next}"), "{\"id\":");
                run.poll(Depth::Fast).await?;
                run.commit(CommitClass::Advance, json!({"commitKind": "APPEND", "deltaRecordCount": 2}));
            }
            Step::Poll(depth) => {
                run.poll(depth).await?;
            }
        }
    }
    while run.poll(Depth::Strict).await? {}
    prop_assert_eq!(run.last, run.written.len() as i64, "the newest comes out");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]
    #[test]
    fn any_history_comes_out_whole(steps in prop::collection::vec(step(), 0..40), batch_size in 1_usize..5) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run(steps, batch_size))?;
    }
}

#[test]
fn a_cursor_may_be_polled_again() {
    // The same request gives the same answer: a batch that was thrown away is read again.
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let lake = Lake::with(1..=3);
        let follower = Follower::at_head(&lake).await;
        lake.append(4..=5, "a");
        let answers: BTreeSet<String> = [
            follower.clone().strict(&lake).await,
            follower.clone().fast(&lake).await,
            follower.clone().strict(&lake).await,
        ]
        .into();
        assert_eq!(answers, ["+4 +5".to_owned()].into());
    });
}

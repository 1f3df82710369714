//! A wait on a table of which nothing is known says why, and says it anew when that changes.

use crate::{
    WaitStream,
    testing::{Lake, Rig, pinned, reached, verdict},
};
use asset_core::evaluate::Verdict;

/// Code of the only condition's reason.
async fn code(wait: &mut WaitStream) -> &'static str {
    let update = verdict(wait).await;
    match &update.evaluation.groups[0].conditions[0].verdict {
        Verdict::Blocked(reason) => reason.code(),
        Verdict::Ready(_) => "READY",
    }
}

#[tokio::test]
async fn a_table_that_nobody_reads() {
    let lake = Lake::new();
    let rig = Rig::start_with(&lake, lake.catalogs(&["orders"], 500), |_| {}).await;
    assert_eq!(code(&mut rig.anonymous(reached("orders", 1)).await).await, "POLLING_OFF");
    assert_eq!(code(&mut rig.anonymous(reached("customers", 1)).await).await, "TABLE_NOT_LISTED");
    rig.stop().await;

    let none = std::sync::Arc::new(crate::Catalogs::new(Vec::new()));
    let rig = Rig::start_with(&lake, none, |config| config.polling = true).await;
    assert_eq!(code(&mut rig.anonymous(reached("orders", 1)).await).await, "UNKNOWN_ASSET");
    let evaluated = rig.engine.evaluate(&reached("orders", 1)).await.unwrap();
    let Verdict::Blocked(reason) = &evaluated.evaluation.groups[0].conditions[0].verdict else {
        panic!("nothing is known of it");
    };
    assert_eq!(reason.code(), "UNKNOWN_ASSET");
    rig.stop().await;
}

#[tokio::test]
async fn a_table_that_can_not_be_read_until_it_can() {
    let lake = Lake::new();
    lake.create("orders");
    lake.tear("orders", 1);
    let rig = Rig::start_with(&lake, lake.catalogs(&["orders"], 500), |config| {
        config.polling = true;
        config.poll.interval = std::time::Duration::from_millis(50);
    })
    .await;
    // A wait with identity outlives the first answers, as one does that was open when an agent left.
    let mut wait = rig.identified(1, reached("orders", 1)).await;
    let mut codes = vec![code(&mut wait).await];
    while codes.last() != Some(&"TABLE_NEVER_READ") {
        codes.push(code(&mut wait).await);
    }
    assert!(codes[..codes.len() - 1].iter().all(|code| *code == "TABLE_NOT_READ_YET"), "{codes:?}");

    lake.append("orders", [1]);
    loop {
        let update = verdict(&mut wait).await;
        if let Some(id) = pinned(&update) {
            assert_eq!(id, 1);
            break;
        }
    }
    rig.stop().await;
}

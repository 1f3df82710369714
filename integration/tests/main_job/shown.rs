//! What a person sees without waiting for anything: `watch`, `assets list`, `assets state`.

use asset_integration::deadline;
use asset_integration::scene::SOON;
use asset_integration::writer::NewTable;
use serde_json::Value;

use crate::{KEY, TABLE, newest, with_empty_table};

#[tokio::test]
async fn watch_and_assets_show_what_pypaimon_reports() {
    let (scene, writer) = with_empty_table().await;
    writer.create_table(NewTable::append_only("dwd.users")).await.unwrap();
    writer.append("dwd.users", 1).await.unwrap();
    scene.latest_is("paimon://lake/dwd/users", 1).await.unwrap();

    let mut orders = scene.sensor(&["--output", "json", "watch", "paimon://lake/ods/*"]).unwrap();
    let mut all = scene.sensor(&["watch"]).unwrap();
    orders.prints(KEY, SOON).await.unwrap();
    all.prints("paimon://lake/dwd/users snapshot 1 data 1", SOON).await.unwrap();
    all.prints(&format!("{KEY} no snapshot"), SOON).await.unwrap();
    for _ in 0..3 {
        writer.append(TABLE, 1).await.unwrap();
    }
    let reported = newest(&writer, TABLE).await;
    all.prints(&format!("{KEY} snapshot {0} data {0}", reported.id), SOON).await.unwrap();
    let last = deadline::until("the last state is shown", SOON, async || {
        let last: Value = serde_json::from_str(orders.printed().lines().last()?).ok()?;
        (last["latest"]["snapshotId"] == reported.id).then_some(last)
    });
    let last = last.await.unwrap();
    assert_eq!(last["latestData"]["fingerprint"], reported.uuid.unwrap());
    assert!(!orders.printed().contains("dwd"), "it was not asked for: {}", orders.printed());
    for watch in [orders, all] {
        watch.interrupt().unwrap();
        let ended = watch.ended(SOON).await.unwrap();
        assert_eq!((ended.code, ended.stderr.as_str()), (130, ""), "{ended:?}");
    }

    let list = scene.sensor(&["assets", "list"]).unwrap().ended(SOON).await.unwrap();
    assert_eq!(list.code, 0, "{list:?}");
    let rows: Vec<Vec<_>> = list.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["KEY", "SNAPSHOT", "DATA", "WATERMARK", "UPDATED", "HOLD"]);
    assert_eq!(rows[1][..4], ["paimon://lake/dwd/users", "1", "1", "-"]);
    assert_eq!(rows[2][..4], [KEY, "3", "3", "-"]);
    assert_eq!(rows.len(), 3);

    let state = scene.sensor(&["assets", "state", "paimon://ods/orders"]).unwrap().ended(SOON).await.unwrap();
    assert_eq!(state.code, 0, "{state:?}");
    let location = scene.warehouse.join("ods.db/orders");
    for part in [
        format!("asset          {KEY}\n"),
        "snapshot       3 APPEND committed ".to_owned(),
        "watermark      none\n".to_owned(),
        format!("source         lake at {}\n", location.display()),
    ] {
        assert!(state.stdout.contains(&part), "{part} in {}", state.stdout);
    }
    assert!(!state.stdout.contains("read fails"), "{}", state.stdout);
}

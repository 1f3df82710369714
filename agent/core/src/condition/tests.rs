use proptest::{collection::vec, option, prelude::*};

use super::*;
use crate::samples::{check, group, orders, wants, wants_min, wants_newer};

fn named(alias: &str, asset_key: &str) -> ConditionSpec {
    ConditionSpec { alias: Some(alias.to_owned()), ..wants(asset_key) }
}

fn violations(groups: Vec<GroupSpec>) -> Vec<(String, String)> {
    check(groups).unwrap_err().into_iter().map(|v| (v.field, v.description)).collect()
}

#[test]
fn all_that_is_wrong_is_named_at_once() {
    let long = "n".repeat(MAX_NAME_CHARS + 1);
    let found = violations(vec![
        group(
            "",
            vec![wants("paimon://ods/orders"), wants("paimon://lake/ods/orders"), wants_min("orders", -1)],
        ),
        group(&long, vec![]),
        group(
            "a\nb",
            vec![named("x", "paimon://a/b"), named("x", "paimon://a/c"), named("\u{7}", "paimon://a/d")],
        ),
        group("a\nb", vec![named(&long, "paimon://a/b"), named("", "paimon://z/b")]),
    ]);
    let expected = [
        ("groups[0].conditions[1].asset_key", "paimon://lake/ods/orders stands twice in this group"),
        ("groups[0].conditions[2].min_snapshot_id", "must be between 0 and 9223372036854775807, is -1"),
        (
            "groups[0].conditions[2].asset_key",
            "`orders`: malformed asset key at byte 6: expected `format://catalog/database/table`, found no `://`",
        ),
        ("groups[1].name", "at most 64 characters are allowed"),
        ("groups[1].conditions", "at least one condition is needed"),
        ("groups[2].name", "control characters are not allowed"),
        ("groups[2].conditions[1].alias", "the name `x` is used twice in this group; set an alias"),
        ("groups[2].conditions[2].alias", "control characters are not allowed"),
        ("groups[3].name", "control characters are not allowed"),
        ("groups[3].name", "the name `a\nb` is used twice"),
        ("groups[3].conditions[0].alias", "at most 64 characters are allowed"),
    ];
    let expected: Vec<_> = expected.map(|(field, text)| (field.to_owned(), text.to_owned())).to_vec();
    assert_eq!(found, expected);
}

#[test]
fn one_name_stands_for_one_asset() {
    let default_name = violations(vec![group("", vec![wants("paimon://a/t"), wants("paimon://b/t")])]);
    assert_eq!(default_name[0].0, "groups[0].conditions[1].alias");
    let taken = violations(vec![group("", vec![wants("paimon://a/t"), named("t", "paimon://b/u")])]);
    assert_eq!(taken[0].0, "groups[0].conditions[1].alias");
    // The name of a repeated asset is taken all the same.
    let both = violations(vec![group(
        "",
        vec![wants("paimon://a/t"), named("y", "paimon://a/t"), named("y", "paimon://b/t")],
    )]);
    let fields: Vec<_> = both.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(fields, ["groups[0].conditions[1].asset_key", "groups[0].conditions[2].alias"]);
    // Two groups may look at one asset under one name.
    assert!(
        check(vec![group("", vec![wants("paimon://a/t")]), group("", vec![wants("paimon://a/t")])]).is_ok()
    );
}

#[test]
fn limits() {
    let conditions =
        |count: usize| (0..count).map(|n| wants(&format!("paimon://d/t{n}"))).collect::<Vec<_>>();
    let groups = |count: usize| (0..count).map(|_| group("", conditions(1))).collect::<Vec<_>>();
    assert_eq!(violations(vec![]), [("groups".into(), "at least one group is needed".into())]);
    assert!(check(groups(MAX_GROUPS)).is_ok());
    assert_eq!(
        violations(groups(MAX_GROUPS + 1)),
        [("groups".into(), "at most 64 groups are allowed".into())]
    );
    assert!(check(vec![group("", conditions(MAX_CONDITIONS))]).is_ok());
    let many = violations(vec![group("", conditions(MAX_CONDITIONS + 1))]);
    assert_eq!(many, [("groups[0].conditions".into(), "at most 64 conditions are allowed".into())]);
    // Characters, not bytes.
    assert!(check(vec![group(&"订".repeat(MAX_NAME_CHARS), conditions(1))]).is_ok());
    assert!(check(vec![group("", vec![wants_min("paimon://d/t", 0)])]).is_ok());
}

#[test]
fn default_names() {
    let names = |groups: Vec<GroupSpec>| {
        let dependency = check(groups).unwrap();
        dependency.groups().iter().map(|group| group.name.clone()).collect::<Vec<_>>()
    };
    let orders = || vec![wants("paimon://ods/orders")];
    assert_eq!(names(vec![group("", orders())]), ["default"]);
    assert_eq!(
        names(vec![group("", orders()), group("x", orders()), group("", orders())]),
        ["group-1", "x", "group-3"]
    );
    let clash = violations(vec![group("group-2", orders()), group("", orders())]);
    assert_eq!(clash, [("groups[1].name".into(), "the name `group-2` is used twice".into())]);
}

#[test]
fn what_was_checked() {
    let dependency =
        check(vec![group("g", vec![wants("PAIMON://ods/orders"), named("u", "paimon://x/ods/%75sers")])]);
    let dependency = dependency.unwrap();
    let conditions: Vec<_> = dependency.conditions().map(|c| (c.asset.as_str(), c.name.as_str())).collect();
    assert_eq!(conditions, [("paimon://lake/ods/orders", "orders"), ("paimon://x/ods/users", "u")]);
    assert_eq!(dependency.assets().into_iter().next(), Some(orders()));
}

#[test]
fn canonical_json() {
    let json = |conditions| check(vec![group("", conditions)]).unwrap().to_json();
    // Stored waits are found by a digest of this text: it must not change between releases.
    let plain = r#"[{"name":"default","conditions":[{"assetKey":"paimon://lake/ods/orders"}]}]"#;
    let required = ConditionSpec { snapshot_required: true, ..wants("paimon://ods/orders") };
    assert_eq!(json(vec![wants("Paimon://ods/%6Frders")]), plain);
    assert_eq!(json(vec![named("orders", "paimon://lake/ods/orders")]), plain, "the alias says nothing new");
    assert_eq!(json(vec![named("", "paimon://lake/ods/orders")]), plain);
    assert_eq!(json(vec![required]), plain, "a snapshot is required in any case");
    let full = ConditionSpec {
        alias: Some("o".into()),
        min_snapshot_id: Some(5),
        ..wants_newer("paimon://ods/orders")
    };
    assert_eq!(
        json(vec![full]),
        r#"[{"name":"default","conditions":[{"assetKey":"paimon://lake/ods/orders","alias":"o","minSnapshotId":5,"since":"registered"}]}]"#
    );
}

#[test]
fn json_with_unknown_fields_is_refused() {
    for json in [
        r#"[{"conditions":[{"assetKey":"a","minSnapshotID":1}]}]"#,
        r#"[{"conditions":[],"policy":"ANY_NEW"}]"#,
        r#"[{"conditions":[{"assetKey":"a","since":"consumed"}]}]"#,
        r#"[{"conditions":[{"alias":"a"}]}]"#,
        r#"[{"name":"a"}]"#,
    ] {
        assert!(serde_json::from_str::<Vec<GroupSpec>>(json).is_err(), "{json}");
    }
}

fn condition() -> impl Strategy<Value = ConditionSpec> {
    (
        prop::sample::select(vec![
            "PAIMON://ods/a",
            "paimon://ods/b",
            "hudi://x/ods/c%2f",
            "paimon://ods/a/dt=1",
            "bad",
            "paimon://o/%00",
        ]),
        option::weighted(0.3, prop::sample::select(vec!["", "a", "b", "long-name", "\t"])),
        any::<bool>(),
        option::of(-1..5_i64),
        any::<bool>(),
        option::weighted(
            0.4,
            prop::sample::select(vec!["20261130", "2026-11-30+1d", "-1", "12345678", "soon", ""]),
        ),
        option::weighted(0.4, prop::sample::select(vec!["Asia/Shanghai", "-03:30", "nowhere", ""])),
        rest(),
    )
        .prop_map(
            |(asset_key, alias, snapshot_required, min_snapshot_id, registered, time, zone, rest)| {
                ConditionSpec {
                    asset_key: asset_key.to_owned(),
                    alias: alias.map(str::to_owned),
                    snapshot_required,
                    min_snapshot_id,
                    since: if registered { Since::Registered } else { Since::Exists },
                    committed_after: time.map(str::to_owned),
                    watermark_gte: time.map(str::to_owned),
                    timezone: zone.map(str::to_owned),
                    ..rest
                }
            },
        )
}

/// A condition with what asks for anything but snapshots and times.
fn rest() -> impl Strategy<Value = ConditionSpec> {
    (
        option::weighted(0.3, -1..9_i64),
        option::weighted(0.3, prop::sample::select(vec![Quality::Passed, Quality::Failed])),
        option::weighted(
            0.3,
            prop::sample::select(vec![SchemaStatus::Compatible, SchemaStatus::PendingApproval]),
        ),
        option::weighted(0.3, prop::sample::select(vec!["day-*", "v1", "", "\t"])),
        option::weighted(0.3, prop::sample::select(vec![BackfillStatus::None, BackfillStatus::Running])),
        any::<bool>(),
        option::weighted(0.3, prop::sample::select(vec![Assurance::Verified, Assurance::Reported])),
        any::<bool>(),
    )
        .prop_map(|(lag, quality, schema, tag, backfill, ignore, assurance, newest)| ConditionSpec {
            max_watermark_lag_seconds: lag,
            quality_status: quality,
            schema_status: schema,
            tag: tag.map(str::to_owned),
            backfill_status: backfill,
            ignore_backfill: ignore,
            assurance,
            matching: if newest { Match::Newest } else { Match::Head },
            ..ConditionSpec::default()
        })
}

#[test]
fn tag_globs() {
    for (glob, name, matches) in [
        ("v1", "v1", true),
        ("v1", "v10", false),
        ("*", "", true),
        ("day-*", "day-2026-11-30", true),
        ("day-*", "a-day-1", false),
        ("*-done", "2026-done-done", true),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "a-c-b", false),
        ("2026-??-01", "2026-11-01", true),
        ("2026-??-01", "2026-1-01", false),
        ("数据*", "数据-1", true),
        ("?", "数", true),
        ("", "", true),
        ("", "x", false),
    ] {
        assert_eq!(TagGlob(glob.to_owned()).matches(name), matches, "{glob} {name}");
    }
}

#[test]
fn what_is_out_of_bounds_is_named() {
    let refused = |spec: ConditionSpec| {
        let violations = check(vec![group("", vec![spec])]).unwrap_err();
        assert_eq!(violations.len(), 1, "{violations:?}");
        format!("{}: {}", violations[0].field, violations[0].description)
    };
    for lag in [-1, i64::MIN, MAX_LAG_SECONDS + 1, i64::MAX] {
        let text =
            refused(ConditionSpec { max_watermark_lag_seconds: Some(lag), ..wants("paimon://ods/orders") });
        assert!(text.contains("conditions[0].max_watermark_lag_seconds: must be between 0 and"), "{text}");
    }
    let long = refused(ConditionSpec { tag: Some("t".repeat(129)), ..wants("paimon://ods/orders") });
    assert!(long.contains("conditions[0].tag: at most 128"), "{long}");
}

#[test]
fn times_stand_in_the_zone_of_the_condition() {
    let json = |committed: &str, watermark: &str, zone: &str| {
        let spec = ConditionSpec {
            committed_after: Some(committed.into()),
            watermark_gte: Some(watermark.into()),
            timezone: Some(zone.into()),
            ..wants("paimon://ods/orders")
        };
        check(vec![group("", vec![spec])]).map(|checked| checked.to_json())
    };
    assert_eq!(
        json("20261130", "20261130+1d", "Asia/Shanghai").unwrap(),
        r#"[{"name":"default","conditions":[{"assetKey":"paimon://lake/ods/orders","committedAfter":"2026-11-29T16:00:00Z","watermarkGte":"2026-11-30T16:00:00Z"}]}]"#
    );
    // Without a zone in that of the agent, which is UTC here.
    assert!(json("20261130", "0", "").unwrap().contains("2026-11-30T00:00:00Z"));
    for (committed, watermark, zone, field, text) in [
        ("soon", "", "", "committed_after", "`soon` is no time; expected RFC 3339"),
        ("", "2026-11-31", "", "watermark_gte", "`2026-11-31` is no time"),
        ("", "99999999999999999", "", "watermark_gte", "beyond the years"),
        ("20261130", "20261130", "Mars", "timezone", "`Mars` is no time zone"),
    ] {
        let violations = json(committed, watermark, zone).unwrap_err();
        assert_eq!(violations.len(), 1, "{violations:?}");
        assert_eq!(violations[0].field, format!("groups[0].conditions[0].{field}"));
        assert!(violations[0].description.contains(text), "{violations:?}");
    }
}

proptest! {
    #[test]
    fn what_was_checked_checks_to_the_same(
        groups in vec((prop::sample::select(vec!["", "g", "default", "group-1"]), vec(condition(), 1..3)), 1..3)
    ) {
        let specs: Vec<GroupSpec> = groups.into_iter().map(|(name, conditions)| group(name, conditions)).collect();
        // Through JSON and with another default catalog, as the store reads it back later.
        if let Ok(checked) = check(specs) {
            let stored: Vec<GroupSpec> = serde_json::from_str(&checked.to_json()).unwrap();
            let again = Dependency::check(stored, &Defaults { catalog: &|_| Some("another".to_owned()), zone: &Zone::UTC });
            prop_assert_eq!(again.as_ref(), Ok(&checked));
            prop_assert_eq!(again.map(|again| again.to_json()), Ok(checked.to_json()));
        }
    }
}

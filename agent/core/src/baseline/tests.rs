use proptest::{collection::btree_map, prelude::*};

use super::*;
use crate::samples::{advance, asset, at, check, group, key, one, orders, rewrite, wants, wants_newer};

fn baseline() -> impl Strategy<Value = Baseline> {
    prop_oneof![
        Just(Baseline::FirstRead),
        Just(Baseline::Above(Floor::BelowAll)),
        (any::<i64>(), any::<i64>()).prop_map(|(generation, ordinal)| {
            Baseline::Above(Floor::At(crate::version::Position { generation, ordinal }))
        }),
    ]
}

proptest! {
    #[test]
    fn tokens_come_back(baselines in btree_map("[a-z:/%]{0,20}", baseline(), 0..5)) {
        let baselines = Baselines(baselines);
        let token = baselines.to_token();
        prop_assert_eq!(Baselines::from_token(&token), Ok(baselines.clone()));
        // The store keeps them as plain JSON.
        let json = serde_json::to_string(&baselines).unwrap();
        prop_assert_eq!(serde_json::from_str::<Baselines>(&json).unwrap(), baselines);
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,60}|[A-Za-z0-9_-]{0,60}", junk in any::<Vec<u8>>()) {
        let _ = Baselines::from_token(&text);
        prop_assert_eq!(Baselines::from_token(&data_encoding::BASE64URL_NOPAD.encode(&junk)), Err(TokenError));
    }

    #[test]
    fn a_cut_token_is_refused(cut in any::<prop::sample::Index>()) {
        let token = Baselines(BTreeMap::from([("paimon://lake/ods/orders".into(), Baseline::FirstRead)])).to_token();
        prop_assert_eq!(Baselines::from_token(&token[..cut.index(token.len())]), Err(TokenError));
    }
}

#[test]
fn tokens_of_others_are_refused() {
    let encode = |json: &str| data_encoding::BASE64URL_NOPAD.encode(json.as_bytes());
    let good = r#"{"v":1,"b":{"a":"first-read","b":{"above":"below-all"},"c":{"above":{"at":{"generation":1,"ordinal":2}}}}}"#;
    // Tokens outlive an upgrade of the agent: this very text must stay readable.
    assert!(Baselines::from_token(&encode(good)).is_ok());
    for (name, json) in [
        ("later layout", good.replace("\"v\":1", "\"v\":2")),
        ("no version", good.replace("\"v\":1,", "")),
        ("no baselines", r#"{"v":1}"#.to_owned()),
        ("unknown baseline", good.replace("first-read", "last-read")),
        ("no object", "[]".to_owned()),
        ("more behind it", format!("{good}x")),
    ] {
        assert_eq!(Baselines::from_token(&encode(&json)), Err(TokenError), "{name}");
    }
    assert_eq!(Baselines::from_token(""), Err(TokenError));
    assert_eq!(Baselines::from_token(&format!("{}=", encode(good))), Err(TokenError), "padding");
}

#[test]
fn where_a_wait_begins() {
    let known = asset(&orders(), &[advance(1), rewrite(2)]);
    let empty = asset(&orders(), &[]);
    let mut read_later = asset(&orders(), &[advance(1), advance(2)]);
    read_later.first_head = Floor::At(at(1));
    for (name, knowledge, expected, floor) in [
        ("unknown", Knowledge::Unknown, Baseline::FirstRead, Floor::At(at(1))),
        ("absent", Knowledge::Absent, Baseline::Above(Floor::BelowAll), Floor::BelowAll),
        ("without a snapshot", Knowledge::Known(&empty), Baseline::Above(Floor::BelowAll), Floor::BelowAll),
        // A compaction is the head too: nothing that it carries is newer.
        ("known", Knowledge::Known(&known), Baseline::Above(Floor::At(at(2))), Floor::At(at(2))),
    ] {
        let dependency = one(wants_newer("paimon://ods/orders"));
        let baselines = Baselines::begin(&dependency, |asked| {
            assert_eq!(*asked, orders());
            knowledge
        });
        assert_eq!(baselines.of(&orders()), expected, "{name}");
        assert_eq!(baselines.of(&orders()).floor(&read_later), floor, "{name}");
        assert!(baselines.cover(&dependency), "{name}");
    }
}

#[test]
fn only_what_needs_a_baseline_has_one() {
    let users = key("paimon://lake/ods/users");
    let mixed = check(vec![
        group("a", vec![wants("paimon://ods/orders"), wants_newer("paimon://ods/users")]),
        group("b", vec![wants_newer("paimon://ods/users")]),
    ])
    .unwrap();
    let baselines = Baselines::begin(&mixed, |_| Knowledge::Absent);
    let only = BTreeMap::from([(users.to_string(), Baseline::Above(Floor::BelowAll))]);
    assert_eq!(baselines, Baselines(only));
    assert!(baselines.cover(&mixed));
    assert!(baselines.cover(&one(wants("paimon://ods/payments"))), "needs none");
    assert!(!baselines.cover(&one(wants_newer("paimon://ods/orders"))));
    assert_eq!(baselines.of(&orders()), Baseline::FirstRead);
}

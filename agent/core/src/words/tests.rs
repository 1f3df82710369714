use super::*;
use crate::{
    condition::TagGlob,
    facts::{Quality, SchemaStatus},
    version::Assurance,
};

/// Every reason, with what can be said of it in more than one way.
fn reasons() -> Vec<Reason> {
    let head = Some(9);
    vec![
        Reason::Unread(Unread::NoCatalog),
        Reason::Unread(Unread::NotListed),
        Reason::Unread(Unread::PollingOff),
        Reason::Unread(Unread::NotYet),
        Reason::Unread(Unread::Failing("denied".into())),
        Reason::TableAbsent,
        Reason::NoSnapshot,
        Reason::BelowMinSnapshot { wanted: 9, found: 7, head: None },
        Reason::BelowMinSnapshot { wanted: 10, found: 7, head },
        Reason::NotNewer { found: 7, head: None },
        Reason::NotNewer { found: 7, head },
        Reason::CommittedEarly { found: 7, wanted: 5, committed: Some(1) },
        Reason::CommittedEarly { found: 7, wanted: 5, committed: None },
        Reason::BelowWatermark { found: 7, wanted: 60_000, watermark: Some(0) },
        Reason::BelowWatermark { found: 7, wanted: 60_000, watermark: None },
        Reason::WatermarkLags { found: 7, max_seconds: 60, watermark: Some(0), now: 120_000 },
        Reason::WatermarkLags { found: 7, max_seconds: 60, watermark: None, now: 120_000 },
        Reason::OtherQuality { found: 7, wanted: Quality::Passed, said: None },
        Reason::OtherQuality {
            found: 7,
            wanted: Quality::Passed,
            said: Some((Quality::Failed, 0, "soda".into())),
        },
        Reason::OtherSchemaStatus {
            found: 7,
            wanted: SchemaStatus::Compatible,
            schema: Some(3),
            status: Some(SchemaStatus::PendingApproval),
        },
        Reason::OtherSchemaStatus { found: 7, wanted: SchemaStatus::Compatible, schema: None, status: None },
        Reason::NoTag { wanted: "day-*".into(), latest: None },
        Reason::NoTag { wanted: "day-*".into(), latest: Some("v1".into()) },
        Reason::OtherBackfillStatus { wanted: BackfillStatus::Completed, found: BackfillStatus::Running },
        Reason::OtherBackfillStatus { wanted: BackfillStatus::None, found: BackfillStatus::Completed },
        Reason::DuringBackfill { found: 7, backfill: "b-1".into() },
        Reason::OnlyReported { found: 7, wanted: Assurance::Verified },
        Reason::NotReadable { found: 7 },
        Reason::TableGone { since: 0 },
        Reason::AgentPaused { found: 7 },
    ]
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

#[test]
fn every_reason_reads_in_both_languages_and_names_its_values() {
    for reason in reasons() {
        let (found, missing) = (reason.found(Chinese), reason.missing(Chinese));
        assert!(is_chinese(&found) && is_chinese(&missing), "{reason:?}: {found}; {missing}");
        for english in [reason.found(English), reason.missing(English)] {
            assert!(!english.is_empty() && !is_chinese(&english), "{reason:?}: {english}");
        }
        // Whoever reads one language learns what the other one tells.
        for value in ["7", "denied", "soda", "b-1", "v1"] {
            assert_eq!(found.contains(value), reason.found(English).contains(value), "{reason:?}: {found}");
        }
    }
}

#[test]
fn a_sentence_in_both() {
    let reason = Reason::BelowWatermark { found: 7, wanted: 1_080_000, watermark: Some(0) };
    let wanted = Wanted {
        watermark_gte: Some(1_080_000),
        quality: Some(Quality::Passed),
        tag: None::<TagGlob>,
        ..Wanted::default()
    };
    assert_eq!(
        sentence("paimon://a/b/c", &wanted, Err(&reason), English),
        "paimon://a/b/c: needs a snapshot with watermark >= 1970-01-01T00:18:00Z and with quality PASSED, has \
         snapshot 7 with watermark 1970-01-01T00:00:00Z; missing: 18min behind"
    );
    assert_eq!(
        sentence("paimon://a/b/c", &wanted, Err(&reason), Chinese),
        "paimon://a/b/c：需要快照，水位线 >= 1970-01-01T00:18:00Z，质量为 PASSED；现有快照 7，水位线为 \
         1970-01-01T00:00:00Z；缺少：还差 18min"
    );
}

#[test]
fn the_callers_language() {
    for (list, language) in [
        ("", English),
        ("zh", Chinese),
        ("zh-CN,zh;q=0.9,en;q=0.8", Chinese),
        ("zh_CN.UTF-8", Chinese),
        ("en-US,zh", English),
        ("fr, ZH-tw;q=0.5", Chinese),
        ("fr", English),
        (";;,,", English),
    ] {
        assert_eq!(Language::accepted(list), language, "{list}");
    }
}

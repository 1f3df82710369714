//! Reads requests: everything that is wrong with one is found before it is refused.

use asset_core::{
    baseline::Baselines,
    condition::{ConditionSpec, Defaults, Dependency, GroupSpec, Match, Since, Violation},
    facts::{BackfillStatus, Quality, SchemaStatus},
    key::AssetKey,
    report::Ordering,
    version::{Assurance, Millis},
};
use asset_engine::{Identity, Waiting};
use asset_proto::v1;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Longest names of an identity, in characters, as their columns have them.
const MAX_SCHEDULER_CHARS: usize = 64;
const MAX_TASK_NAME_CHARS: usize = 255;
/// Longest text for people, in characters.
const MAX_TEXT_CHARS: usize = 512;
/// Longest wait id.
const MAX_WAIT_ID_CHARS: usize = 36;
/// Most keys of one watcher.
const MAX_WATCHED_KEYS: usize = 1_000;
/// Greatest second of a `google.protobuf.Timestamp`: the end of the year 9999.
const LAST_SECOND: i64 = 253_402_300_799;

/// All that is wrong with a request.
pub type Refused = Vec<Violation>;

/// One thing that is wrong.
pub fn violation(field: &str, description: impl Into<String>) -> Violation {
    Violation { field: field.to_owned(), description: description.into() }
}

/// A text that is not empty.
fn given(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Checks groups of conditions.
pub fn dependency(groups: Vec<v1::Group>, defaults: &Defaults<'_>) -> Result<Dependency, Refused> {
    let mut unknown = Vec::new();
    let mut specs = Vec::with_capacity(groups.len());
    for (g, group) in groups.into_iter().enumerate() {
        let mut conditions = Vec::with_capacity(group.conditions.len());
        for (c, condition) in group.conditions.into_iter().enumerate() {
            let since = match v1::Since::try_from(condition.since) {
                Ok(v1::Since::Unspecified | v1::Since::Exists) => Since::Exists,
                Ok(v1::Since::Registered) => Since::Registered,
                Err(_) => {
                    let text = format!("{} is none that this version knows", condition.since);
                    unknown.push(violation(&format!("groups[{g}].conditions[{c}].since"), text));
                    Since::Exists
                }
            };
            let mut named = Named { field: format!("groups[{g}].conditions[{c}]"), unknown: &mut unknown };
            let quality_status = named.of("quality_status", condition.quality_status, quality);
            let schema_status = named.of("schema_status", condition.schema_status, schema);
            let backfill_status = named.of("backfill_status", condition.backfill_status, backfill);
            let assurance = named.of("assurance", condition.assurance, assurance);
            let matching = named.of("match", condition.r#match, matching).unwrap_or_default();
            conditions.push(ConditionSpec {
                asset_key: condition.asset_key,
                alias: given(condition.alias),
                snapshot_required: condition.snapshot_required,
                min_snapshot_id: condition.min_snapshot_id,
                since,
                committed_after: given(condition.committed_after),
                watermark_gte: given(condition.watermark_gte),
                max_watermark_lag_seconds: condition.max_watermark_lag_seconds,
                quality_status,
                schema_status,
                tag: given(condition.tag),
                backfill_status,
                ignore_backfill: condition.ignore_backfill,
                assurance,
                matching,
                timezone: given(condition.timezone),
            });
        }
        specs.push(GroupSpec { name: group.name, conditions });
    }
    match Dependency::check(specs, defaults) {
        Ok(dependency) if unknown.is_empty() => Ok(dependency),
        Ok(_) => Err(unknown),
        Err(mut violations) => {
            violations.append(&mut unknown);
            Err(violations)
        }
    }
}

/// Reads the enums of one condition: a number that has no name is refused.
struct Named<'a> {
    field: String,
    unknown: &'a mut Vec<Violation>,
}

impl Named<'_> {
    /// What a number stands for; nothing where it is 0.
    fn of<P: TryFrom<i32>, C>(
        &mut self,
        name: &str,
        number: i32,
        read: impl Fn(P) -> Option<C>,
    ) -> Option<C> {
        match P::try_from(number) {
            Ok(named) => read(named),
            Err(_) => {
                let text = format!("{number} is none that this version knows");
                self.unknown.push(violation(&format!("{}.{name}", self.field), text));
                None
            }
        }
    }
}

fn quality(named: v1::Quality) -> Option<Quality> {
    match named {
        v1::Quality::Unspecified => None,
        v1::Quality::Passed => Some(Quality::Passed),
        v1::Quality::Failed => Some(Quality::Failed),
    }
}

fn schema(named: v1::SchemaStatus) -> Option<SchemaStatus> {
    match named {
        v1::SchemaStatus::Unspecified => None,
        v1::SchemaStatus::Compatible => Some(SchemaStatus::Compatible),
        v1::SchemaStatus::PendingApproval => Some(SchemaStatus::PendingApproval),
        v1::SchemaStatus::Rejected => Some(SchemaStatus::Rejected),
    }
}

fn backfill(named: v1::BackfillStatus) -> Option<BackfillStatus> {
    match named {
        v1::BackfillStatus::Unspecified => None,
        v1::BackfillStatus::None => Some(BackfillStatus::None),
        v1::BackfillStatus::Running => Some(BackfillStatus::Running),
        v1::BackfillStatus::Completed => Some(BackfillStatus::Completed),
    }
}

fn assurance(named: v1::Assurance) -> Option<Assurance> {
    match named {
        v1::Assurance::Unspecified => None,
        v1::Assurance::Reported => Some(Assurance::Reported),
        v1::Assurance::Verified => Some(Assurance::Verified),
    }
}

fn matching(named: v1::Match) -> Option<Match> {
    match named {
        v1::Match::Unspecified | v1::Match::Head => Some(Match::Head),
        v1::Match::Newest => Some(Match::Newest),
    }
}

/// A checked `ResolveDependency` request.
pub struct Resolve {
    /// What is waited for.
    pub dependency: Dependency,
    /// Who waits.
    pub waiting: Waiting,
    /// When the caller gives up.
    pub deadline: Option<Millis>,
}

/// Checks a `ResolveDependency` request.
pub fn resolve(request: v1::ResolveDependencyRequest, defaults: &Defaults<'_>) -> Result<Resolve, Refused> {
    let mut violations = Vec::new();
    let dependency = dependency(request.groups, defaults).map_err(|mut found| violations.append(&mut found));
    let deadline = match request.deadline.map(millis) {
        None => None,
        Some(Ok(deadline)) => Some(deadline),
        Some(Err(reason)) => {
            violations.push(violation("deadline", reason));
            None
        }
    };
    if request.resume_after_revision < 0 {
        violations.push(revision_violation(request.resume_after_revision));
    }
    let waiting = match request.wait {
        Some(wait) => identified(wait).map_err(|mut found| violations.append(&mut found)),
        None => {
            anonymous(&request.resume_token, dependency.as_ref().ok()).map_err(|found| violations.push(found))
        }
    };
    match (dependency, waiting) {
        (Ok(dependency), Ok(waiting)) if violations.is_empty() => {
            Ok(Resolve { dependency, waiting, deadline })
        }
        _ => Err(violations),
    }
}

fn anonymous(token: &str, dependency: Option<&Dependency>) -> Result<Waiting, Violation> {
    if token.is_empty() {
        return Ok(Waiting::Anonymous { baselines: None });
    }
    let refuse = |reason: String| violation("resume_token", reason);
    let baselines = Baselines::from_token(token).map_err(|error| refuse(error.to_string()))?;
    if dependency.is_some_and(|dependency| !baselines.cover(dependency)) {
        return Err(refuse("it belongs to other conditions".to_owned()));
    }
    Ok(Waiting::Anonymous { baselines: Some(baselines) })
}

fn identified(wait: v1::Wait) -> Result<Waiting, Refused> {
    let mut violations = Vec::new();
    for (field, code) in [
        ("wait.project_code", wait.project_code),
        ("wait.workflow_definition_code", wait.workflow_definition_code),
        ("wait.task_definition_code", wait.task_definition_code),
        ("wait.workflow_instance_id", wait.workflow_instance_id),
    ] {
        if code <= 0 {
            violations.push(violation(field, format!("is required and must be above 0, is {code}")));
        }
    }
    if wait.task_name.is_empty() {
        violations.push(violation("wait.task_name", "is required"));
    }
    for (field, text, limit) in [
        ("wait.scheduler", &wait.scheduler, MAX_SCHEDULER_CHARS),
        ("wait.task_name", &wait.task_name, MAX_TASK_NAME_CHARS),
        ("wait.wait_id", &wait.wait_id, MAX_WAIT_ID_CHARS),
    ] {
        if text.chars().count() > limit {
            violations.push(violation(field, format!("at most {limit} characters are allowed")));
        }
    }
    if !violations.is_empty() {
        return Err(violations);
    }
    let scheduler = if wait.scheduler.is_empty() { "default".to_owned() } else { wait.scheduler };
    Ok(Waiting::Identified {
        identity: Identity {
            scheduler,
            project_code: wait.project_code,
            workflow_definition_code: wait.workflow_definition_code,
            task_definition_code: wait.task_definition_code,
            workflow_instance_id: wait.workflow_instance_id,
            task_name: wait.task_name,
        },
        wait_id: Some(wait.wait_id).filter(|id| !id.is_empty()),
    })
}

/// Checks the keys of a watcher. A key without a wildcard is canonicalised like any other.
pub fn globs(
    keys: &[String],
    default_catalog: impl Fn(&str) -> Option<String> + Copy,
) -> Result<GlobSet, Refused> {
    let mut violations = Vec::new();
    if keys.len() > MAX_WATCHED_KEYS {
        let text = format!("at most {MAX_WATCHED_KEYS} keys are allowed, these are {}", keys.len());
        return Err(vec![violation("asset_keys", text)]);
    }
    let mut set = GlobSetBuilder::new();
    if keys.is_empty() {
        add_glob(&mut set, "**").map_err(|reason| vec![violation("asset_keys", reason)])?;
    }
    for (index, key) in keys.iter().enumerate() {
        let field = format!("asset_keys[{index}]");
        let glob = if key.contains(['*', '?', '[', '{']) {
            Ok(key.clone())
        } else {
            AssetKey::parse(key, default_catalog)
                .map(|key| key.to_string())
                .map_err(|error| format!("`{key}`: {error}"))
        };
        let added = glob.and_then(|glob| add_glob(&mut set, &glob));
        if let Err(reason) = added {
            violations.push(violation(&field, reason));
        }
    }
    if !violations.is_empty() {
        return Err(violations);
    }
    set.build().map_err(|error| vec![violation("asset_keys", error.to_string())])
}

fn add_glob(set: &mut GlobSetBuilder, glob: &str) -> Result<(), String> {
    let glob = GlobBuilder::new(glob).literal_separator(true).build();
    set.add(glob.map_err(|error| error.to_string())?);
    Ok(())
}

/// Checks the key of one asset.
pub fn key(text: &str, default_catalog: impl Fn(&str) -> Option<String>) -> Result<AssetKey, Refused> {
    AssetKey::parse(text, default_catalog)
        .map_err(|error| vec![violation("asset_key", format!("`{text}`: {error}"))])
}

/// Checks a registration.
pub fn registration(
    request: v1::RegisterAssetRequest,
    default_catalog: impl Fn(&str) -> Option<String>,
) -> Result<(AssetKey, Option<Ordering>, Option<String>), Refused> {
    let mut violations = Vec::new();
    let key = key(&request.asset_key, default_catalog).map_err(|mut found| violations.append(&mut found));
    let ordering = match v1::Ordering::try_from(request.ordering) {
        Ok(v1::Ordering::Unspecified) => None,
        Ok(v1::Ordering::Id) => Some(Ordering::Id),
        Ok(v1::Ordering::Sequence) => Some(Ordering::Sequence),
        Ok(v1::Ordering::CommitTime) => Some(Ordering::CommitTime),
        Ok(v1::Ordering::Watermark) => Some(Ordering::Watermark),
        Err(_) => {
            let text = format!("{} is none that this version knows", request.ordering);
            violations.push(violation("ordering", text));
            None
        }
    };
    long_text("description", &request.description, &mut violations);
    match key {
        Ok(key) if violations.is_empty() => Ok((key, ordering, given(request.description))),
        _ => Err(violations),
    }
}

/// Checks what takes an asset back.
pub fn rewind(
    request: v1::RewindAssetRequest,
    default_catalog: impl Fn(&str) -> Option<String>,
) -> Result<(AssetKey, i64, String), Refused> {
    let mut violations = Vec::new();
    let key = key(&request.asset_key, default_catalog).map_err(|mut found| violations.append(&mut found));
    let to = request.snapshot_id.filter(|id| *id >= 0);
    if to.is_none() {
        violations.push(violation("snapshot_id", "is required and must not be negative"));
    }
    if request.reason.trim().is_empty() {
        violations.push(violation("reason", "is required: it is kept with the event"));
    }
    long_text("reason", &request.reason, &mut violations);
    match (key, to) {
        (Ok(key), Some(to)) if violations.is_empty() => Ok((key, to, request.reason)),
        _ => Err(violations),
    }
}

fn long_text(field: &str, text: &str, violations: &mut Refused) {
    if text.chars().count() > MAX_TEXT_CHARS {
        violations.push(violation(field, format!("at most {MAX_TEXT_CHARS} characters are allowed")));
    }
}

/// Checks a revision to resume after.
pub fn revision(revision: i64) -> Result<i64, Refused> {
    if revision < 0 { Err(vec![revision_violation(revision)]) } else { Ok(revision) }
}

fn revision_violation(revision: i64) -> Violation {
    violation("resume_after_revision", format!("must not be negative, is {revision}"))
}

/// Checks the size of a page.
pub fn page_size(size: i32) -> Result<usize, Refused> {
    match size {
        0 => Ok(100),
        1..=1_000 => Ok(size as usize),
        _ => Err(vec![violation("page_size", format!("must be between 1 and 1000, is {size}"))]),
    }
}

/// The key that a page begins behind.
pub fn page_token(token: &str) -> Result<Option<String>, Refused> {
    if token.is_empty() {
        return Ok(None);
    }
    let decoded = data_encoding::BASE64URL_NOPAD.decode(token.as_bytes()).ok();
    let key = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let refused = || vec![violation("page_token", "pass on `next_page_token` of the page before, or none")];
    key.filter(|key| AssetKey::from_canonical(key).is_ok()).ok_or_else(refused).map(Some)
}

/// The token of the page behind a key.
pub fn next_page_token(key: &AssetKey) -> String {
    data_encoding::BASE64URL_NOPAD.encode(key.as_str().as_bytes())
}

/// Checks the id of a wait.
pub fn wait_id(id: &str) -> Result<&str, Refused> {
    match id.chars().count() {
        0 => Err(vec![violation("wait_id", "is required")]),
        1..=MAX_WAIT_ID_CHARS => Ok(id),
        _ => Err(vec![violation("wait_id", format!("at most {MAX_WAIT_ID_CHARS} characters are allowed"))]),
    }
}

/// A time as the engine has it.
pub fn millis(time: prost_types::Timestamp) -> Result<Millis, String> {
    if !(0..=LAST_SECOND).contains(&time.seconds) || !(0..1_000_000_000).contains(&time.nanos) {
        return Err(format!("{} s and {} ns is no time between 1970 and 9999", time.seconds, time.nanos));
    }
    Ok(time.seconds * 1_000 + i64::from(time.nanos / 1_000_000))
}

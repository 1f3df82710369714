//! Conditions from flags whose order counts: what follows an `--asset` belongs to it.

use std::{mem, path::PathBuf, time::Duration};

use asset_proto::v1::{Assurance, Condition, Group, Match, Quality, SchemaStatus, Since};
use clap::{
    Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, Error, FromArgMatches,
    builder::{NonEmptyStringValueParser, PathBufValueParser, PossibleValuesParser, ValueParser},
    error::ErrorKind,
};

use super::{
    condition_file::words::{self, Word},
    duration,
};

/// Where the conditions of a wait come from.
#[derive(Debug)]
pub enum ConditionArgs {
    /// `--asset` and what follows each.
    Flags(Vec<Group>),
    /// `--condition-file`.
    File(PathBuf),
}

const ASSET: &str = "asset";
const MIN_SNAPSHOT: &str = "min-snapshot";
const SINCE: &str = "since";
const ALIAS: &str = "alias";
const COMMITTED_AFTER: &str = "committed-after";
const WATERMARK_GTE: &str = "watermark-gte";
const MAX_WATERMARK_LAG: &str = "max-watermark-lag";
const QUALITY: &str = "quality";
const SCHEMA: &str = "schema";
const TAG: &str = "tag";
const ASSURANCE: &str = "assurance";
const MATCH: &str = "match";
const TIMEZONE: &str = "timezone";
const FILE: &str = "condition-file";

enum Flag {
    Asset(String),
    MinSnapshot(i64),
    Since(String),
    Alias(String),
    CommittedAfter(String),
    WatermarkGte(String),
    MaxWatermarkLag(Duration),
    Quality(Quality),
    Schema(SchemaStatus),
    Tag(String),
    Assurance(Assurance),
    Match(Match),
    Timezone(String),
}

impl Args for ConditionArgs {
    fn augment_args(command: Command) -> Command {
        let heading = "What to wait for (the flags after an --asset belong to it)";
        let flag = |name: &'static str, value: &'static str, parser: ValueParser| {
            Arg::new(name)
                .long(name)
                .value_name(value)
                .value_parser(parser)
                .action(ArgAction::Append)
                .help_heading(heading)
        };
        command
            .arg(
                flag(ASSET, "KEY", NonEmptyStringValueParser::new().into())
                    .help("Asset that must have a data version; several must all hold"),
            )
            .arg(
                flag(MIN_SNAPSHOT, "N", ValueParser::new(snapshot))
                    .allow_hyphen_values(true)
                    .help("Snapshot id that the asset must have reached"),
            )
            .arg(
                flag(SINCE, "WHAT", PossibleValuesParser::new(["exists", "registered"]).into())
                    .help("exists: a version that is there counts (default); registered: only one newer than when the wait began"),
            )
            .arg(
                flag(COMMITTED_AFTER, "T", NonEmptyStringValueParser::new().into())
                    .help("Time at which its data was committed, or later"),
            )
            .arg(
                flag(WATERMARK_GTE, "T", NonEmptyStringValueParser::new().into())
                    .help("Watermark that it must have reached; a time is RFC 3339, epoch milliseconds, or a date with an offset such as 20261130+1d"),
            )
            .arg(
                flag(MAX_WATERMARK_LAG, "DURATION", ValueParser::new(duration::parse))
                    .help("How far its watermark may lie behind now, such as 30m"),
            )
            .arg(
                flag(QUALITY, "STATUS", ValueParser::new(word::<Quality>))
                    .help("What its latest check must have said: PASSED or FAILED"),
            )
            .arg(
                flag(SCHEMA, "STATUS", ValueParser::new(word::<SchemaStatus>))
                    .help("Where its schema must stand: COMPATIBLE, PENDING_APPROVAL or REJECTED"),
            )
            .arg(
                flag(TAG, "GLOB", NonEmptyStringValueParser::new().into())
                    .help("Tag that it must have, exact or with * and ?; only versions with one are looked at"),
            )
            .arg(
                flag(ASSURANCE, "HOW", ValueParser::new(word::<Assurance>))
                    .help("VERIFIED: the agent must have read it in the table itself; REPORTED: a report is enough (default)"),
            )
            .arg(
                flag(MATCH, "WHICH", ValueParser::new(word::<Match>))
                    .help("head: look at the newest version only (default); newest: take the newest that satisfies all"),
            )
            .arg(
                flag(TIMEZONE, "ZONE", NonEmptyStringValueParser::new().into())
                    .help("Zone of its dates, such as Asia/Shanghai or +08:00 [default: the agent's]"),
            )
            .arg(
                flag(ALIAS, "NAME", NonEmptyStringValueParser::new().into())
                    .help("Name under which the pinned version is handed on [default: the table's name]"),
            )
            .arg(
                flag(FILE, "F", PathBufValueParser::new().into())
                    .action(ArgAction::Set)
                    .help("JSON file with the conditions, `-` for standard input; instead of --asset"),
            )
            .group(ArgGroup::new("what").args([ASSET, FILE]).required(true))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ConditionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let flags = in_order(matches);
        match matches.get_one::<PathBuf>(FILE) {
            None => from_flags(flags).map(Self::Flags),
            Some(file) if flags.is_empty() => Ok(Self::File(file.clone())),
            Some(_) => Err(Error::raw(
                ErrorKind::ArgumentConflict,
                "flags such as --min-snapshot, --since, --quality and --alias belong to an --asset; with --condition-file the file says it",
            )),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The flags in the order in which they were given.
fn in_order(matches: &ArgMatches) -> Vec<Flag> {
    fn of<T: Clone + Send + Sync + 'static>(
        matches: &ArgMatches,
        name: &str,
        flag: fn(T) -> Flag,
    ) -> Vec<(usize, Flag)> {
        let indices = matches.indices_of(name).into_iter().flatten();
        let values = matches.get_many::<T>(name).into_iter().flatten();
        indices.zip(values).map(|(at, value)| (at, flag(value.clone()))).collect()
    }
    let mut flags = of(matches, ASSET, Flag::Asset);
    flags.extend(of(matches, MIN_SNAPSHOT, Flag::MinSnapshot));
    flags.extend(of(matches, SINCE, Flag::Since));
    flags.extend(of(matches, ALIAS, Flag::Alias));
    flags.extend(of(matches, COMMITTED_AFTER, Flag::CommittedAfter));
    flags.extend(of(matches, WATERMARK_GTE, Flag::WatermarkGte));
    flags.extend(of(matches, MAX_WATERMARK_LAG, Flag::MaxWatermarkLag));
    flags.extend(of(matches, QUALITY, Flag::Quality));
    flags.extend(of(matches, SCHEMA, Flag::Schema));
    flags.extend(of(matches, TAG, Flag::Tag));
    flags.extend(of(matches, ASSURANCE, Flag::Assurance));
    flags.extend(of(matches, MATCH, Flag::Match));
    flags.extend(of(matches, TIMEZONE, Flag::Timezone));
    flags.sort_by_key(|(at, _)| *at);
    flags.into_iter().map(|(_, flag)| flag).collect()
}

fn from_flags(flags: Vec<Flag>) -> Result<Vec<Group>, Error> {
    let mut conditions: Vec<Condition> = Vec::new();
    for flag in flags {
        let name = flag.name();
        match (flag, conditions.last_mut()) {
            (Flag::Asset(asset_key), _) => {
                conditions.push(Condition { asset_key, snapshot_required: true, ..Condition::default() });
            }
            (_, None) => {
                return Err(Error::raw(
                    ErrorKind::MissingRequiredArgument,
                    format!(
                        "--{name} stands before any --asset; it belongs after the --asset that it is meant for"
                    ),
                ));
            }
            (flag, Some(condition)) => {
                if !flag.set(condition) {
                    return Err(Error::raw(
                        ErrorKind::ArgumentConflict,
                        format!("--{name} is given twice for --asset {}", condition.asset_key),
                    ));
                }
            }
        }
    }
    Ok(vec![Group { name: String::new(), conditions }])
}

impl Flag {
    fn name(&self) -> &'static str {
        match self {
            Self::Asset(_) => ASSET,
            Self::MinSnapshot(_) => MIN_SNAPSHOT,
            Self::Since(_) => SINCE,
            Self::Alias(_) => ALIAS,
            Self::CommittedAfter(_) => COMMITTED_AFTER,
            Self::WatermarkGte(_) => WATERMARK_GTE,
            Self::MaxWatermarkLag(_) => MAX_WATERMARK_LAG,
            Self::Quality(_) => QUALITY,
            Self::Schema(_) => SCHEMA,
            Self::Tag(_) => TAG,
            Self::Assurance(_) => ASSURANCE,
            Self::Match(_) => MATCH,
            Self::Timezone(_) => TIMEZONE,
        }
    }

    /// Sets what the flag says; false when it was set before.
    fn set(self, to: &mut Condition) -> bool {
        match self {
            Self::Asset(asset_key) => mem::replace(&mut to.asset_key, asset_key).is_empty(),
            Self::MinSnapshot(id) => to.min_snapshot_id.replace(id).is_none(),
            Self::Alias(alias) => mem::replace(&mut to.alias, alias).is_empty(),
            Self::CommittedAfter(time) => mem::replace(&mut to.committed_after, time).is_empty(),
            Self::WatermarkGte(time) => mem::replace(&mut to.watermark_gte, time).is_empty(),
            Self::MaxWatermarkLag(lag) => {
                let seconds = i64::try_from(lag.as_secs()).unwrap_or(i64::MAX);
                to.max_watermark_lag_seconds.replace(seconds).is_none()
            }
            Self::Quality(status) => mem::replace(&mut to.quality_status, status.into()) == 0,
            Self::Schema(status) => mem::replace(&mut to.schema_status, status.into()) == 0,
            Self::Tag(tag) => mem::replace(&mut to.tag, tag).is_empty(),
            Self::Assurance(how) => mem::replace(&mut to.assurance, how.into()) == 0,
            Self::Match(which) => mem::replace(&mut to.r#match, which.into()) == 0,
            Self::Timezone(zone) => mem::replace(&mut to.timezone, zone).is_empty(),
            Self::Since(since) => {
                let first = to.since() == Since::Unspecified;
                to.set_since(match since.as_str() {
                    "registered" => Since::Registered,
                    _ => Since::Exists,
                });
                first
            }
        }
    }
}

/// Reads one of a few words.
fn word<W: Word>(text: &str) -> Result<W, String> {
    words::of(text).ok_or_else(|| format!("expected {}", words::list::<W>()))
}

/// Reads a snapshot id.
pub fn snapshot(text: &str) -> Result<i64, String> {
    match text.parse() {
        Ok(id) if id >= 0 => Ok(id),
        _ => Err(format!("a snapshot id is a whole number from 0 to {}", i64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser, Debug)]
    struct Probe {
        #[command(flatten)]
        conditions: ConditionArgs,
    }

    fn read(line: &str) -> Result<ConditionArgs, String> {
        let args = std::iter::once("probe").chain(line.split_whitespace());
        Probe::try_parse_from(args).map(|probe| probe.conditions).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_belong_to_the_asset_before_them() {
        let args = read(
            "--asset a --min-snapshot 9223372036854775807 --asset=b --alias x --since registered --asset c --min-snapshot=0 \
             --committed-after 20261130 --watermark-gte 20261130+1d --timezone +08:00",
        );
        let Ok(ConditionArgs::Flags(groups)) = args else {
            panic!("{args:?}");
        };
        let condition = |asset_key: &str| Condition {
            asset_key: asset_key.into(),
            snapshot_required: true,
            ..Condition::default()
        };
        let expected = vec![
            Condition { min_snapshot_id: Some(i64::MAX), ..condition("a") },
            Condition { alias: "x".into(), since: Since::Registered.into(), ..condition("b") },
            Condition {
                min_snapshot_id: Some(0),
                committed_after: "20261130".into(),
                watermark_gte: "20261130+1d".into(),
                timezone: "+08:00".into(),
                ..condition("c")
            },
        ];
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].conditions, expected);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (line, part) in [
            ("--min-snapshot 1 --asset a", "--min-snapshot stands before any --asset"),
            ("--alias x --asset a", "--alias stands before any --asset"),
            ("--asset a --min-snapshot 1 --min-snapshot 2", "--min-snapshot is given twice for --asset a"),
            ("--asset a --since exists --since exists", "--since is given twice"),
            ("--asset a --alias x --alias y", "--alias is given twice"),
            ("--asset a --watermark-gte 1 --watermark-gte 2", "--watermark-gte is given twice"),
            ("--asset a --condition-file f", "cannot be used with"),
            ("--condition-file f --alias x", "the file says it"),
            ("--asset a --since consumed", "[possible values: exists, registered]"),
            ("--asset=", "--asset"),
            ("", "--asset"),
        ] {
            let error = read(line).expect_err(line);
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn a_snapshot_id_out_of_range_names_the_range() {
        for id in ["-1", "9223372036854775808", "1e3", "x"] {
            let error = read(&format!("--asset a --min-snapshot {id}")).expect_err(id);
            assert!(error.contains(&format!("'{id}'")), "{error}");
            assert!(error.contains("--min-snapshot"), "{error}");
            assert!(error.contains("from 0 to 9223372036854775807"), "{error}");
        }
    }
}

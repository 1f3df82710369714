//! The command: its arguments, and what each part of it does.

mod assets;
mod condition_file;
mod conditions;
mod dolphinscheduler;
mod duration;
mod events;
mod failure;
mod help;
mod identity;
mod live;
mod report;
mod signals;
mod time;
mod troubles;
mod views;
mod wait;
mod watch;

use std::{
    io::{self, Write},
    process::ExitCode,
    time::{Duration, SystemTime},
};

use asset_sensor::{Client, DEFAULT_ENDPOINT, Endpoints, Settings};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use failure::Failure;

/// Waits for conditions on lakehouse tables, and shows what the asset agent knows of them.
#[derive(Debug, Parser)]
#[command(name = "asset-sensor", version, after_help = help::EXIT_CODES)]
pub struct Cli {
    /// Agents to ask, tried in turn: http://HOST:PORT or HOST:PORT, separated by commas
    #[arg(long, global = true, value_name = "URL[,URL…]", env = "ASSET_SENSOR_ENDPOINTS", default_value = DEFAULT_ENDPOINT)]
    endpoint: Endpoints,
    /// How results are printed; `dolphinscheduler` is for `wait` alone
    #[arg(long, global = true, value_enum, default_value_t = Output::Text)]
    output: Output,
    /// How long to try while no agent answers at all
    #[arg(long, global = true, value_name = "DURATION", default_value = "30s", value_parser = duration::parse, allow_hyphen_values = true)]
    connect_timeout: Duration,
    #[command(subcommand)]
    command: Command,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// For programs: JSON, one value a line
    Json,
    /// `${setValue(name=value)}` lines, so that a SHELL task hands the pinned versions on
    Dolphinscheduler,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Waits until conditions on assets hold
    #[command(after_help = help::WAIT, after_long_help = help::WAIT_LONG)]
    Wait(Box<wait::Args>),
    /// Shows the states of assets now and whenever one changes, until it is interrupted
    #[command(after_help = help::WATCH)]
    Watch {
        /// Assets; `*` matches inside a segment, `**` across them. None: all assets
        #[arg(value_name = "KEY")]
        keys: Vec<String>,
    },
    /// Shows what the agent knows of assets
    #[command(subcommand)]
    Assets(assets::Command),
    /// Tells the agent what happened to an asset
    #[command(subcommand, after_help = help::REPORT)]
    Report(report::Command),
    /// Shows what the agent learned, and what became of it
    #[command(subcommand)]
    Events(events::Command),
    /// Prints a completion script for a shell
    #[command(after_help = help::COMPLETION)]
    Completion {
        /// The shell
        shell: Shell,
    },
}

/// Tells the time.
type Clock = fn() -> SystemTime;

/// Does what the arguments say and returns the exit code that tells how it went.
pub fn run(cli: Cli, clock: Clock) -> ExitCode {
    match act(cli, clock, &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.say();
            ExitCode::from(failure.exit_code())
        }
    }
}

fn act(cli: Cli, clock: Clock, out: &mut dyn Write) -> Result<(), Failure> {
    if let Command::Completion { shell } = cli.command {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "asset-sensor", &mut script);
        out.write_all(&script)?;
        return Ok(out.flush()?);
    }
    let is_wait = matches!(cli.command, Command::Wait(_));
    if cli.output == Output::Dolphinscheduler && !is_wait {
        return Err(Failure::usage("--output dolphinscheduler is for `wait` alone; use text or json"));
    }
    let client =
        Client::new(&cli.endpoint, Settings { connect_timeout: cli.connect_timeout, ..Settings::default() });
    // Files and standard input are read before signals are caught, so that Ctrl-C ends that too.
    match cli.command {
        Command::Wait(args) => {
            let plan = args.plan(clock, cli.connect_timeout)?;
            signals::until_interrupted(wait::run(&client, plan, cli.output, out))
        }
        Command::Watch { keys } => signals::until_interrupted(watch::run(&client, keys, cli.output, out)),
        Command::Assets(command) => signals::until_interrupted(assets::run(client, command, cli.output, out)),
        Command::Report(command) => {
            let events = command.events(clock())?;
            signals::until_interrupted(report::run(client, events, cli.output, out))
        }
        Command::Events(command) => signals::until_interrupted(events::run(client, command, cli.output, out)),
        Command::Completion { .. } => Ok(()),
    }
}

/// Writes one JSON value as a line.
fn write_json(out: &mut dyn Write, value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut line = serde_json::to_vec(value).map_err(io::Error::from)?;
    line.push(b'\n');
    out.write_all(&line)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    fn refused(args: &[&str]) -> String {
        let args = ["asset-sensor"].iter().chain(args);
        let error = Cli::try_parse_from(args).expect_err("refused");
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    }

    #[test]
    fn a_bad_argument_names_the_flag_and_what_is_right() {
        for (args, parts) in [
            (
                &["wait", "--asset", "k", "--timeout", "-5s"][..],
                &["'-5s'", "--timeout", "`30s`, `5m` or `1h`"][..],
            ),
            (&["wait", "--asset", "k", "--connect-timeout", "5"], &["'5'", "--connect-timeout", "`30s`"]),
            (
                &["assets", "list", "--endpoint", "nowhere"],
                &["--endpoint", "`nowhere` is no agent address", "HOST:PORT"],
            ),
            (&["wait"], &["--asset", "--condition-file"]),
        ] {
            let error = refused(args);
            for part in parts {
                assert!(error.contains(part), "{part} in {error}");
            }
        }
    }

    #[test]
    fn only_wait_prints_for_dolphinscheduler() {
        let args = ["asset-sensor", "watch", "--output", "dolphinscheduler"];
        let cli = Cli::try_parse_from(args).expect("arguments");
        let failure = act(cli, || SystemTime::UNIX_EPOCH, &mut Vec::new()).expect_err("refused");
        assert_eq!(failure.exit_code(), 2);
    }

    #[test]
    fn completion_needs_no_agent() {
        let cli = Cli::try_parse_from(["asset-sensor", "completion", "bash"]).expect("arguments");
        let mut out = Vec::new();
        act(cli, || SystemTime::UNIX_EPOCH, &mut out).expect("script");
        assert!(String::from_utf8(out).expect("text").contains("condition-file"));
    }
}

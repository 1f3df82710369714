//! `asset-sensor wait`.

use std::{io::Write, time::Duration};

use asset_proto::v1::{PinnedVersion, ResolveDependencyResponse};
use asset_sensor::{Client, Deadline, WaitEvent, WaitRequest};

use super::{
    Clock, Output, condition_file,
    conditions::ConditionArgs,
    dolphinscheduler, duration,
    failure::Failure,
    identity::IdentityArgs,
    live::{Live, plain},
    time::{of_millis, rfc3339},
    troubles::Troubles,
    views::Outcome,
    write_json,
};

/// What to wait for, how long, and who waits.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    conditions: ConditionArgs,
    /// Give up after this long and exit with 124 [default: wait for ever]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, allow_hyphen_values = true)]
    timeout: Option<Duration>,
    #[command(flatten)]
    identity: IdentityArgs,
}

/// A wait that makes sense.
pub struct Plan {
    request: WaitRequest,
    timeout: Option<Duration>,
    clock: Clock,
    /// How long to try to acknowledge. An agent that can't be told repeats READY, which does no harm,
    /// so that is no reason to hold up the task.
    acknowledge_within: Duration,
}

impl Args {
    /// Reads what the arguments name, and checks that it makes sense.
    pub fn plan(self, clock: Clock, acknowledge_within: Duration) -> Result<Plan, Failure> {
        let identity = self.identity.identity()?;
        let groups = match self.conditions {
            ConditionArgs::Flags(groups) => groups,
            ConditionArgs::File(file) => condition_file::load(&file)?,
        };
        Ok(Plan {
            request: WaitRequest { groups, identity, deadline: None, language: language() },
            timeout: self.timeout,
            clock,
            acknowledge_within,
        })
    }
}

/// The language of the environment, as every program reads it: `zh_CN.UTF-8` asks for Chinese.
fn language() -> Option<String> {
    let set = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    Some(set?.split(['.', '@']).next()?.replace('_', "-"))
}

/// Waits, prints the outcome, and acknowledges it.
pub async fn run(client: &Client, plan: Plan, output: Output, out: &mut dyn Write) -> Result<(), Failure> {
    let mut live = Live::stderr();
    let mut troubles = Troubles::default();
    let mut request = plan.request;
    request.deadline = plan.timeout.map(|timeout| from_now(plan.clock, timeout)).transpose()?;
    let mut wait = client.wait(request);
    while let Some(event) = wait.next().await? {
        match event {
            WaitEvent::Blocked(verdict) => {
                troubles.answered();
                live.state(&format!("waiting: {}", sentence(&verdict)));
            }
            WaitEvent::Lost(trouble) => {
                if let Some(news) = troubles.lost(&trouble) {
                    live.happened(&news);
                }
            }
            WaitEvent::Back(endpoint) => live.happened(&troubles.back(&endpoint)),
            WaitEvent::Ready(answer) => {
                live.finish();
                for name in print(&answer, output, out)? {
                    live.happened(&format!(
                        "warning: two assets are handed on as asset_{name}; give one another --alias"
                    ));
                }
                let deadline = from_now(plan.clock, plan.acknowledge_within)?;
                return acknowledge(client, &answer.wait_id, deadline, &mut live).await;
            }
            WaitEvent::TimedOut(last) => {
                live.finish();
                if output == Output::Json {
                    write_json(out, &Outcome::timed_out(last.as_ref()))?;
                }
                let why = match &last {
                    Some(verdict) => sentence(verdict),
                    None => "no agent answered".to_owned(),
                };
                let waited = humantime::format_duration(plan.timeout.unwrap_or_default());
                return Err(Failure::TimedOut(format!("timed out after {waited}: {why}")));
            }
        }
    }
    // A wait ends with one of the events that return above.
    Err(Failure::TimedOut("the wait ended without an answer".into()))
}

fn from_now(clock: Clock, timeout: Duration) -> Result<Deadline, Failure> {
    Deadline::after(clock(), timeout).ok_or_else(|| {
        Failure::usage(format!(
            "{} from now lies beyond what this machine's clock can express",
            humantime::format_duration(timeout)
        ))
    })
}

/// What is missing, of every group that could end the wait.
fn sentence(verdict: &ResolveDependencyResponse) -> String {
    let several = verdict.groups.len() > 1;
    let groups: Vec<_> = verdict
        .groups
        .iter()
        .map(|group| {
            let missing: Vec<_> = group
                .conditions
                .iter()
                .filter(|condition| !condition.ready)
                .map(|condition| match condition.sentence.as_str() {
                    "" => format!("{} is not ready", condition.asset_key),
                    sentence => sentence.to_owned(),
                })
                .collect();
            let missing = missing.join("; ");
            match several {
                true => format!("{}: {missing}", group.name),
                false => missing,
            }
        })
        .collect();
    groups.join(" | or ")
}

/// Prints the pinned versions and flushes them. Returns names that two of them share.
fn print(
    answer: &ResolveDependencyResponse,
    output: Output,
    out: &mut dyn Write,
) -> Result<Vec<String>, Failure> {
    let mut shared = Vec::new();
    match output {
        Output::Json => write_json(out, &Outcome::ready(answer))?,
        Output::Dolphinscheduler => shared = dolphinscheduler::write(out, &answer.pinned)?,
        Output::Text if answer.pinned.is_empty() => writeln!(out, "READY")?,
        Output::Text => {
            for pin in &answer.pinned {
                writeln!(out, "{}", line(pin))?;
            }
        }
    }
    out.flush()?;
    Ok(shared)
}

fn line(pin: &PinnedVersion) -> String {
    let mut line = format!("READY {} snapshot {}", plain(&pin.asset_key), pin.snapshot_id);
    if let Some(at) = rfc3339(pin.commit_time.as_ref()) {
        line += &format!(" committed {at}");
    }
    if let Some(watermark) = pin.watermark {
        line += &format!(" watermark {}", of_millis(watermark));
    }
    line
}

/// Tells the agent, if it stored the wait. The outcome is printed by now: that it can't be told is
/// worth a warning, not a failure.
async fn acknowledge(
    client: &Client,
    wait_id: &str,
    deadline: Deadline,
    live: &mut Live<impl Write>,
) -> Result<(), Failure> {
    if wait_id.is_empty() {
        return Ok(());
    }
    if let Err(error) = client.acknowledge(wait_id, deadline).await {
        live.happened(&format!(
            "warning: the agent could not be told that READY was taken up, so the same task may get it once more: {error}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

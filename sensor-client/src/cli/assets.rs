//! `asset-sensor assets`.

use std::{
    io::{self, Write},
    sync::Mutex,
};

use asset_proto::v1::{
    AssetState, AssetVersion, GetAssetResponse, Ordering, RegisterAssetRequest, RewindAssetRequest,
};
use asset_sensor::Client;
use unicode_width::UnicodeWidthStr;

use super::{
    Output,
    conditions::snapshot,
    failure::Failure,
    live::{Live, plain, plain_lines},
    time::{of_millis, rfc3339},
    troubles::Troubles,
    views::{State, word},
    write_json,
};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Shows all assets in a table, ordered by key
    List,
    /// Shows the state of one asset, and how reading its table goes
    State {
        /// The asset, such as paimon://ods/orders
        key: String,
    },
    /// Registers an asset that no catalog of the agent has, so that it can be reported on
    Register {
        /// The asset, such as kafka://web/clicks
        key: String,
        /// What orders its versions [default: its first event says so]
        #[arg(long, value_enum, ignore_case = true)]
        ordering: Option<By>,
        /// What it is, for people
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        description: String,
    },
    /// Takes an asset that lives by reports back to one of its snapshots; starts nobody
    Rewind {
        /// The asset
        key: String,
        /// Native id of the snapshot that becomes the head
        #[arg(long, value_name = "N", value_parser = snapshot, allow_hyphen_values = true)]
        snapshot: i64,
        /// Why: kept with the event
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum By {
    /// Native snapshot ids
    Id,
    /// A number that the reporter counts up
    Sequence,
    /// When they were committed
    CommitTime,
    /// Their watermarks: nothing else is reported
    Watermark,
}

/// Asks and prints.
pub async fn run(
    client: Client,
    command: Command,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let said = Mutex::new((Live::stderr(), Troubles::default()));
    let client = client.on_trouble(move |trouble| {
        if let Ok(mut said) = said.lock()
            && let Some(news) = said.1.lost(trouble)
        {
            said.0.happened(&news);
        }
    });
    match command {
        Command::List => {
            let assets = client.list_assets().await?;
            if output == Output::Json {
                let states: Vec<_> = assets.iter().map(|asset| State::new(asset, None)).collect();
                return write_json(out, &states);
            }
            table(out, &assets)?;
        }
        Command::State { key } => {
            let answer = client.get_asset(&key).await?;
            let state = answer.state.clone().unwrap_or_default();
            if output == Output::Json {
                return write_json(out, &State::new(&state, answer.source.as_ref()));
            }
            details(out, &answer)?;
        }
        Command::Register { key, ordering, description } => {
            let ordering = match ordering {
                None => Ordering::Unspecified,
                Some(By::Id) => Ordering::Id,
                Some(By::Sequence) => Ordering::Sequence,
                Some(By::CommitTime) => Ordering::CommitTime,
                Some(By::Watermark) => Ordering::Watermark,
            };
            let request = RegisterAssetRequest { asset_key: key, ordering: ordering.into(), description };
            let answer = client.register_asset(request).await?;
            let said = if answer.created { "registered" } else { "was registered already" };
            show(out, output, answer.state.unwrap_or_default(), said)?;
        }
        Command::Rewind { key, snapshot, reason } => {
            let request = RewindAssetRequest { asset_key: key, snapshot_id: Some(snapshot), reason };
            let answer = client.rewind_asset(request).await?;
            show(out, output, answer.state.unwrap_or_default(), "rewound")?;
        }
    }
    Ok(out.flush()?)
}

fn show(out: &mut dyn Write, output: Output, state: AssetState, said: &str) -> Result<(), Failure> {
    if output == Output::Json {
        return write_json(out, &State::new(&state, None));
    }
    Ok(writeln!(out, "{} {said}, generation {}", plain(&state.asset_key), state.generation)?)
}

const HEADS: [&str; 6] = ["KEY", "SNAPSHOT", "DATA", "WATERMARK", "UPDATED", "HOLD"];

fn table(out: &mut dyn Write, assets: &[AssetState]) -> io::Result<()> {
    let snapshot = |version: &Option<AssetVersion>| match version {
        Some(version) => version.snapshot_id.to_string(),
        None => "-".to_owned(),
    };
    let mut rows = vec![HEADS.map(str::to_owned)];
    rows.extend(assets.iter().map(|asset| {
        let watermark = asset.latest_data.as_ref().and_then(|data| data.watermark);
        [
            plain(&asset.asset_key),
            snapshot(&asset.latest),
            snapshot(&asset.latest_data),
            watermark.map_or("-".to_owned(), of_millis),
            rfc3339(asset.update_time.as_ref()).unwrap_or("-".to_owned()),
            asset.hold.as_ref().map_or("-".to_owned(), |hold| plain(&hold.reason)),
        ]
    }));
    let widths: [usize; HEADS.len()] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or(0));
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let gap = " ".repeat(width - cell.width() + 2);
            line += cell;
            line += &gap;
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn details(out: &mut dyn Write, answer: &GetAssetResponse) -> io::Result<()> {
    let state = answer.state.clone().unwrap_or_default();
    let mut line = |name: &str, value: &str| writeln!(out, "{name:<15}{value}");
    line("asset", &plain(&state.asset_key))?;
    line("generation", &state.generation.to_string())?;
    line("snapshot", &version(state.latest.as_ref()))?;
    line("data snapshot", &version(state.latest_data.as_ref()))?;
    let watermark = state.latest_data.as_ref().and_then(|data| data.watermark);
    line("watermark", &watermark.map_or("none".to_owned(), of_millis))?;
    if let Some(said) = &state.quality {
        let status = word(said.status().as_str_name(), "QUALITY_").unwrap_or("unknown");
        let at = rfc3339(said.checked_at.as_ref()).unwrap_or_default();
        line("quality", &format!("{status} ({}, {at})", plain(&said.reporter)))?;
    }
    if let (Some(id), Some(status)) =
        (state.schema_id, word(state.schema_status().as_str_name(), "SCHEMA_STATUS_"))
    {
        line("schema", &format!("{id} {status}"))?;
    }
    if !state.latest_tag.is_empty() {
        line("latest tag", &plain(&state.latest_tag))?;
    }
    if let Some(status) =
        word(state.backfill_status().as_str_name(), "BACKFILL_STATUS_").filter(|word| *word != "NONE")
    {
        line("backfill", status)?;
    }
    if !state.ordering.is_empty() {
        line("ordered by", &plain(&state.ordering))?;
    }
    line("revision", &state.revision.to_string())?;
    if let Some(at) = rfc3339(state.update_time.as_ref()) {
        line("updated", &at)?;
    }
    if let Some(hold) = &state.hold {
        let since = since(hold.since.as_ref());
        line("on hold", &format!("{}{since}: {}", plain(&hold.reason), plain(&hold.sentence)))?;
    }
    let Some(source) = &answer.source else {
        return line("source", "not read by the agent that answered");
    };
    line("source", &format!("{} at {}", plain(&source.catalog), plain(&source.location)))?;
    let last_read = rfc3339(source.last_read.as_ref());
    line("last read", last_read.as_deref().unwrap_or("none since the agent started"))?;
    if !source.error.is_empty() {
        let since = since(source.failing_since.as_ref());
        let error = plain_lines(&source.error).replace('\n', &format!("\n{:<15}", ""));
        line("read fails", &format!("{error}{since}"))?;
    }
    Ok(())
}

fn since(at: Option<&prost_types::Timestamp>) -> String {
    rfc3339(at).map(|at| format!(" (since {at})")).unwrap_or_default()
}

fn version(version: Option<&AssetVersion>) -> String {
    let Some(version) = version else {
        return "none".to_owned();
    };
    let mut text = version.snapshot_id.to_string();
    if !version.commit_kind.is_empty() {
        text += &format!(" {}", plain(&version.commit_kind));
    }
    if let Some(at) = rfc3339(version.commit_time.as_ref()) {
        text += &format!(" committed {at}");
    }
    if let Some(at) = rfc3339(version.observed_at.as_ref()) {
        text += &format!(" observed {at}");
    }
    if let Some(schema) = version.schema_id {
        text += &format!(" schema {schema}");
    }
    text
}

#[cfg(test)]
mod tests;

//! `asset-sensor watch`.

use std::io::Write;

use asset_proto::v1::AssetState;
use asset_sensor::{Client, WatchEvent};

use super::{
    Output,
    failure::Failure,
    live::{Live, plain},
    time::{of_millis, rfc3339},
    troubles::Troubles,
    views::State,
    write_json,
};

/// Prints states as they come.
pub async fn run(
    client: &Client,
    keys: Vec<String>,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut live = Live::stderr();
    let mut troubles = Troubles::default();
    let mut watch = client.watch(keys);
    while let Some(event) = watch.next().await? {
        match event {
            WatchEvent::State(state) => {
                troubles.answered();
                if output == Output::Json {
                    write_json(out, &State::new(&state, None))?;
                } else {
                    writeln!(out, "{}", line(&state))?;
                    out.flush()?;
                }
            }
            WatchEvent::Lost(trouble) => {
                if let Some(news) = troubles.lost(&trouble) {
                    live.happened(&news);
                }
            }
            WatchEvent::Back(endpoint) => live.happened(&troubles.back(&endpoint)),
        }
    }
    Ok(())
}

fn line(state: &AssetState) -> String {
    let mut line = rfc3339(state.update_time.as_ref()).map(|at| format!("{at} ")).unwrap_or_default();
    line += &plain(&state.asset_key);
    line += &match &state.latest {
        Some(latest) => format!(" snapshot {}", latest.snapshot_id),
        None => " no snapshot".to_owned(),
    };
    if let Some(data) = &state.latest_data {
        line += &format!(" data {}", data.snapshot_id);
        if let Some(watermark) = data.watermark {
            line += &format!(" watermark {}", of_millis(watermark));
        }
    }
    if let Some(hold) = &state.hold {
        line += &format!(" on hold {}: {}", plain(&hold.reason), plain(&hold.sentence));
    }
    line
}

#[cfg(test)]
mod tests {
    use asset_proto::v1::{AssetHold, AssetVersion};

    use super::*;

    #[test]
    fn a_state_is_one_line() {
        let mut state = AssetState { asset_key: "paimon://lake/ods/orders".into(), ..AssetState::default() };
        assert_eq!(line(&state), "paimon://lake/ods/orders no snapshot");
        let version =
            |snapshot_id, watermark| AssetVersion { snapshot_id, watermark, ..AssetVersion::default() };
        state.latest = Some(version(8, None));
        state.latest_data = Some(version(7, Some(0)));
        state.update_time = Some(prost_types::Timestamp::default());
        state.hold = Some(AssetHold {
            reason: "REWOUND".into(),
            sentence: "snapshot 9 is gone\nnow".into(),
            since: None,
        });
        assert_eq!(
            line(&state),
            "1970-01-01T00:00:00Z paimon://lake/ods/orders snapshot 8 data 7 watermark 1970-01-01T00:00:00Z on hold REWOUND: snapshot 9 is gone now"
        );
    }
}

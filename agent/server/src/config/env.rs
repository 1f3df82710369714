//! Settings from the environment: `ASSET_AGENT__SERVER__LISTEN` sets `server.listen`.

use serde_json::{Map, Value};

/// What the names begin with.
pub const PREFIX: &str = "ASSET_AGENT__";

/// Lays the variables over a configuration. `__` goes one level down, `_` stands for `-`, and the
/// value is read as YAML reads a scalar.
pub fn overlay(
    root: &mut Map<String, Value>,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<(), EnvError> {
    for (name, text) in variables {
        let Some(path) = name.strip_prefix(PREFIX) else {
            continue;
        };
        let keys: Vec<String> =
            path.split("__").map(|key| key.to_ascii_lowercase().replace('_', "-")).collect();
        let value = serde_saphyr::from_str(&text).unwrap_or(Value::String(text));
        set(root, &keys, value).map_err(|()| EnvError { name })?;
    }
    Ok(())
}

/// A variable that leads nowhere.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("environment variable {name} goes below a setting that is no section")]
pub struct EnvError {
    name: String,
}

fn set(section: &mut Map<String, Value>, keys: &[String], value: Value) -> Result<(), ()> {
    match keys {
        [] => Err(()),
        [key] => {
            section.insert(key.clone(), value);
            Ok(())
        }
        [key, deeper @ ..] => {
            let below = section.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
            if below.is_null() {
                *below = Value::Object(Map::new());
            }
            set(below.as_object_mut().ok_or(())?, deeper, value)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn overlaid(mut root: Value, name: &str, text: &str) -> Result<Value, EnvError> {
        let map = root.as_object_mut().unwrap();
        overlay(map, [(name.to_owned(), text.to_owned())])?;
        Ok(root)
    }

    #[test]
    fn a_variable_sets_one_key_and_leaves_the_rest() {
        let root = json!({"server": {"listen": "127.0.0.1:1", "insecure": false}});
        let root = overlaid(root, "ASSET_AGENT__SERVER__LISTEN", "127.0.0.1:2").unwrap();
        assert_eq!(root, json!({"server": {"listen": "127.0.0.1:2", "insecure": false}}));
    }

    #[test]
    fn underscores_stand_for_dashes_and_values_have_types() {
        let name = "ASSET_AGENT__DOLPHINSCHEDULER__ASSET_EVENT_SCHEDULING__ENABLED";
        let root = overlaid(json!({}), name, "false").unwrap();
        assert_eq!(root, json!({"dolphinscheduler": {"asset-event-scheduling": {"enabled": false}}}));
        assert_eq!(overlaid(json!({}), "OTHER__A", "1").unwrap(), json!({}));
    }

    #[test]
    fn a_variable_below_a_scalar_is_refused() {
        let error = overlaid(json!({"log": 1}), "ASSET_AGENT__LOG__LEVEL", "info").unwrap_err();
        assert!(error.to_string().contains("ASSET_AGENT__LOG__LEVEL"));
    }
}

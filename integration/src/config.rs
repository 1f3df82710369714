//! Configurations of agents under test.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Value, json};

/// One Paimon catalog named `lake`, the default one, every table of it discovered, all pauses as short
/// as they can be set. A test changes what it is about. JSON is YAML.
pub fn of(address: SocketAddr, database: &Path, warehouse: &Path) -> Value {
    json!({
        "server": {"listen": address.to_string()},
        "database": {"url": format!("sqlite://{}", database.display())},
        "catalogs": [{
            "name": "lake",
            "format": "paimon",
            "warehouse": format!("file://{}", warehouse.display()),
            "default": true,
            "discover": true,
        }],
        "dolphinscheduler": {"asset-event-scheduling": {"event-source": {"paimon-polling": {
            "interval-seconds": 1,
            "idle-interval-seconds": 1,
            "discover-interval-seconds": 1,
        }}}},
    })
}

/// The polling section of [`of`].
pub fn polling(config: &mut Value) -> &mut Value {
    &mut config["dolphinscheduler"]["asset-event-scheduling"]["event-source"]["paimon-polling"]
}

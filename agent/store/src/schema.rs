//! Names of the tables, and the limits of one statement.

pub const ASSET: &str = "t_ds_asset";
pub const EVENT: &str = "t_ds_asset_event";
pub const VERSION: &str = "t_ds_asset_version";
pub const GENERATION: &str = "t_ds_asset_generation";
pub const QUALITY: &str = "t_ds_asset_quality";
pub const REPORTED_WATERMARK: &str = "t_ds_asset_reported_watermark";
pub const TAG: &str = "t_ds_asset_tag";
pub const SCHEMA: &str = "t_ds_asset_schema";
pub const BACKFILL: &str = "t_ds_asset_backfill";
pub const STATE: &str = "t_ds_asset_state";
pub const OFFSET: &str = "t_ds_asset_event_consumer_offset";
pub const WAIT: &str = "t_ds_asset_wait";
pub const WAIT_ASSET: &str = "t_ds_asset_wait_asset";
pub const MARK: &str = "t_ds_asset_mark";
pub const REVISION: &str = "t_ds_asset_revision";

/// What a poll is in `source_type`.
pub const POLL: &str = "POLL";
/// What a report is in `source_type`.
pub const PUSH: &str = "PUSH";
/// The only consumer group so far.
pub const CONSUMER_GROUP: &str = "default";

/// Rows of one multi-row statement: 25 columns of them stay below every database's limit of bound
/// values (SQLite's is 32,766).
pub const ROWS_A_STATEMENT: usize = 1_000;

/// Outcome of an event that waits for what it speaks of.
pub const PENDING: &str = "PENDING";

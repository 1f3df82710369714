-- Indexes as the statements need them. Each costs every event that comes in.

-- (asset_id, snapshot_id) serves what this one did.
DROP INDEX idx_asset_version_snapshot;
-- A commit that brought data carries itself: only maintenance has to be looked up by what it carries.
DROP INDEX idx_asset_version_data;
CREATE INDEX idx_asset_version_carrier ON t_ds_asset_version (asset_id, generation, data_ordinal)
    WHERE class = 'REWRITE';

-- The newest events of an asset.
DROP INDEX idx_asset_event_asset_snapshot;
CREATE INDEX idx_asset_event_asset ON t_ds_asset_event (asset_key, id);

-- Digests and native ids compare byte by byte, whatever language the database speaks.
ALTER TABLE t_ds_asset_event ALTER COLUMN dedupe_key TYPE VARCHAR(64) COLLATE "C";
ALTER TABLE t_ds_asset_version ALTER COLUMN fingerprint TYPE VARCHAR(256) COLLATE "C";
ALTER TABLE t_ds_asset_quality ALTER COLUMN fingerprint TYPE VARCHAR(256) COLLATE "C";
ALTER TABLE t_ds_asset_reported_watermark ALTER COLUMN fingerprint TYPE VARCHAR(256) COLLATE "C";
ALTER TABLE t_ds_asset_tag ALTER COLUMN name TYPE VARCHAR(128) COLLATE "C";
ALTER TABLE t_ds_asset_backfill ALTER COLUMN backfill_id TYPE VARCHAR(128) COLLATE "C";
ALTER TABLE t_ds_asset_wait ALTER COLUMN wait_id TYPE VARCHAR(36) COLLATE "C";
ALTER TABLE t_ds_asset_wait ALTER COLUMN identity_digest TYPE VARCHAR(64) COLLATE "C";
ALTER TABLE t_ds_asset_wait_asset ALTER COLUMN asset_digest TYPE VARCHAR(64) COLLATE "C";
ALTER TABLE t_ds_asset_wait_asset ALTER COLUMN wait_id TYPE VARCHAR(36) COLLATE "C";
ALTER TABLE t_ds_asset_mark ALTER COLUMN wait_id TYPE VARCHAR(36) COLLATE "C";

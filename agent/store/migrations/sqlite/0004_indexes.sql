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

-- Histories: a rollback, or another table under the name, begins the next generation of an asset.

CREATE TABLE t_ds_asset_generation (
    asset_id          BIGINT NOT NULL,
    generation        BIGINT NOT NULL,
    -- Where its base, the newest of its commits that was known before, stood before; null: none was.
    origin_generation BIGINT,
    origin_ordinal    BIGINT,
    PRIMARY KEY (asset_id, generation)
) WITHOUT ROWID;

-- Whether a commit was known in an earlier history.
CREATE INDEX idx_asset_version_fingerprint ON t_ds_asset_version (asset_id, fingerprint);

-- Histories that were on hold are followed now. Until the next read of such a table nobody is released
-- from it: it counts as gone.
UPDATE t_ds_asset_state SET hold_reason = 'ABSENT', hold_known_id = NULL, hold_found_id = NULL
WHERE hold_reason IS NOT NULL;

-- Histories: a rollback, or another table under the name, begins the next generation of an asset.

CREATE TABLE t_ds_asset_generation (
    asset_id          BIGINT NOT NULL,
    generation        BIGINT NOT NULL,
    -- Where its base, the newest of its commits that was known before, stood before; null: none was.
    origin_generation BIGINT,
    origin_ordinal    BIGINT,
    PRIMARY KEY (asset_id, generation)
);

-- Whether a commit was known in an earlier history.
CREATE INDEX idx_asset_version_fingerprint ON t_ds_asset_version (asset_id, fingerprint);

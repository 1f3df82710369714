-- What jobs and people report, and what else is known of versions: verdicts of checks, reported
-- watermarks, tags, schemas, backfills. Each is a register: the latest statement counts.

-- VERIFIED: read in the table; REPORTED: known by a report only.
ALTER TABLE t_ds_asset_version ADD COLUMN assurance VARCHAR(16) NOT NULL DEFAULT 'VERIFIED';
CREATE INDEX idx_asset_version_id ON t_ds_asset_version (asset_id, snapshot_id);
CREATE INDEX idx_asset_version_data ON t_ds_asset_version (asset_id, generation, data_ordinal);

-- 1: the generation began with another table under the name.
ALTER TABLE t_ds_asset_generation ADD COLUMN another_table TINYINT NOT NULL DEFAULT 0;
UPDATE t_ds_asset_generation SET another_table = 1 WHERE origin_generation IS NULL;

-- What orders the versions of an asset that is reported: ID, SEQUENCE, COMMIT_TIME or WATERMARK.
ALTER TABLE t_ds_asset_state ADD COLUMN ordering_kind VARCHAR(16);
-- Newest schema at first sight; newest schema of all, of the table that began with that generation.
ALTER TABLE t_ds_asset_state ADD COLUMN first_schema_id BIGINT;
ALTER TABLE t_ds_asset_state ADD COLUMN schema_generation BIGINT;
UPDATE t_ds_asset_state SET first_schema_id = latest_schema_id, schema_generation = 1
WHERE latest_schema_id IS NOT NULL;

ALTER TABLE t_ds_asset_event ADD COLUMN reporter VARCHAR(128);
-- When it happened, by the reporter's clock.
ALTER TABLE t_ds_asset_event ADD COLUMN event_time BIGINT;
-- SHA-256 over what it says: of two with one dedupe_key it tells a duplicate from a conflict.
ALTER TABLE t_ds_asset_event ADD COLUMN content_digest CHAR(64);
ALTER TABLE t_ds_asset_event ADD COLUMN tag VARCHAR(128);
CREATE INDEX idx_asset_event_pending ON t_ds_asset_event (asset_key) WHERE outcome = 'PENDING';

-- What checks said of a commit.
CREATE TABLE t_ds_asset_quality (
    asset_id    BIGINT       NOT NULL,
    fingerprint VARCHAR(256) NOT NULL,
    -- PASSED or FAILED.
    status      VARCHAR(16)  NOT NULL,
    said_at     BIGINT       NOT NULL,
    reporter    VARCHAR(128) NOT NULL,
    dedupe_key  CHAR(64)     NOT NULL,
    PRIMARY KEY (asset_id, fingerprint)
) WITHOUT ROWID;

-- The greatest watermark that was reported of a commit.
CREATE TABLE t_ds_asset_reported_watermark (
    asset_id    BIGINT       NOT NULL,
    fingerprint VARCHAR(256) NOT NULL,
    watermark   BIGINT       NOT NULL,
    PRIMARY KEY (asset_id, fingerprint)
) WITHOUT ROWID;

-- Tags, each with all of the commit that it names; a tag that was deleted has none.
CREATE TABLE t_ds_asset_tag (
    asset_id           BIGINT       NOT NULL,
    name               VARCHAR(128) NOT NULL,
    ordinal            BIGINT,
    class              VARCHAR(16),
    snapshot_id        BIGINT,
    fingerprint        VARCHAR(256),
    commit_kind        VARCHAR(32),
    commit_time        BIGINT,
    schema_id          BIGINT,
    watermark          BIGINT,
    delta_record_count BIGINT,
    said_at            BIGINT       NOT NULL,
    reporter           VARCHAR(128) NOT NULL,
    dedupe_key         VARCHAR(64)  NOT NULL,
    PRIMARY KEY (asset_id, name)
) WITHOUT ROWID;

-- What people decided about schemas, of the table that began with a generation.
CREATE TABLE t_ds_asset_schema (
    asset_id         BIGINT       NOT NULL,
    table_generation BIGINT       NOT NULL,
    schema_id        BIGINT       NOT NULL,
    -- APPROVED or REJECTED.
    decision         VARCHAR(16)  NOT NULL,
    said_at          BIGINT       NOT NULL,
    reporter         VARCHAR(128) NOT NULL,
    dedupe_key       CHAR(64)     NOT NULL,
    PRIMARY KEY (asset_id, table_generation, schema_id)
) WITHOUT ROWID;

CREATE TABLE t_ds_asset_backfill (
    asset_id    BIGINT       NOT NULL,
    backfill_id VARCHAR(128) NOT NULL,
    -- RUNNING or COMPLETED.
    status      VARCHAR(16)  NOT NULL,
    range_from  BIGINT,
    range_to    BIGINT,
    started_at  BIGINT,
    said_at     BIGINT       NOT NULL,
    reporter    VARCHAR(128) NOT NULL,
    dedupe_key  CHAR(64)     NOT NULL,
    PRIMARY KEY (asset_id, backfill_id)
) WITHOUT ROWID;

-- Tables of the asset agent. Names and columns of t_ds_asset, _event, _state and
-- _event_consumer_offset are the RFC's; what was added stands behind them. Everything that is compared
-- is a BIGINT of epoch milliseconds; create_time and update_time are for people, in UTC.

CREATE TABLE t_ds_asset (
    id             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    asset_key      VARCHAR(512) COLLATE "C" NOT NULL,
    storage_format VARCHAR(32)  NOT NULL,
    catalog_name   VARCHAR(128) NOT NULL,
    database_name  VARCHAR(128) NOT NULL,
    table_name     VARCHAR(128) NOT NULL,
    partition_expr VARCHAR(256),
    description    VARCHAR(512),
    create_time    TIMESTAMP     NOT NULL,
    update_time    TIMESTAMP     NOT NULL,
    UNIQUE (asset_key)
);

-- Evidence: what was learned, and what became of it. Never read to decide.
CREATE TABLE t_ds_asset_event (
    id                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id           VARCHAR(128) NOT NULL,
    source_type        VARCHAR(16)  NOT NULL,
    asset_key          VARCHAR(512) COLLATE "C" NOT NULL,
    event_type         VARCHAR(32)  NOT NULL,
    snapshot_id        BIGINT,
    schema_id          BIGINT,
    watermark          BIGINT,
    commit_kind        VARCHAR(32),
    commit_time        BIGINT,
    delta_record_count BIGINT,
    schema_changed     BIGINT,
    payload            TEXT,
    receive_time       BIGINT       NOT NULL,
    create_time        TIMESTAMP     NOT NULL,
    -- SHA-256 over what makes two events the same one, see asset-core.
    dedupe_key         VARCHAR(64)     NOT NULL,
    generation         BIGINT,
    ordinal            BIGINT,
    -- GAP_DETECTED: the missing ordinals are first_ordinal..=ordinal.
    first_ordinal      BIGINT,
    fingerprint        VARCHAR(256),
    outcome            VARCHAR(16)  NOT NULL,
    outcome_reason     VARCHAR(64),
    revision           BIGINT       NOT NULL,
    UNIQUE (dedupe_key)
);
CREATE INDEX idx_asset_event_asset_snapshot ON t_ds_asset_event (asset_key, snapshot_id);
CREATE INDEX idx_asset_event_type_time ON t_ds_asset_event (event_type, receive_time);

-- The version log: the truth about commits.
CREATE TABLE t_ds_asset_version (
    asset_id            BIGINT      NOT NULL,
    generation          BIGINT      NOT NULL,
    ordinal             BIGINT      NOT NULL,
    -- ADVANCE, REWRITE or GAP; a gap has first_ordinal and no commit.
    class               VARCHAR(16) NOT NULL,
    first_ordinal       BIGINT,
    snapshot_id         BIGINT,
    fingerprint         VARCHAR(256),
    commit_kind         VARCHAR(32),
    commit_time         BIGINT,
    schema_id           BIGINT,
    watermark           BIGINT,
    delta_record_count  BIGINT,
    data_ordinal        BIGINT,
    effective_watermark BIGINT,
    readable            BIGINT     NOT NULL,
    observed_at         BIGINT      NOT NULL,
    PRIMARY KEY (asset_id, generation, ordinal)
);
CREATE INDEX idx_asset_version_snapshot ON t_ds_asset_version (asset_id, generation, snapshot_id);

-- The log's projection, for people and for the RFC's readers.
CREATE TABLE t_ds_asset_state (
    id                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    asset_key          VARCHAR(512) COLLATE "C" NOT NULL,
    latest_snapshot_id BIGINT,
    latest_schema_id   BIGINT,
    latest_watermark   BIGINT,
    latest_tag         VARCHAR(128),
    quality_status     VARCHAR(16) DEFAULT 'UNKNOWN',
    schema_status      VARCHAR(32) DEFAULT 'UNKNOWN',
    backfill_status    VARCHAR(16) DEFAULT 'NONE',
    -- Lock version: counts the changes of this asset.
    version            BIGINT      NOT NULL DEFAULT 0,
    update_time        TIMESTAMP    NOT NULL,
    asset_id           BIGINT      NOT NULL,
    generation         BIGINT      NOT NULL,
    latest_ordinal     BIGINT,
    data_ordinal       BIGINT,
    data_snapshot_id   BIGINT,
    -- Head at the first successful read; null: the table had none.
    first_generation   BIGINT,
    first_ordinal      BIGINT,
    -- REWOUND, RECREATED or ABSENT while the history is on hold.
    hold_reason        VARCHAR(16),
    hold_known_id      BIGINT,
    hold_found_id      BIGINT,
    hold_since         BIGINT,
    revision           BIGINT      NOT NULL,
    changed_at         BIGINT      NOT NULL,
    UNIQUE (asset_key)
);
CREATE INDEX idx_asset_state_asset ON t_ds_asset_state (asset_id);
CREATE INDEX idx_asset_state_revision ON t_ds_asset_state (revision);

-- How far each source has read each table.
CREATE TABLE t_ds_asset_event_consumer_offset (
    id               BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_type      VARCHAR(16)  NOT NULL,
    asset_key        VARCHAR(512) COLLATE "C" NOT NULL,
    consumer_group   VARCHAR(64)  NOT NULL DEFAULT 'default',
    last_snapshot_id BIGINT,
    last_scan_time   TIMESTAMP,
    -- The source's own cursor; what it means is the format's business.
    source_cursor    TEXT         NOT NULL,
    -- 0: the catalog was read and has no such table, and never had while this agent looked.
    present          BIGINT      NOT NULL,
    lock_version     BIGINT       NOT NULL,
    UNIQUE (source_type, asset_key, consumer_group)
);

-- Waits with identity.
CREATE TABLE t_ds_asset_wait (
    wait_id                  VARCHAR(36)     NOT NULL PRIMARY KEY,
    scheduler_name           VARCHAR(64)  NOT NULL,
    project_code             BIGINT       NOT NULL,
    workflow_definition_code BIGINT       NOT NULL,
    task_definition_code     BIGINT       NOT NULL,
    workflow_instance_id     BIGINT       NOT NULL,
    task_name                VARCHAR(255) NOT NULL,
    identity_digest          VARCHAR(64)     NOT NULL,
    condition_json           TEXT         NOT NULL,
    condition_digest         VARCHAR(64)     NOT NULL,
    baselines                TEXT         NOT NULL,
    -- OPEN, READY or ACKNOWLEDGED.
    status                   VARCHAR(16)  NOT NULL,
    pinned                   TEXT,
    ready_revision           BIGINT,
    ready_at                 BIGINT,
    deadline                 BIGINT,
    registered_at            BIGINT       NOT NULL,
    last_seen_at             BIGINT       NOT NULL,
    acknowledged_at          BIGINT,
    lock_version             BIGINT       NOT NULL,
    create_time              TIMESTAMP     NOT NULL,
    update_time              TIMESTAMP     NOT NULL
);
CREATE INDEX idx_asset_wait_identity ON t_ds_asset_wait (identity_digest, condition_digest, status);
CREATE INDEX idx_asset_wait_status ON t_ds_asset_wait (status);

-- Which open waits look at an asset.
CREATE TABLE t_ds_asset_wait_asset (
    asset_digest VARCHAR(64) NOT NULL,
    wait_id      VARCHAR(36) NOT NULL,
    PRIMARY KEY (asset_digest, wait_id)
);
CREATE INDEX idx_asset_wait_asset_wait ON t_ds_asset_wait_asset (wait_id);

-- Waits whose assets moved since they were last evaluated.
CREATE TABLE t_ds_asset_mark (
    wait_id  VARCHAR(36) NOT NULL PRIMARY KEY,
    revision BIGINT   NOT NULL
);

-- The store-wide counter: one row, locked first by every writing transaction.
CREATE TABLE t_ds_asset_revision (
    id       BIGINT NOT NULL PRIMARY KEY,
    revision BIGINT  NOT NULL
);
INSERT INTO t_ds_asset_revision (id, revision) VALUES (1, 0);

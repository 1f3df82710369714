package asset.integration.paimon;

import java.util.List;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.types.RowKind;

/** Commits as a batch job makes them: a new commit user each time, and the highest identifier. */
final class BatchCommits {
    private final Tables tables;
    private final Rows rows;

    BatchCommits(Tables tables, Rows rows) {
        this.tables = tables;
        this.rows = rows;
    }

    ObjectNode write(Request request) throws Exception {
        FileStoreTable table = tables.get(request.text("table"));
        return commit(request, table, table.newBatchWriteBuilder(), RowKind.INSERT);
    }

    ObjectNode delete(Request request) throws Exception {
        FileStoreTable table = tables.get(request.text("table"));
        if (table.primaryKeys().isEmpty()) {
            throw new Refused("delete needs a table with primary keys");
        }
        return commit(request, table, table.newBatchWriteBuilder(), RowKind.DELETE);
    }

    ObjectNode overwrite(Request request) throws Exception {
        FileStoreTable table = tables.get(request.text("table"));
        BatchWriteBuilder builder = table.newBatchWriteBuilder().withOverwrite(request.map("partition"));
        return commit(request, table, builder, RowKind.INSERT);
    }

    ObjectNode truncate(Request request) throws Exception {
        FileStoreTable table = tables.get(request.text("table"));
        try (BatchTableCommit commit = table.newBatchWriteBuilder().newCommit()) {
            commit.truncateTable();
            return Committed.now(table);
        }
    }

    /** A full compaction by a job of its own: one COMPACT snapshot, if there is anything to do. */
    ObjectNode compact(Request request) throws Exception {
        FileStoreTable table = tables.get(request.text("table"));
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = builder.newCommit()) {
            write.withIOManager(tables.spill());
            commit.commit(Compaction.isUnaware(table) ? Compaction.ofUnaware(table) : compacted(table, write));
            return Committed.now(table);
        }
    }

    private static List<CommitMessage> compacted(FileStoreTable table, BatchTableWrite write) throws Exception {
        Compaction.everyBucket(table, write);
        return write.prepareCommit();
    }

    private ObjectNode commit(Request request, FileStoreTable table, BatchWriteBuilder builder, RowKind kind)
            throws Exception {
        if (request.has("watermark")) {
            throw new Refused("a batch commit has no watermark: use stream_append");
        }
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = builder.newCommit()) {
            write.withIOManager(tables.spill());
            for (GenericRow row : rows.of(request, table, kind)) {
                write.write(row);
            }
            commit.commit(write.prepareCommit());
            return Committed.now(table);
        }
    }
}

package asset.integration.paimon;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.StreamTableWrite;
import org.apache.paimon.table.sink.StreamWriteBuilder;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.types.RowKind;

/**
 * Commits as a streaming job makes them: one commit user a table, identifiers that count up, a
 * watermark, and a snapshot even when a checkpoint brought no rows.
 */
final class StreamCommits {
    private final Tables tables;
    private final Rows rows;
    private final Map<String, Job> jobs = new HashMap<>();

    StreamCommits(Tables tables, Rows rows) {
        this.tables = tables;
        this.rows = rows;
    }

    /** One checkpoint: rows (none is allowed), then a full compaction if {@code compact} is true. */
    ObjectNode append(Request request) throws Exception {
        Job job = job(request);
        for (GenericRow row : rows.of(request, job.table, RowKind.INSERT)) {
            job.write.write(row);
        }
        if (request.has("compact") && request.json().get("compact").asBoolean()) {
            job.compactBuckets();
        }
        return job.checkpoint(request.numberOrNull("watermark"));
    }

    void close(String table) throws Exception {
        Job job = jobs.remove(table);
        if (job != null) {
            job.close();
        }
    }

    void closeAll() throws Exception {
        for (String table : List.copyOf(jobs.keySet())) {
            close(table);
        }
    }

    private Job job(Request request) throws Exception {
        String name = request.text("table");
        Job job = jobs.get(name);
        if (job == null) {
            job = new Job(tables.get(name), tables.spill());
            jobs.put(name, job);
        }
        return job;
    }

    /** The writer and committer of one table, with the identifier of the last checkpoint. */
    private static final class Job {
        private final FileStoreTable table;
        private final StreamTableWrite write;
        private final TableCommitImpl commit;
        private long identifier;

        Job(FileStoreTable table, IOManager spill) {
            this.table = table;
            StreamWriteBuilder builder =
                    table.newStreamWriteBuilder().withCommitUser("stream-" + UUID.randomUUID());
            this.write = builder.newWrite();
            this.commit = (TableCommitImpl) builder.newCommit();
            write.withIOManager(spill);
        }

        void compactBuckets() throws Exception {
            if (Compaction.isUnaware(table)) {
                throw new Refused("a table without buckets is compacted by a job of its own: use compact");
            }
            Compaction.everyBucket(table, write);
        }

        ObjectNode checkpoint(Long watermark) throws Exception {
            identifier++;
            ManifestCommittable committable = new ManifestCommittable(identifier, watermark);
            for (CommitMessage message : write.prepareCommit(true, identifier)) {
                committable.addFileCommittable(message);
            }
            commit.commitMultiple(List.of(committable), false);
            return Committed.now(table);
        }

        void close() throws Exception {
            write.close();
            commit.close();
        }
    }
}

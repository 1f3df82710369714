package asset.integration.paimon;

import java.util.ArrayList;
import java.util.List;
import org.apache.paimon.append.AppendCompactCoordinator;
import org.apache.paimon.append.AppendCompactTask;
import org.apache.paimon.manifest.BucketEntry;
import org.apache.paimon.operation.BaseAppendFileStoreWrite;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.TableWrite;

/** Full compactions; the way differs with the table's buckets. */
final class Compaction {
    private Compaction() {}

    static boolean isUnaware(FileStoreTable table) {
        return table.bucketMode() == BucketMode.BUCKET_UNAWARE;
    }

    /** Buckets: the table's own writer rewrites each; its next prepareCommit carries the result. */
    static void everyBucket(FileStoreTable table, TableWrite write) throws Exception {
        for (BucketEntry entry : table.newSnapshotReader().bucketEntries()) {
            write.compact(entry.partition(), entry.bucket(), true);
        }
    }

    /** No buckets (append tables): a coordinator plans which small files are merged. */
    static List<CommitMessage> ofUnaware(FileStoreTable table) throws Exception {
        List<CommitMessage> messages = new ArrayList<>();
        BaseAppendFileStoreWrite write = (BaseAppendFileStoreWrite) table.store().newWrite("compaction");
        try {
            for (AppendCompactTask task : new AppendCompactCoordinator(table, false).run()) {
                messages.add(task.doCompact(table, write));
            }
        } finally {
            write.close();
        }
        return messages;
    }
}

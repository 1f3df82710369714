package asset.integration.paimon;

import org.apache.paimon.Snapshot;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;

/** The answer to a commit. */
final class Committed {
    private Committed() {}

    /** Called directly after the commit: the clock is read before the new snapshot is looked up. */
    static ObjectNode now(FileStoreTable table) {
        long now = System.currentTimeMillis();
        ObjectNode answer = JsonLines.MAPPER.createObjectNode();
        answer.put("committed_at_ms", now);
        Snapshot latest = table.snapshotManager().latestSnapshot();
        if (latest == null) {
            answer.putNull("snapshot_id");
        } else {
            answer.put("snapshot_id", latest.id());
        }
        return answer;
    }
}

package asset.integration.paimon;

import java.time.Duration;
import java.util.Comparator;
import java.util.Iterator;
import org.apache.paimon.Snapshot;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;

/** Tags, branches, rollback, expiry, and what the library itself reports about its snapshots. */
final class History {
    private final Tables tables;

    History(Tables tables) {
        this.tables = tables;
    }

    ObjectNode createTag(Request request) throws Exception {
        FileStoreTable table = tables.get(request.text("table"));
        if (request.has("snapshot")) {
            table.createTag(request.text("tag"), request.number("snapshot", 0));
        } else {
            table.createTag(request.text("tag"));
        }
        return JsonLines.MAPPER.createObjectNode();
    }

    ObjectNode deleteTag(Request request) throws Exception {
        tables.get(request.text("table")).deleteTag(request.text("tag"));
        return JsonLines.MAPPER.createObjectNode().put("deleted", true);
    }

    ObjectNode tags(Request request) throws Exception {
        ObjectNode answer = JsonLines.MAPPER.createObjectNode();
        ObjectNode tags = answer.putObject("tags");
        tables.get(request.text("table"))
                .tagManager()
                .tags()
                .forEach((snapshot, names) -> names.forEach(name -> tags.put(name, snapshot.id())));
        return answer;
    }

    ObjectNode rollback(Request request) throws Exception {
        FileStoreTable table = tables.get(request.text("table"));
        if (request.has("snapshot")) {
            table.rollbackTo(request.number("snapshot", 0));
        } else {
            table.rollbackTo(request.text("tag"));
        }
        return Committed.now(table);
    }

    ObjectNode createBranch(Request request) throws Exception {
        FileStoreTable table = tables.get(request.text("table"));
        if (request.has("tag")) {
            table.createBranch(request.text("branch"), request.text("tag"));
        } else {
            table.createBranch(request.text("branch"));
        }
        return JsonLines.MAPPER.createObjectNode();
    }

    ObjectNode fastForward(Request request) throws Exception {
        String name = request.text("table");
        tables.get(name).fastForward(request.text("branch"));
        tables.forget(name);
        return Committed.now(tables.get(name));
    }

    /** Keeps the newest {@code retain} snapshots, whatever the age of the others. */
    ObjectNode expire(Request request) throws Exception {
        ExpireConfig config = ExpireConfig.builder()
                .snapshotRetainMin((int) request.number("retain", 1))
                .snapshotRetainMax((int) request.number("retain", 1))
                .snapshotTimeRetain(Duration.ZERO)
                .build();
        int expired = tables.get(request.text("table"))
                .newExpireSnapshots()
                .config(config)
                .expire();
        return JsonLines.MAPPER.createObjectNode().put("expired", expired);
    }

    ObjectNode snapshots(Request request) throws Exception {
        ObjectNode answer = JsonLines.MAPPER.createObjectNode();
        ArrayNode list = answer.putArray("snapshots");
        Iterator<Snapshot> found = tables.get(request.text("table")).snapshotManager().safelyGetAllSnapshots().stream()
                .sorted(Comparator.comparingLong(Snapshot::id))
                .iterator();
        while (found.hasNext()) {
            report(found.next(), list.addObject());
        }
        return answer;
    }

    private static void report(Snapshot snapshot, ObjectNode into) {
        into.put("id", snapshot.id());
        into.put("kind", snapshot.commitKind().toString());
        into.put("schema_id", snapshot.schemaId());
        into.put("commit_user", snapshot.commitUser());
        into.put("commit_identifier", snapshot.commitIdentifier());
        into.put("time_ms", snapshot.timeMillis());
        into.put("watermark", snapshot.watermark());
        // This version of the library writes no snapshot uuid.
        into.putNull("uuid");
        into.put("delta_manifest_list", snapshot.deltaManifestList());
        into.put("total_records", snapshot.totalRecordCount());
        into.put("delta_records", snapshot.deltaRecordCount());
    }
}

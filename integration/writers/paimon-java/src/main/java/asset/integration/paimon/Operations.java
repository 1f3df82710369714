package asset.integration.paimon;

import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/** From the name of an operation to the class that does it. */
final class Operations {
    private final Tables tables;
    private final BatchCommits batch;
    private final StreamCommits stream;
    private final History history;

    Operations(Tables tables) {
        this.tables = tables;
        Rows rows = new Rows();
        this.batch = new BatchCommits(tables, rows);
        this.stream = new StreamCommits(tables, rows);
        this.history = new History(tables);
    }

    ObjectNode run(Request request) throws Exception {
        String op = request.text("op");
        switch (op) {
            case "hello":
                return hello();
            case "create_database":
                return tables.createDatabase(request);
            case "drop_database":
                stream.closeAll();
                return tables.dropDatabase(request);
            case "create_table":
                return tables.createTable(request);
            case "drop_table":
                stream.close(request.text("table"));
                return tables.dropTable(request);
            case "add_column":
                stream.close(request.text("table"));
                return tables.addColumn(request);
            case "append":
            case "upsert":
                return batch.write(request);
            case "delete":
                return batch.delete(request);
            case "overwrite":
                return batch.overwrite(request);
            case "truncate":
                return batch.truncate(request);
            case "compact":
                return batch.compact(request);
            case "stream_append":
                return stream.append(request);
            case "stream_close":
                stream.close(request.text("table"));
                return JsonLines.MAPPER.createObjectNode();
            case "create_tag":
                return history.createTag(request);
            case "delete_tag":
                return history.deleteTag(request);
            case "tags":
                return history.tags(request);
            case "rollback":
                stream.close(request.text("table"));
                return history.rollback(request);
            case "create_branch":
                return history.createBranch(request);
            case "fast_forward":
                stream.close(request.text("table"));
                return history.fastForward(request);
            case "expire":
                return history.expire(request);
            case "snapshots":
                return history.snapshots(request);
            default:
                throw new Refused("this writer has no operation '" + op + "'");
        }
    }

    private static ObjectNode hello() {
        ObjectNode answer = JsonLines.MAPPER.createObjectNode();
        answer.put("library", "paimon-java");
        answer.put("version", org.apache.paimon.catalog.Catalog.class.getPackage().getImplementationVersion());
        return answer;
    }
}

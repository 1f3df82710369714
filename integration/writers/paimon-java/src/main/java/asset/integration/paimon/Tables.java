package asset.integration.paimon;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.CatalogFactory;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.options.Options;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeJsonParser;

/** The catalog, and the handles of its tables. */
final class Tables implements AutoCloseable {
    private final Catalog catalog;
    private final IOManager spill = IOManager.create(System.getProperty("java.io.tmpdir"));
    private final Map<String, FileStoreTable> handles = new HashMap<>();

    Tables(String warehouse) {
        Options options = new Options();
        options.set("warehouse", warehouse);
        // Snapshot ids come again after a rollback, and other writers share the tables: a cache of
        // snapshots by path would answer with the old ones.
        options.set("cache-enabled", "false");
        this.catalog = CatalogFactory.createCatalog(CatalogContext.create(options));
    }

    /** A handle carries its schema, so it is kept until something changes that schema. */
    FileStoreTable get(String name) throws Catalog.TableNotExistException {
        FileStoreTable known = handles.get(name);
        if (known == null) {
            known = (FileStoreTable) catalog.getTable(Identifier.fromString(name));
            handles.put(name, known);
        }
        return known;
    }

    /** Where writers put what they cannot keep in memory. */
    IOManager spill() {
        return spill;
    }

    /** Forgets a table and its branches. */
    void forget(String name) {
        String base = name.split("\\$")[0];
        handles.keySet().removeIf(known -> known.split("\\$")[0].equals(base));
    }

    ObjectNode createDatabase(Request request) throws Exception {
        catalog.createDatabase(request.text("database"), true);
        return JsonLines.MAPPER.createObjectNode();
    }

    ObjectNode dropDatabase(Request request) throws Exception {
        handles.clear();
        catalog.dropDatabase(request.text("database"), false, true);
        return JsonLines.MAPPER.createObjectNode();
    }

    ObjectNode createTable(Request request) throws Exception {
        String name = request.text("table");
        Identifier identifier = Identifier.fromString(name);
        List<String> keys = request.texts("primary_keys");
        Map<String, String> options = request.map("options");
        // One fixed bucket lets rows be written without a bucket assigner.
        options.putIfAbsent("bucket", keys.isEmpty() ? "-1" : "1");
        Schema.Builder schema = Schema.newBuilder().options(options);
        for (Map.Entry<String, String> column : request.columns().entrySet()) {
            DataType type = DataTypeJsonParser.parseAtomicTypeSQLString(column.getValue());
            schema.column(column.getKey(), keys.contains(column.getKey()) ? type.notNull() : type);
        }
        if (!keys.isEmpty()) {
            schema.primaryKey(keys);
        }
        schema.partitionKeys(request.texts("partition_keys"));
        catalog.createDatabase(identifier.getDatabaseName(), true);
        catalog.createTable(identifier, schema.build(), false);
        forget(name);
        return schemaId(name);
    }

    ObjectNode dropTable(Request request) throws Exception {
        catalog.dropTable(Identifier.fromString(request.text("table")), false);
        forget(request.text("table"));
        return JsonLines.MAPPER.createObjectNode();
    }

    ObjectNode addColumn(Request request) throws Exception {
        String name = request.text("table");
        DataType type = DataTypeJsonParser.parseAtomicTypeSQLString(request.text("type"));
        catalog.alterTable(
                Identifier.fromString(name), List.of(SchemaChange.addColumn(request.text("column"), type)), false);
        forget(name);
        return schemaId(name);
    }

    private ObjectNode schemaId(String name) throws Exception {
        ObjectNode answer = JsonLines.MAPPER.createObjectNode();
        answer.put("schema_id", get(name).schema().id());
        return answer;
    }

    @Override
    public void close() throws Exception {
        spill.close();
        catalog.close();
    }
}

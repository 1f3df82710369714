package asset.integration.paimon;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.table.Table;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.RowKind;

/** Makes rows: every column's value comes from the row's id, unless the request fixes it. */
final class Rows {
    /** Where appends go on counting, by table, so that primary keys do not collide. */
    private final Map<String, Long> nextIds = new HashMap<>();

    /** The rows of a request: the {@code ids} it names, or the next {@code rows} ones. */
    List<GenericRow> of(Request request, Table table, RowKind kind) {
        List<GenericRow> made = new ArrayList<>();
        for (long id : ids(request)) {
            GenericRow row = new GenericRow(kind, table.rowType().getFieldCount());
            int position = 0;
            for (DataField field : table.rowType().getFields()) {
                row.setField(position++, value(field, id, request.map("set").get(field.name())));
            }
            made.add(row);
        }
        return made;
    }

    private List<Long> ids(Request request) {
        if (request.has("ids")) {
            return request.numbers("ids");
        }
        String table = request.text("table");
        long first = request.number("first_id", nextIds.getOrDefault(table, 1L));
        long count = request.number("rows", 1);
        nextIds.put(table, first + count);
        List<Long> ids = new ArrayList<>();
        for (long id = first; id < first + count; id++) {
            ids.add(id);
        }
        return ids;
    }

    private static Object value(DataField field, long id, String fixed) {
        DataType type = field.type();
        switch (type.getTypeRoot()) {
            case INTEGER:
                return fixed == null ? (int) id : Integer.parseInt(fixed);
            case BIGINT:
                return fixed == null ? id : Long.parseLong(fixed);
            case DOUBLE:
                return fixed == null ? (double) id : Double.parseDouble(fixed);
            case BOOLEAN:
                return fixed == null ? id % 2 == 0 : Boolean.parseBoolean(fixed);
            case CHAR:
            case VARCHAR:
                return BinaryString.fromString(fixed == null ? "v" + id : fixed);
            case DATE:
                LocalDate day = fixed == null ? LocalDate.of(2026, 1, 1).plusDays(id) : LocalDate.parse(fixed);
                return (int) day.toEpochDay();
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return Timestamp.fromLocalDateTime(
                        fixed == null ? LocalDateTime.of(2026, 1, 1, 0, 0).plusSeconds(id) : LocalDateTime.parse(fixed));
            default:
                throw new Refused("no value is made for columns of type " + type);
        }
    }
}

package asset.integration.paimon;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;

/** One request, read field by field; a field that is null counts as absent. */
final class Request {
    private final JsonNode json;

    Request(JsonNode json) {
        this.json = json;
    }

    JsonNode json() {
        return json;
    }

    boolean has(String field) {
        return json.hasNonNull(field);
    }

    String text(String field) {
        if (!has(field)) {
            throw new Refused("the request lacks '" + field + "'");
        }
        return json.get(field).asText();
    }

    long number(String field, long otherwise) {
        return has(field) ? json.get(field).asLong() : otherwise;
    }

    Long numberOrNull(String field) {
        return has(field) ? Long.valueOf(json.get(field).asLong()) : null;
    }

    List<String> texts(String field) {
        List<String> found = new ArrayList<>();
        if (has(field)) {
            json.get(field).forEach(item -> found.add(item.asText()));
        }
        return found;
    }

    List<Long> numbers(String field) {
        List<Long> found = new ArrayList<>();
        if (has(field)) {
            json.get(field).forEach(item -> found.add(item.asLong()));
        }
        return found;
    }

    Map<String, String> map(String field) {
        Map<String, String> found = new LinkedHashMap<>();
        if (has(field)) {
            json.get(field).fields().forEachRemaining(entry -> found.put(entry.getKey(), entry.getValue().asText()));
        }
        return found;
    }

    /** The columns asked for, name to SQL type; those of the Python writer if there are none. */
    Map<String, String> columns() {
        Map<String, String> found = new LinkedHashMap<>();
        if (has("columns")) {
            json.get("columns").forEach(c -> found.put(c.get("name").asText(), c.get("type").asText()));
        } else {
            found.put("id", "BIGINT");
            found.put("v", "STRING");
        }
        return found;
    }
}

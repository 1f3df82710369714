package asset.integration.paimon;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/** One request object a line in, one answer object a line out; a failure is an answer too. */
final class JsonLines {
    static final ObjectMapper MAPPER = new ObjectMapper();

    private final Operations operations;

    JsonLines(Operations operations) {
        this.operations = operations;
    }

    void serve(InputStream in, PrintStream out) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            out.println(MAPPER.writeValueAsString(answer(line)));
        }
    }

    private ObjectNode answer(String line) {
        ObjectNode answer = MAPPER.createObjectNode();
        try {
            Request request = new Request(MAPPER.readTree(line));
            answer.set("id", request.json().get("id"));
            ObjectNode result = operations.run(request);
            answer.put("ok", true);
            answer.setAll(result);
        } catch (Refused refused) {
            fail(answer, refused);
        } catch (Exception failure) {
            failure.printStackTrace();
            fail(answer, failure);
        }
        return answer;
    }

    private static void fail(ObjectNode answer, Exception failure) {
        answer.put("ok", false);
        answer.put("error", failure.getClass().getSimpleName() + ": " + failure.getMessage());
    }

}

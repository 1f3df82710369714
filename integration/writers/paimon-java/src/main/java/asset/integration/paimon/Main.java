package asset.integration.paimon;

import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes Paimon tables for tests, told what to do by JSON lines: {@code Main WAREHOUSE}.
 *
 * <p>The language is that of {@code paimon_writer.py}, which lies beside this project. This writer
 * adds what only the Java library can do: watermarks, compaction, streaming commits, expiry.
 */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        // Libraries may print: what is not an answer must not look like one.
        System.setOut(System.err);
        try (Tables tables = new Tables(args[0])) {
            new JsonLines(new Operations(tables)).serve(System.in, answers);
        }
        // Paimon keeps pools of threads that are not daemons.
        System.exit(0);
    }
}

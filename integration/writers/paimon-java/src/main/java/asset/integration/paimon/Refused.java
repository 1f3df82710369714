package asset.integration.paimon;

/** The request makes no sense to this writer; the message says what to do instead. */
final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused(String message) {
        super(message);
    }
}

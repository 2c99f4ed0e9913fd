/** The mock, or the machine on which it runs, is not as it must be; the message says what to do. */
export class UnderstudyError extends Error {
  override name = "UnderstudyError";
}

/** The admin API refused a request (problem+json, RFC 9457). */
export class RefusedError extends UnderstudyError {
  override name = "RefusedError";

  /**
   * @param request - Method and address of the request.
   * @param status - The HTTP status.
   * @param detail - What was wrong, in the mock's words.
   */
  constructor(
    readonly request: string,
    readonly status: number,
    readonly detail: string,
  ) {
    super(`${request} was refused with ${status}: ${detail}`);
  }
}

/**
 * Says of a request in a few words what is worth knowing.
 * @module
 */

const BROKEN = /breaks the document/;

/**
 * @param {any} row A request of the journal.
 * @returns {{tone: "good" | "bad" | "warn" | "quiet", text: string}}
 */
export function verdict(row) {
  const { status } = row.response;
  if (row.invalid || row.notes.some((note) => BROKEN.test(note))) return { tone: "bad", text: "breaks the document" };
  if (isSent(row)) return status ? { tone: "quiet", text: "sent by the mock" } : { tone: "bad", text: "no response" };
  if (row.fault) return { tone: "warn", text: `fault ${row.fault}` };
  if (row.stub) return { tone: "warn", text: `stub ${row.stub}` };
  if (row.preference) return { tone: "warn", text: `asked: ${row.preference}` };
  const [first, ...others] = row.switches;
  if (first) return { tone: "warn", text: others.length > 0 ? `${first} +${others.length}` : first };
  if (!row.wasMatched) return { tone: "bad", text: "no such operation" };
  if (status === 429) return { tone: "warn", text: "over the limit" };
  if (status >= 400) return { tone: "warn", text: "refused" };
  if (isPage(row)) return { tone: "quiet", text: "a page" };
  if (row.notes.length) return { tone: "quiet", text: row.notes.length === 1 ? "a note" : `${row.notes.length} notes` };
  return { tone: "good", text: "as documented" };
}

/** @param {any} row Tells whether the mock sent it, as a webhook or a callback. */
export function isSent(row) {
  return row.request.clientIp === "mock";
}

/** @param {any} row Tells whether it was for a page of the mock, such as the start page. */
export function isPage(row) {
  return row.operation === null && row.wasMatched;
}

/** @param {any} row Tells whether a request deserves a look. */
export function isProblem(row) {
  return (isSent(row) && !row.response.status) || row.response.status >= 400 || Boolean(row.fault) || row.invalid || row.notes.some((note) => BROKEN.test(note));
}

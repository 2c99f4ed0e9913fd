import type { JournalEntry, Stub } from "./types.js";

const FIRST_ERROR = 400;

/**
 * Returns a line for each exchange, with its number, status, request and person; below it are the notes of the mock,
 * and of a response with an error its message.
 */
export function asText(entries: JournalEntry[]): string {
  return entries.flatMap(lines).join("\n");
}

function lines(entry: JournalEntry): string[] {
  const { id, request, response, person, fault, notes = [] } = entry;
  const place = `${String(id).padStart(4)}  ${response.status}  ${request.method.padEnd(6)} ${request.url}`;
  const marks = [person ?? "-", ...(fault == null ? [] : [`fault ${fault}`])];
  const reasons = response.status < FIRST_ERROR ? notes : [...message(response.body), ...notes];
  return [`${place}  ${marks.join("  ")}`, ...reasons.map((reason) => `           ${reason}`)];
}

/** Returns the message of an error: the resource API, OAuth 2.0 and problem+json each have a member for it. */
function message(body = ""): string[] {
  try {
    const { detail, error_description, error } = JSON.parse(body) as Record<string, unknown>;
    return [detail ?? error_description ?? error].filter((text) => typeof text === "string");
  } catch {
    return [];
  }
}

/** Returns a line for a stub that has answered no request, with what did not fit of the nearest. */
export function unusedLine({ id, operation, nearest }: Stub): string {
  const line = `The stub ${id} answered no request of ${operation}`;
  if (nearest === undefined) return `${line}; there was none.`;
  const parts = nearest.misfits.map(
    ({ where, expected, actual }) => `${where} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`,
  );
  return `${line}; of the nearest, ${nearest.request}, ${parts.join(", ")}.`;
}

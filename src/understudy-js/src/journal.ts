import type { JournalEntry } from "./types.js";

/**
 * Returns a line for each exchange, with its number, status, request and person; below it are the
 * reason of a refusal and the notes of the mock.
 */
export function asText(entries: JournalEntry[]): string {
  return entries.flatMap(lines).join("\n");
}

function lines(entry: JournalEntry): string[] {
  const { id, request, response, person, fault, reason, notes = [] } = entry;
  const place = `${String(id).padStart(4)}  ${response.status}  ${request.method.padEnd(6)} ${request.url}`;
  const marks = [person ?? "-", ...(fault == null ? [] : [`fault ${fault}`])];
  const remarks = reason == null ? notes : [reason, ...notes];
  return [`${place}  ${marks.join("  ")}`, ...remarks.map((remark) => `           ${remark}`)];
}

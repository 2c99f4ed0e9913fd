import { UnderstudyError } from "./errors.js";

/** A span of time as the sum of its parts; a plain number is seconds. */
export type Duration =
  | number
  | { weeks?: number; days?: number; hours?: number; minutes?: number; seconds?: number };

const SECONDS: Record<string, number> = { weeks: 604_800, days: 86_400, hours: 3_600, minutes: 60, seconds: 1 };

/**
 * Returns a span of time in seconds.
 *
 * @throws {@link UnderstudyError} - It is none, such as a text or a misspelt part that came from plain JavaScript.
 */
export function inSeconds(duration: Duration): number {
  if (typeof duration === "number") return duration;
  const parts: [string, number][] = Object.entries(Object(duration));
  if (parts.length === 0 || parts.some(([name, count]) => !(name in SECONDS) || typeof count !== "number")) {
    const advice = "write a number of seconds, or parts such as { weeks: 2, hours: 12 }";
    throw new UnderstudyError(`${JSON.stringify(duration)} is not a duration; ${advice}.`);
  }
  return parts.reduce((sum, [name, count]) => sum + count * (SECONDS[name] ?? 0), 0);
}

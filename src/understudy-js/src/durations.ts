/** A span of time as the sum of its parts; a plain number is seconds. */
export type Duration =
  | number
  | { weeks?: number; days?: number; hours?: number; minutes?: number; seconds?: number };

/** Returns a span of time in seconds. */
export function inSeconds(duration: Duration): number {
  if (typeof duration === "number") return duration;
  const { weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = duration;
  return (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds;
}

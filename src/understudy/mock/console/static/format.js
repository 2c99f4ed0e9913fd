/**
 * Writes values for people to read.
 * @module
 */

/** @param {string} instant As the mock writes it. @returns {string} `11:55:47.692` in UTC. */
export function time(instant) {
  return instant.slice(11, 23);
}

/** @param {string | Date} instant @returns {string} `2026-03-01 12:00:00` in UTC. */
export function moment(instant) {
  return new Date(instant).toISOString().slice(0, 19).replace("T", " ");
}

/** @param {number} milliseconds */
export function duration(milliseconds) {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}

/** @param {string} instant Or a day. @returns {string} `3 d 4 h ago`, of a day `3 days ago` */
export function ago(instant) {
  const seconds = Math.max((Date.now() - Date.parse(instant)) / 1000, 0);
  if (instant.length > 10) return `${span(seconds)} ago`;
  const days = Math.floor(seconds / 86_400);
  return days === 0 ? "today" : `${counted(days, "day")} ago`;
}

/** @param {number} seconds @returns {string} `2 h 5 min` */
export function span(seconds) {
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [Math.floor(seconds) % 60, "s"],
  ].filter(([count]) => count);
  return parts.slice(0, 2).map(([count, unit]) => `${count} ${unit}`).join(" ") || "0 s";
}

/** @param {number} count @param {string} noun @param {string} [plural] */
export function counted(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

/** @param {number} status @returns {"good" | "bad" | "warn" | "quiet"} */
export function tone(status) {
  if (status >= 500) return "bad";
  if (status >= 400) return "warn";
  return status >= 300 ? "quiet" : "good";
}

const CLIENTS = [
  [/understudy/i, "understudy"],
  [/PostmanRuntime/, "Postman"],
  [/bruno/i, "Bruno"],
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/(?:Headless)?Chrom(?:e|ium)\//, "Chrome"],
  [/Safari\//, "Safari"],
];

/**
 * Returns a short name of a client.
 *
 * @param {string} agent Its User-Agent.
 */
export function clientName(agent) {
  const known = CLIENTS.find(([pattern]) => pattern.test(agent));
  if (known) return known[1];
  return agent.split(/[/ ]/, 1)[0] || "no name";
}

/**
 * Faults as people name them: presets, and what one does in a sentence.
 * @module
 */

/**
 * @typedef {object} Preset
 * @property {string} label
 * @property {string} about What a client then gets.
 * @property {Record<string, any>} fault As `POST /faults` takes it, without the operation.
 */

/** @type {Preset[]} */
export const PRESETS = [
  { label: "Slow", about: "every response comes 2 seconds later", fault: { delay: { type: "fixed", milliseconds: 2000 } } },
  { label: "Flaky", about: "one response in ten is a 503", fault: { status: 503, share: 0.1 } },
  { label: "Down", about: "every response is a 503", fault: { status: 503 } },
  { label: "Once down", about: "the next response is a 500, and all is well again", fault: { status: 500, times: 1 } },
  { label: "Malformed", about: "JSON that cannot be read", fault: { effect: "malformed-json" } },
  { label: "Stale", about: "the display name as it was before the last change", fault: { effect: "stale-field", field: "display_name" } },
  { label: "Cut off", about: "half of the body, and the connection ends", fault: { effect: "truncate" } },
];

/**
 * Returns what a fault does, in a sentence.
 *
 * @param {any} fault As the admin API lists it.
 */
export function sentence(fault) {
  const what = [
    fault.status && `responds ${fault.status}`,
    fault.effect && `${fault.effect}${fault.field ? ` (${fault.field})` : ""}`,
    fault.delay && delay(fault.delay),
  ].filter(Boolean).join(", ");
  const which = fault.share === undefined || fault.share === 1 ? "" : `, for ${Math.round(fault.share * 100)} % of them`;
  const times = fault.times === undefined ? "" : `, ${fault.times} more`;
  const who = fault.person ? ` of ${fault.person}` : "";
  return `${what}: ${fault.operation ?? "every operation"}${who}${which}${times}`;
}

function delay({ type = "fixed", milliseconds, lower, upper, median }) {
  if (type === "uniform") return `${lower} to ${upper} ms later`;
  return type === "lognormal" ? `about ${median} ms later` : `${milliseconds} ms later`;
}

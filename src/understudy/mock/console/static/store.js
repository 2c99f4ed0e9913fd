/**
 * Holds the state of the page, the only one there is: what the mock reported, and what is shown.
 * @module
 */

/** The most requests that the page remembers; the mock's journal is the one that lasts. */
export const MOST_ROWS = 10_000;

const state = {
  /** @type {"connecting" | "live" | "lost" | "ended" | "locked"} */
  connection: "connecting",
  /** When the mock was started; another time than before is a restart. */
  started: null,
  world: null,
  clock: null,
  /** Requests, the oldest first. @type {any[]} */
  rows: [],
  /** The number of the last request. */
  total: 0,
  /** The number of the last one that was deleted from the journal. */
  forgotten: 0,
  skipped: 0,
  /** Calls of the admin API that this page made, the newest first. @type {any[]} */
  calls: [],
};

const listeners = new Map();

/** Returns the state; nobody changes it but by `update`. */
export function get() {
  return state;
}

/**
 * Changes members of the state, and tells who listens to them.
 *
 * @param {Partial<typeof state>} changes
 */
export function update(changes) {
  Object.assign(state, changes);
  for (const name of Object.keys(changes)) tell(name, changes[name]);
}

/**
 * Tells the listeners of a topic: a member of the state, or an event of the mock such as `faults`.
 *
 * @param {string} topic
 * @param {any} [data]
 */
export function tell(topic, data) {
  for (const listener of [...(listeners.get(topic) ?? [])]) listener(data);
}

/**
 * Calls a function whenever a topic changes.
 *
 * @param {string} topic
 * @param {(data: any) => void} listener
 * @returns {() => void} Ends it.
 */
export function listen(topic, listener) {
  const group = listeners.get(topic) ?? new Set();
  listeners.set(topic, group.add(listener));
  return () => group.delete(listener);
}

/** Milliseconds of traffic that one call of `afterTraffic` answers for. */
const PAUSE = 600;

/**
 * Calls a function soon after requests came or were forgotten, once for many of them.
 * @param {() => void} load
 * @returns {() => void} Ends it.
 */
export function afterTraffic(load) {
  let timer = 0;
  const later = () => {
    timer ||= setTimeout(() => {
      timer = 0;
      load();
    }, PAUSE);
  };
  const ends = [listen("added", later), listen("rows", later)];
  return () => {
    clearTimeout(timer);
    for (const end of ends) end();
  };
}

/**
 * Adds requests, and forgets the oldest beyond the most.
 *
 * @param {any[]} added The oldest first.
 * @param {number} total How many there were, those that were left out included.
 * @param {number} skipped How many were left out.
 */
export function addRows(added, total, skipped) {
  const last = state.rows.at(-1)?.id ?? 0;
  const fresh = added.filter((row) => row.id > last);
  state.rows.push(...fresh);
  if (state.rows.length > MOST_ROWS) state.rows.splice(0, state.rows.length - MOST_ROWS);
  state.total = total;
  state.skipped += skipped;
  tell("added", fresh);
}

/** Forgets the requests, as the journal was deleted or the mock was restarted. */
export function forgetRows() {
  update({ rows: [], skipped: 0 });
}

/**
 * Follows what happens in the world: the admin API's stream of events, read by `fetch`, as an
 * `EventSource` could not send the admin token.
 * @module
 */

import { adminResponse } from "./api.js";
import { addRows, forgetRows, get, tell, update } from "./store.js";

const PAUSES = [250, 500, 1000, 2000];

/** Follows the world until the page is closed; connects again whenever the stream ends. */
export async function follow() {
  let failures = 0;
  for (;;) {
    try {
      const after = get().rows.at(-1)?.id ?? 0;
      const response = await adminResponse("GET", `/events?after=${after}`);
      failures = 0;
      await read(response.body.getReader());
    } catch (error) {
      if (get().connection === "locked") return;
      if (error.status === 404) return update({ connection: "ended" });
    }
    if (get().connection === "ended") return;
    update({ connection: "lost" });
    await new Promise((resolve) => setTimeout(resolve, PAUSES[Math.min(failures++, PAUSES.length - 1)]));
  }
}

async function read(reader) {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) receive(event);
  }
}

function receive(event) {
  let name = null;
  let data = null;
  for (const line of event.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    if (line.startsWith("data: ")) data = JSON.parse(line.slice(6));
  }
  if (name !== null) (HANDLERS[name] ?? tell.bind(null, name))(data);
}

const HANDLERS = {
  start({ started, world, total, forgotten }) {
    const before = get().started;
    update({ started, world, total, forgotten, connection: "live" });
    if (before === null || before === started) return;
    forgetRows();
    tell("restarted", started);
    throw new Error("The mock was restarted: follow its new journal from the beginning.");
  },
  requests({ requests, total, skipped }) {
    addRows(requests, total, skipped);
  },
  forgotten({ total }) {
    update({ total, forgotten: total });
    forgetRows();
  },
  ended() {
    update({ connection: "ended" });
  },
};

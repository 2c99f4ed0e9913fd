/**
 * The history of what requests changed, with the way back to before each of them.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { counted, time } from "../format.js";
import { attempt, showDone } from "../notices.js";
import { address } from "../router.js";

const SHOWN = 100;

/** @returns {{node: HTMLElement, load: () => void}} */
export function historyPanel() {
  const list = h("ol", { class: "history" });
  const until = h("select", { id: "history-until", onchange: () => load() }, h("option", { value: "" }, "now"));
  const difference = h("div", { class: "difference", "aria-live": "polite" });
  const node = h("section", { class: "message", "aria-label": "History" }, h("h2", {}, "History"),
    h("p", { class: "quiet" }, "What requests changed, the newest first. A rewind undoes a change and all after it; what the admin API changed goes with the request before it."),
    h("div", { class: "field" }, h("label", { for: "history-until" }, "Compare with"), until), list, difference);

  const load = () => attempt(async () => {
    const { changes, total } = await admin("GET", `/changes?limit=${SHOWN}`);
    offerMoments(changes);
    fill(list, changes.map(entry));
    if (total === 0) fill(list, h("li", { class: "quiet" }, "Nothing was changed yet."));
  });

  function entry({ at, call, request, records, replaced, settings }) {
    const what = [
      ...records.slice(0, 4).map(({ collection, key, change }) => `${change === "removed" ? "removed " : ""}${collection} ${key}`),
      records.length > 4 && `and ${records.length - 4} more`,
      replaced && "the whole state",
      settings && "settings",
    ].filter(Boolean).join(", ");
    return h("li", {}, h("code", {}, time(at)), h("div", {},
      h("p", {}, request ? h("a", { href: address(["traffic", request]) }, call) : call),
      h("p", { class: "fine" }, what)),
    request && h("div", { class: "actions" },
      h("button", { type: "button", class: "small", "aria-label": `Compare before request ${request} with ${until.selectedOptions[0].text}`, onclick: () => compare(request) }, "Compare"),
      h("button", { type: "button", class: "small", "aria-label": `Rewind to before request ${request}`, onclick: () => rewind(request) }, "Rewind to before")));
  }

  /** Offers the moments before requests that changed something as the other side of a comparison. */
  function offerMoments(changes) {
    const chosen = until.value;
    const numbers = changes.map(({ request }) => request).filter(Boolean);
    fill(until, h("option", { value: "" }, "now"), numbers.map((number) => h("option", { value: number }, `before request ${number}`)));
    until.value = numbers.includes(Number(chosen)) ? chosen : "";
  }

  const rewind = (request) => attempt(async () => {
    const { undone } = await admin("POST", "/changes/rewind", { request });
    showDone(`${counted(undone, "change")} undone: the world is as it was before request ${request}.`);
    fill(difference);
    load();
  });

  const compare = (before) => attempt(async () => {
    const { records, settings } = await admin("GET", `/changes/difference?${new URLSearchParams({ before, ...(until.value ? { until: until.value } : {}) })}`);
    const parts = [...records.map((it) => [`${it.collection} ${it.key}`, it]), ...settings.map((it) => [it.name, it])];
    fill(difference, h("h3", {}, `Before request ${before}, and ${until.selectedOptions[0].text}`),
      parts.length === 0 ? h("p", { class: "quiet" }, "Nothing differs.") : parts.map(([name, it]) => [h("h4", {}, name), changed(it.before, it.after)]));
    difference.scrollIntoView({ block: "nearest" });
  });

  return { node, load };
}

/** Returns the leaves that differ, with both values. */
function changed(before, after) {
  const rows = [...leaves(before, after, "")].slice(0, 60);
  return h("dl", { class: "reasons" }, rows.map(([path, one, other]) => [h("dt", {}, path || "all"), h("dd", {},
    h("del", {}, written(one)), " → ", h("ins", {}, written(other)))]));
}

function* leaves(before, after, path) {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  if (!isTree(before) || !isTree(after)) {
    yield [path, before, after];
    return;
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    yield* leaves(before[name], after[name], path ? `${path}.${name}` : name);
  }
}

function isTree(value) {
  return value !== null && typeof value === "object";
}

function written(value) {
  return value === undefined || value === null ? "not there" : typeof value === "string" ? value || "(empty)" : JSON.stringify(value);
}

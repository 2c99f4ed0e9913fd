/**
 * The clock of the world: what it shows, how to move it, and what happens next.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { moment, span } from "../format.js";
import { attempt } from "../notices.js";

const JUMPS = [["+10 min", 600], ["+1 h", 3600], ["+1 d", 86_400], ["+2 weeks", 1_209_600]];
const RATES = [["1", "at normal speed"], ["60", "a minute a second"], ["3600", "an hour a second"], ["86400", "a day a second"]];

const SHOWN = 12;

/** @returns {{node: HTMLElement, load: () => void, loadNext: () => void, tick: () => void}} */
export function clockPanel() {
  const shown = h("time", { class: "clock" });
  const state = h("span", { class: "badge quiet" });
  const controls = h("div", { class: "actions" });
  const input = h("input", { id: "clock-now", type: "datetime-local", step: 1 });
  const rate = h("select", { id: "clock-rate", onchange: () => set({ rate: Number(rate.value) }) }, RATES.map(([value, label]) => h("option", { value }, label)));
  const next = h("ul", { class: "next" });
  let clock = null;
  let readAt = 0;

  const set = (changes) => attempt(async () => take(await admin("PUT", "/clock", changes)));
  const advance = (seconds) => attempt(async () => take(await admin("POST", "/clock/advance", { seconds })));
  const reset = () => attempt(async () => take(await admin("DELETE", "/clock")));

  function now() {
    return new Date(Date.parse(clock.now) + (performance.now() - readAt) * clock.rate);
  }

  function take(read) {
    clock = read;
    readAt = performance.now();
    state.textContent = clock.frozen ? "frozen" : clock.rate === 1 ? "running" : `running ${clock.rate} times as fast`;
    state.className = `badge ${clock.frozen ? "warn" : "good"}`;
    rate.value = String(clock.rate);
    fill(controls,
      clock.frozen ? h("button", { type: "button", class: "primary small", onclick: () => set({ frozen: false }) }, "Run")
        : h("button", { type: "button", class: "small", onclick: () => set({ frozen: true }) }, "Freeze"),
      JUMPS.map(([label, seconds]) => h("button", { type: "button", class: "small", onclick: () => advance(seconds) }, label)),
      h("button", { type: "button", class: "small", onclick: reset }, "The machine's time"));
    tick();
    loadNext();
  }

  function tick() {
    if (!clock) return;
    shown.textContent = `${moment(now())} UTC`;
    shown.setAttribute("datetime", now().toISOString());
    for (const item of next.children) showLeft(item);
  }

  function showLeft(item) {
    const seconds = (Date.parse(item.dataset.at) - now()) / 1000;
    item.lastElementChild.textContent = seconds > 0 ? `in ${span(seconds)}` : "is over";
  }

  async function loadNext() {
    const events = (await attempt(() => admin("GET", `/clock/upcoming?limit=${SHOWN}`))) ?? [];
    fill(next, events.map((event) => h("li", { "data-at": event.at }, h("span", {}, sentence(event)), h("span", { class: "quiet" }))));
    if (events.length === 0) fill(next, h("li", { class: "quiet", "data-at": "9999-01-01" }, h("span", {}, "Nothing is due: no code or token expires, and no limit is in use."), h("span", { hidden: true })));
    tick();
  }

  const node = h("section", { class: "message", "aria-label": "Clock" }, h("h2", {}, "Clock"), h("p", {}, shown, " ", state), controls,
    h("form", { class: "fields", onsubmit: (event) => {
      event.preventDefault();
      if (input.value) set({ now: `${input.value}Z` });
    } },
    h("div", { class: "field" }, h("label", { for: "clock-now" }, "Jump to (UTC)"), input),
    h("div", { class: "field" }, h("label", { for: "clock-rate" }, "Run"), rate),
    h("button", { class: "small" }, "Jump")),
    h("h3", {}, "What happens next"), next);
  return { node, tick, load: () => attempt(async () => take(await admin("GET", "/clock"))), loadNext };
}

function sentence({ kind, of, client_id: client, token }) {
  if (kind === "window") return `The hour of ${of} ends`;
  const application = client ? ` for ${client}` : "";
  return kind === "code" ? `A code of ${of}${application} expires` : `A token of ${of}${application} expires: ${token}`;
}

/**
 * The rate limits: how much each identity has used of its hour.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { time } from "../format.js";
import { attempt } from "../notices.js";

const ANONYMOUS = "anonymous";
/** What the interface allows in an hour: 100 without a token, 1,000 with one. */
const USUAL = { anonymous: 100, person: 1000 };

/** @returns {{node: HTMLElement, load: () => void}} */
export function limitsPanel() {
  const body = h("tbody", {});
  const load = () => attempt(async () => {
    const limits = await admin("GET", "/limits");
    const known = limits.length > 0 ? limits : [{ principal: ANONYMOUS, limit: null, used: 0, reset: null }];
    fill(body, known.map(row));
  });

  const change = (action) => attempt(async () => {
    await action();
    await load();
  });

  function row({ principal, limit, used, reset }) {
    const isAnonymous = principal === ANONYMOUS || principal.startsWith("address ");
    const path = `/limits/${encodeURIComponent(isAnonymous ? ANONYMOUS : principal)}`;
    const most = limit ?? (isAnonymous ? USUAL.anonymous : USUAL.person);
    return h("tr", {}, h("th", { scope: "row" }, principal),
      h("td", {}, h("meter", { min: 0, max: Math.max(most, 1), value: Math.min(used, most), high: most * 0.8, optimum: 0, "aria-label": `Used by ${principal}` }), " ", `${used} of ${most}`, limit !== null && h("span", { class: "badge warn" }, "changed")),
      h("td", { class: "fine" }, reset ? `until ${time(reset).slice(0, 8)}` : "not in use"),
      h("td", {}, h("div", { class: "actions tight" },
        h("button", { type: "button", class: "small", "aria-label": `Use up the limit of ${principal}`, onclick: () => change(() => admin("PUT", path, { used: most })) }, "Use up"),
        h("button", { type: "button", class: "small", "aria-label": `Clear the limit of ${principal}`, onclick: () => change(() => admin("DELETE", path)) }, "Clear"))));
  }

  const who = h("input", { id: "limit-of", type: "text", required: true, placeholder: "ada, or anonymous", autocomplete: "off" });
  const rate = h("input", { id: "limit-rate", type: "number", min: 0, required: true });
  const form = h("form", { class: "fields", onsubmit: (event) => {
    event.preventDefault();
    change(() => admin("PUT", `/limits/${encodeURIComponent(who.value)}`, { limit: Number(rate.value) }));
  } },
  h("div", { class: "field" }, h("label", { for: "limit-of" }, "Identity"), who),
  h("div", { class: "field" }, h("label", { for: "limit-rate" }, "Requests an hour"), rate),
  h("button", { class: "small" }, "Set this rate"));

  const node = h("section", { class: "message", "aria-label": "Limits" }, h("h2", {}, "Limits"),
    h("p", { class: "quiet" }, "Lookups and QR codes of an hour, by identity; anonymous clients are counted by address."),
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Rate limits" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Identity", "Used", "Hour", "Change"].map((name) => h("th", { scope: "col" }, name)))), body)), form);
  return { node, load };
}

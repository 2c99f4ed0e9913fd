/**
 * Shows what everybody sees of a person beside what the person's own token shows.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { counted } from "../format.js";
import { attempt } from "../notices.js";

/** @param {any} person @returns {HTMLElement} */
export function bothViews({ slug }) {
  const result = h("div", {});
  attempt(async () => fill(result, shown(await admin("GET", `/people/${encodeURIComponent(slug)}/views`))));
  return h("section", { class: "message", "aria-label": "Public and token view" }, h("h3", {}, "Public and token view"),
    h("p", { class: "quiet" }, "The responses of the lookup; looking at them here counts as no request."), result);
}

function shown({ public: everybody, token, differing }) {
  const names = [...new Set([...Object.keys(token.body), ...Object.keys(everybody.body)])];
  const row = (name) => h("tr", { class: differing.includes(name) ? "differs" : "" },
    h("th", { scope: "row" }, name, differing.includes(name) && h("span", { class: "spoken" }, " (differs)")),
    h("td", {}, value(everybody.body[name])), h("td", {}, value(token.body[name])));
  const same = names.filter((name) => !differing.includes(name));
  return [
    table("What differs", everybody, token, differing.map(row)),
    same.length > 0 && h("details", { class: "same" }, h("summary", {}, `${counted(same.length, "field")} that are the same`),
      table("What is the same", everybody, token, same.map(row))),
  ];
}

function table(label, everybody, token, rows) {
  if (rows.length === 0) return h("p", {}, "Both views are the same.");
  return h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": label }, h("table", { class: "views" },
    h("thead", {}, h("tr", {}, ["Field", `Everybody (${everybody.status})`, `With a token (${token.status})`].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows)));
}

function value(content) {
  if (content === undefined) return h("span", { class: "quiet" }, "not there");
  if (content === "") return h("span", { class: "quiet" }, "empty");
  if (typeof content === "string") return h("bdi", {}, content);
  if (!Array.isArray(content)) return h("code", {}, JSON.stringify(content));
  return [h("b", {}, content.length), content.length > 0 && `: ${content.map(named).join(", ")}`];
}

/** Returns what an item of a list is called. */
function named(item) {
  return item?.service_label ?? item?.label ?? item?.name ?? item?.alt_text ?? item?.url ?? JSON.stringify(item);
}

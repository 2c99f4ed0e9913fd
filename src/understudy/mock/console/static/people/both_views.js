/**
 * Shows what everybody sees of a person beside what callers with a token see.
 * @module
 */

import { fill, h } from "../dom.js";
import { attempt } from "../notices.js";
import { resource, signedInAs } from "../resource.js";

/** @param {any} person @returns {HTMLElement} */
export function bothViews({ slug }) {
  const result = h("div", {});
  const compare = async () => {
    const lookUp = async (headers) => {
      const response = await resource(`/profiles/${encodeURIComponent(slug)}`, { headers });
      return { status: response.status, body: await response.json() };
    };
    fill(result, table(await lookUp({}), await signedInAs(slug, lookUp)));
  };
  return h("section", { class: "message" }, h("h3", {}, "Public and token view"),
    h("p", { class: "quiet" }, "Sends a lookup without a token and one with a token; both appear in the traffic, and count."),
    h("p", {}, h("button", { type: "button", class: "small", onclick: () => attempt(compare) }, "Send both lookups")), result);
}

function table(everyone, withToken) {
  const names = [...new Set([...Object.keys(withToken.body), ...Object.keys(everyone.body)])];
  const rows = names.map((name) => {
    const [before, after] = [everyone.body[name], withToken.body[name]].map((value) => (value === undefined ? null : JSON.stringify(value)));
    const isSame = before === after;
    return h("tr", { class: isSame ? "" : "differs" }, h("th", { scope: "row" }, name, !isSame && h("span", { class: "spoken" }, " (differs)")),
      h("td", {}, value(before)), h("td", {}, value(after)));
  });
  return h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Public and token view" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Field"), h("th", { scope: "col" }, `Everyone (${everyone.status})`), h("th", { scope: "col" }, `With a token (${withToken.status})`))),
    h("tbody", {}, rows)));
}

function value(text) {
  return text === null ? h("span", { class: "quiet" }, "not there") : h("code", {}, text);
}

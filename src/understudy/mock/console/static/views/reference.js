/**
 * The view of the API: the documents in force as reference, with requests to try and edge cases.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { attempt } from "../notices.js";
import { operationPage } from "../reference/operation.js";
import { operationsOf } from "../reference/schemas.js";
import { webhooksPanel } from "../reference/webhooks.js";
import { address } from "../router.js";

/** @param {HTMLElement} host @returns {import("./index.js").Mounted} */
export function mount(host) {
  const search = h("input", { type: "search", placeholder: "Search the operations", "aria-label": "Search the operations", oninput: () => show() });
  const list = h("ul", { class: "entries operations" });
  const page = h("div", { class: "operation-page" });
  const webhooks = webhooksPanel();
  let operations = [];
  let selected = null;

  function show() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ id, method, path, summary }) => words.every((word) => `${id} ${method} ${path} ${summary}`.toLowerCase().includes(word));
    fill(list, operations.filter(fits).map((operation) => entry(operation, operation === chosen())));
  }

  const chosen = () => operations.find(({ id }) => id === selected) ?? operations[0];

  function showOperation() {
    const operation = chosen();
    if (operation) fill(page, operationPage(operation));
    show();
  }

  fill(host, h("h1", {}, "API"), h("div", { class: "panels reference-panels" },
    h("div", {}, h("section", { class: "message", "aria-label": "Operations" }, search, list), webhooks.node), page));
  attempt(webhooks.load);
  attempt(async () => {
    operations = (await admin("GET", "/documents")).flatMap(operationsOf);
    showOperation();
  });
  return {
    follow: ([operation]) => {
      if (selected === (operation ?? null) && operations.length > 0) return;
      selected = operation ?? null;
      showOperation();
    },
    end: () => {},
  };
}

function entry({ id, method, path, summary, isDeprecated }, isChosen) {
  return h("li", { class: isChosen ? "selected" : "" }, h("div", {},
    h("a", { href: address(["reference", id]), "aria-current": isChosen && "true" }, h("b", {}, method), " ", h("code", {}, path)),
    h("p", { class: "fine" }, summary, isDeprecated && " (deprecated)")));
}

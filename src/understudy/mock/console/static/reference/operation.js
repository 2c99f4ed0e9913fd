/**
 * Shows an operation: what it takes and returns, a request to try, and its edge cases.
 * @module
 */

import { ROOT } from "../api.js";
import { jsonView } from "../body_view.js";
import { h } from "../dom.js";
import { address } from "../router.js";
import { editor } from "../traffic/editor.js";
import { edgeCases } from "./edge_cases.js";
import { exampleOf, schemaView } from "./schemas.js";

const FORM = "application/x-www-form-urlencoded";

/** @param {any} operation Of `operationsOf`. @returns {any[]} */
export function operationPage(operation) {
  const { id, method, path, summary, description, parameters, body, responses, document } = operation;
  return [
    h("section", { class: "message", "aria-label": "Operation" }, h("h2", {}, summary || id),
      h("p", {}, h("b", {}, method), " ", h("code", {}, path), " · ", h("a", { href: address(["traffic"], { operation: id }) }, "its requests"), " · ",
        h("a", { href: address(["contract", id]) }, "its rules")),
      description && h("p", { class: "prose" }, description),
      parameters.length > 0 && h("div", { class: "wide" }, h("table", {}, h("thead", {}, h("tr", {}, ["Parameter", "In", "About"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, parameters.map((it) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, it.name), it.required && h("span", { class: "fine" }, " required")), h("td", {}, it.in),
          h("td", {}, it.description, schemaView(it.schema ?? {}, document))))))),
      body && Object.entries(body.content ?? {}).map(([type, media]) => [h("h3", {}, `Body: ${type}`), schemaView(media.schema ?? {}, document)])),
    tryIt(operation),
    edgeCases(id),
    h("section", { class: "message", "aria-label": "Responses" }, h("h2", {}, "Responses"), responses.map(([status, response]) => responseView(status, response, document))),
  ];
}

function responseView(status, { description, content = {} }, document) {
  return h("details", { open: status.startsWith("2") }, h("summary", {}, h("b", {}, status), " ", description),
    Object.entries(content).map(([type, media]) => {
      const example = type.includes("json") ? exampleOf(media, document) : undefined;
      return [h("h3", {}, type), schemaView(media.schema ?? {}, document), example !== undefined && jsonView(example)];
    }));
}

/** The form that sends a request, filled in by the examples of the document. */
function tryIt(operation) {
  return h("section", { class: "message", "aria-label": "Try it" }, h("h2", {}, "Try it"),
    h("p", { class: "quiet" }, "The request is sent in this world; its page says why it was answered so."), editor(drafted(operation)));
}

function drafted({ method, path, parameters, body, document, site, needsToken }) {
  const text = (it) => String(exampleOf(it, document) ?? "");
  const filled = path.replace(/\{([^}]+)\}/g, (whole, name) => {
    const parameter = parameters.find((it) => it.in === "path" && it.name === name);
    return parameter ? encodeURIComponent(text(parameter)) : whole;
  });
  const pairs = parameters.filter((it) => it.in === "query" && it.required).map((it) => [it.name, text(it)]);
  const query = pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : "";
  const headers = Object.fromEntries(parameters.filter((it) => it.in === "header" && it.required).map((it) => [it.name, text(it)]));
  const [type, media] = Object.entries(body?.content ?? {}).find(([name]) => name.includes("json") || name === FORM) ?? [];
  const request = { method, url: filled + query, absoluteUrl: `${location.origin}${ROOT}${filled}${query}`, headers };
  if (type) {
    headers["Content-Type"] = type;
    const example = exampleOf(media, document);
    request.body = type === FORM ? String(new URLSearchParams(example)) : JSON.stringify(example, null, 2);
    request.bodyAsBase64 = "text"; // the editor sends the text
  }
  return { site, needsToken, request, person: null, identity: "anonymous", explanation: {} };
}

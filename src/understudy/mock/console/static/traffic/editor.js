/**
 * The form that sends a request with changes.
 * @module
 */

import { admin } from "../api.js";
import { field, h } from "../dom.js";
import { attempt } from "../notices.js";
import { sendable } from "../snippets.js";
import { sendAgain } from "./sending.js";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** @param {any} exchange @returns {HTMLElement} */
export function editor(exchange) {
  const request = sendable(exchange);
  const known = METHODS.includes(request.method) ? METHODS : [...METHODS, request.method];
  const method = h("select", { id: "edit-method" }, known.map((name) => h("option", { selected: name === request.method }, name)));
  const url = h("input", { id: "edit-url", type: "text", value: exchange.request.url, spellcheck: "false" });
  const headers = h("textarea", { id: "edit-headers", rows: 4, spellcheck: "false", value: written(request.headers) });
  const body = h("textarea", { id: "edit-body", rows: 6, spellcheck: "false", value: request.text ?? "" });
  const isNew = exchange.id === undefined;
  const person = h("select", { id: "edit-person" },
    !isNew && h("option", { value: "same" }, `as before: ${exchange.person ?? "nobody"}`),
    h("option", { value: "" }, "nobody"));
  const isTokenTaken = exchange.site !== "authorization";
  if (isTokenTaken) offerPeople(person, exchange.needsToken === true);
  const send = () => sendAgain(exchange, {
    method: method.value,
    url: url.value,
    headers: parsed(headers.value),
    ...(request.base64 && !body.value ? {} : { text: body.value, base64: undefined }),
    ...(person.value === "same" ? {} : { person: person.value }),
  });
  return h("form", { class: "editor", onsubmit: (event) => {
    event.preventDefault();
    attempt(send);
  } },
  h("div", { class: "row-of-fields" }, field("edit-method", "Method", method), field("edit-url", "Path and query", url), isTokenTaken && field("edit-person", "Sign in as", person)),
  field("edit-headers", "Headers, one a line", headers),
  field("edit-body", request.base64 ? "Body; empty to send the bytes of before" : "Body", body),
  h("button", { class: "primary" }, "Send"));
}

async function offerPeople(select, isWanted) {
  const page = await attempt(() => admin("GET", "/people?limit=500"));
  for (const { slug } of page?.people ?? []) select.append(h("option", { value: slug }, slug));
  if (isWanted && page?.people.length > 0) select.value = page.people[0].slug;
}

function written(headers) {
  return Object.entries(headers).map(([name, text]) => `${name}: ${text}`).join("\n");
}

function parsed(text) {
  const lines = text.split("\n").filter((line) => line.includes(":"));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(":")).trim(), line.slice(line.indexOf(":") + 1).trim()]));
}

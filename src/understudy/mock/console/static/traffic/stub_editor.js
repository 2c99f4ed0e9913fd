/**
 * The form that answers a request otherwise: a response edited by hand, beside its schema, kept as a stub.
 * @module
 */

import { ROOT, admin, adminCurl } from "../api.js";
import { header, pretty } from "../body_view.js";
import { copy, menu } from "../copying.js";
import { field, fill, h } from "../dom.js";
import { attempt, showDone } from "../notices.js";
import { operationsOf, schemaView } from "../reference/schemas.js";

/** Statuses of refusals that come before a stub, unless it says otherwise. */
const BEFORE_STUBS = new Set([400, 401, 403, 429]);

/** @param {any} exchange Of the journal, with an operation. @returns {HTMLElement} */
export function stubEditor(exchange) {
  const { operation, person, response } = exchange;
  const status = h("input", { id: "stub-status", type: "number", min: 200, max: 599, value: response.status, onchange: () => showSchema() });
  const body = h("textarea", { id: "stub-body", rows: 12, spellcheck: "false", value: pretty(response.body ?? "") ?? response.body });
  const times = h("input", { id: "stub-times", type: "number", min: 1, placeholder: "every request" });
  const isInvalid = h("input", { id: "stub-invalid", type: "checkbox" });
  const schema = h("div", { class: "stub-schema" });
  let described;

  function showSchema() {
    const [, declared] = described?.responses.find(([name]) => name === status.value) ?? [];
    const [type, media] = Object.entries(declared?.content ?? {})[0] ?? [];
    const missing = described && h("p", { class: "refusal" }, `The document has no ${status.value} for this operation.`);
    fill(schema, declared ? [h("h3", {}, type ? `The document's ${type}` : "No content"), media && schemaView(media.schema ?? {}, described.document)] : missing);
  }

  const describing = admin("GET", "/documents").then((documents) => documents.flatMap(operationsOf).find(({ id }) => id === operation));
  attempt(async () => {
    described = await describing;
    showSchema();
  });

  // Without the operation's path the stub would answer other paths, too: wait for it.
  const written = async () => ({
    operation,
    when: conditionOf(exchange, await describing),
    response: { status: Number(status.value), ...contentOf(exchange, Number(status.value), body.value) },
    ...(times.value ? { times: Number(times.value) } : {}),
    ...(isInvalid.checked ? { allow_invalid: true } : {}),
    ...(BEFORE_STUBS.has(response.status) ? { before_validation: true } : {}),
  });
  const save = () => attempt(async () => {
    const { id } = await admin("POST", "/stubs", await written());
    showDone(`${id} answers from now on; it is listed under Switches.`);
  });
  const formats = Object.entries(FORMATS).map(([name, write]) => [name, async () => {
    await copy(write(await written()));
    showDone(`Copied as ${name}.`);
  }]);
  return h("form", { class: "editor", onsubmit: (event) => {
    event.preventDefault();
    save();
  } },
  h("h3", {}, "Answer this otherwise"),
  h("div", { class: "row-of-fields" }, field("stub-status", "Status", status), field("stub-times", "Times", times)),
  field("stub-body", "Body; empty for the mock's own", body),
  h("label", { for: "stub-invalid" }, isInvalid, " Answer it even if the document does not allow it"),
  h("div", { class: "actions" }, h("button", { class: "primary" }, "Save as a stub"), menu("Copy as", formats)),
  schema);
}

/** Returns what a stub says of the body: only what was changed if possible, since links and the rest are right in no other world. */
function contentOf({ response, stub }, status, text) {
  if (!text) return {};
  const [own, body] = [parsed(response.body ?? ""), parsed(text)];
  const isKept = ([name, value]) => JSON.stringify(own[name]) === JSON.stringify(value);
  const changed = isObject(own) && isObject(body) ? Object.entries(body).filter((it) => !isKept(it)) : [];
  const isPatch = changed.length > 0 && Object.keys(own).every((name) => name in body) && changed.every(([, value]) => value !== null && !isObject(value));
  return isPatch && !stub && status === response.status && status < 400 ? { merge: Object.fromEntries(changed) } : { body };
}

const isObject = (value) => value?.constructor === Object;

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the condition that tells this request from others: its person or that it has no token, its query, and its path by the operation's template. */
function conditionOf({ request, response, person }, described) {
  const [path, query = ""] = request.url.split("?");
  const texts = path.split("/");
  const steps = (described?.path ?? "").split("/");
  const named = steps.map((step, index) => [/^\{(.+)\}$/.exec(step)?.[1], texts[index + texts.length - steps.length]]);
  const known = named.filter(([name, text]) => name && text !== undefined).map(([name, text]) => [name, decodeURIComponent(text)]);
  const isWithoutToken = response.status === 401 && !header(request.headers, "authorization");
  const parts = { header: isWithoutToken ? { Authorization: { absent: true } } : {}, path: Object.fromEntries(known), query: Object.fromEntries([...new URLSearchParams(query)].filter(([, text]) => text !== "***")) };
  const given = Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0);
  return { ...Object.fromEntries(given), ...(person ? { person } : {}) };
}

function python(value) {
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (value !== null && typeof value === "object") return `{${Object.entries(value).map(([name, it]) => `${JSON.stringify(name)}: ${python(it)}`).join(", ")}}`;
  if (typeof value === "boolean") return value ? "True" : "False";
  return value === null ? "None" : JSON.stringify(value);
}

function pytest({ operation, ...options }) {
  const given = Object.entries(options).map(([name, value]) => `, ${name}=${python(value)}`).join("");
  return `understudy_world.stub(${JSON.stringify(operation)}${given})`;
}

const javascript = (stub) => `await world.stub(${JSON.stringify(stub, null, 2)});`;

const FORMATS = {
  pytest,
  Playwright: javascript,
  Vitest: javascript,
  curl: (stub) => adminCurl({ method: "POST", url: `${location.origin}${ROOT}/__admin/stubs`, body: stub }),
};

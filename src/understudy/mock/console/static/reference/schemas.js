/**
 * Reads OpenAPI documents for people: operations, parameters, schemas and examples.
 * @module
 */

import { h } from "../dom.js";
import { counted } from "../format.js";

const METHODS = ["get", "put", "post", "patch", "delete", "head", "options", "trace"];
const DEEPEST = 5;

/**
 * Returns the operations of a document.
 *
 * @param {{base_path: string, site: string, document: any}} served
 */
export function operationsOf({ base_path: base, site, document }) {
  const read = (node) => resolved(node, document);
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) => METHODS.filter((method) => read(item)[method]).map((method) => {
    const shared = read(item);
    const operation = shared[method];
    const parameters = [...(shared.parameters ?? []), ...(operation.parameters ?? [])].map(read);
    return {
      id: operation.operationId ?? `${method} ${path}`,
      method: method.toUpperCase(),
      path: base + path,
      site,
      needsToken: isRequired(operation.security ?? document.security ?? []),
      summary: operation.summary ?? "",
      description: operation.description ?? "",
      isDeprecated: operation.deprecated === true,
      parameters: parameters.filter((it, index) => parameters.findLastIndex((other) => other.name === it.name && other.in === it.in) === index),
      body: operation.requestBody ? read(operation.requestBody) : null,
      responses: Object.entries(operation.responses ?? {}).map(([status, response]) => [status, read(response)]),
      document,
    };
  }));
}

/** Tells whether no alternative of the requirements is empty (OpenAPI, Security Requirement Object). */
function isRequired(alternatives) {
  return alternatives.length > 0 && alternatives.every((schemes) => Object.keys(schemes).length > 0);
}

/** Returns what a reference leads to; the node itself where it is none. */
export function resolved(node, document) {
  let current = node;
  for (let step = 0; step < 20 && typeof current?.$ref === "string" && current.$ref.startsWith("#/"); step += 1) {
    current = current.$ref.slice(2).split("/").reduce((at, part) => at?.[decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")], document);
  }
  return current ?? {};
}

/** Returns an example of a media type, or of a parameter. */
export function exampleOf(holder, document) {
  if (holder === undefined) return undefined;
  if (holder.example !== undefined) return holder.example;
  const [first] = Object.values(holder.examples ?? {});
  if (first !== undefined) return resolved(first, document).value;
  return made(holder.schema, document, 0);
}

function made(schema, document, depth) {
  const it = resolved(schema ?? {}, document);
  if (it.example !== undefined) return it.example;
  if (it.default !== undefined) return it.default;
  if (it.enum) return it.enum[0];
  if (depth > DEEPEST) return null;
  if (it.allOf) return Object.assign({}, ...it.allOf.map((part) => made(part, document, depth + 1)));
  if (it.oneOf ?? it.anyOf) return made((it.oneOf ?? it.anyOf)[0], document, depth + 1);
  const type = Array.isArray(it.type) ? it.type[0] : it.type;
  if (type === "object" || it.properties) {
    const names = it.required ?? Object.keys(it.properties ?? {}).slice(0, 3);
    return Object.fromEntries(names.filter((name) => it.properties?.[name]).map((name) => [name, made(it.properties[name], document, depth + 1)]));
  }
  if (type === "array") return [made(it.items, document, depth + 1)];
  return { integer: it.minimum ?? 1, number: it.minimum ?? 1, boolean: true }[type] ?? (it.format === "binary" ? undefined : "text");
}

/**
 * Returns a schema as a list of its members.
 *
 * @param {any} schema
 * @param {any} document
 * @param {number} [depth]
 */
export function schemaView(schema, document, depth = 0) {
  const it = resolved(schema, document);
  const parts = [it, ...(it.allOf ?? []).map((part) => resolved(part, document))];
  const members = parts.flatMap((part) => Object.entries(part.properties ?? {}));
  const required = new Set(parts.flatMap((part) => part.required ?? []));
  const items = it.items && resolved(it.items, document);
  if (members.length === 0) {
    if (items && depth < DEEPEST) return [h("p", { class: "fine" }, "A list of:"), schemaView(items, document, depth + 1)];
    return h("p", { class: "fine" }, typeText(it, document), it.description && ` · ${it.description}`);
  }
  return h("ul", { class: "schema" }, members.map(([name, member]) => {
    const value = resolved(member, document);
    const isDeep = (value.properties ?? value.allOf ?? value.items) && depth < DEEPEST;
    const line = [h("code", {}, name), " ", h("span", { class: "fine" }, typeText(value, document), required.has(name) && " · required", value.description && ` · ${value.description}`)];
    return h("li", {}, isDeep ? h("details", {}, h("summary", {}, line), schemaView(value, document, depth + 1)) : line);
  }));
}

const characters = (count) => counted(count, "character");

function typeText(it, document) {
  const type = Array.isArray(it.type) ? it.type.join(" or ") : it.type ?? (it.properties ? "object" : "any value");
  const of = it.items ? ` of ${resolved(it.items, document).type ?? "values"}` : "";
  const bounds = [["minLength", "at least", characters], ["maxLength", "at most", characters], ["minimum", "from", String], ["maximum", "to", String]]
    .filter(([name]) => it[name] !== undefined).map(([name, word, written]) => `${word} ${written(it[name])}`);
  return [`${type}${of}${it.nullable ? " or null" : ""}`, it.format, it.enum && `one of ${it.enum.join(", ")}`, it.pattern && `pattern ${it.pattern}`, ...bounds].filter(Boolean).join(", ");
}

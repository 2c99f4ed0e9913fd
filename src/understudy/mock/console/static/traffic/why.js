/**
 * Says why a request was answered so: what decided, and what could have been decided otherwise.
 * @module
 */

import { admin } from "../api.js";
import { h } from "../dom.js";
import { counted } from "../format.js";
import { attempt } from "../notices.js";
import { address } from "../router.js";
import { isSent } from "./verdict.js";

const FIRST_RULES = 3;

/**
 * @param {any} explanation As `GET /requests/{id}` has it.
 * @param {any} exchange
 * @returns {HTMLElement}
 */
export function why(explanation, exchange) {
  const { refusal, operation, inference, rules, switches, about, fault, notes } = explanation;
  return h("section", { class: "why" },
    h("h3", {}, "Why it was answered so"),
    !exchange.wasMatched && h("p", { class: "refusal" }, "No operation of the document has this method and path."),
    refusal && h("p", { class: "refusal" }, refusal.message),
    refusal?.breach && breach(refusal.breach),
    h("dl", { class: "reasons" },
      reason("Operation", operation && [h("b", {}, operation.id), " ", h("code", {}, `${operation.method} ${operation.path}`),
        h("span", { class: "fine" }, operation.document)]),
      reason("Client", client(explanation, exchange)),
      reason("About", about && [h("a", { href: address(["people", about.person]) }, about.person),
        ` from ${about.fixture ?? "no fixture: added in this world"}${about.changed && about.fixture ? ", changed since" : ""}`]),
      reason("Fault", fault && [fault, " ", h("a", { href: address(["switches"]) }, "Show the faults")]),
      reason("Preference", exchange.preference && [h("code", {}, exchange.preference), " was asked for by the request itself"]),
      reason("State", inference && `inferred as ${inference.role} of ${inference.resource}, confidence ${inference.confidence}`),
      reason("Rules", rules.length > 0 && ruleList(rules)),
      reason("Switches", switches.length > 0 && h("ul", {}, switches.map(switched))),
      reason("Notes", notes.length > 0 && h("ul", {}, notes.map((note) => h("li", {}, note))))));
}

function reason(name, content) {
  return content ? [h("dt", {}, name), h("dd", {}, content)] : null;
}

function client({ identity, person, scopes }, exchange) {
  const { request } = exchange;
  if (isSent(exchange)) return "the mock itself, to a receiver";
  if (identity === "anonymous") {
    const hasToken = Object.keys(request.headers).some((name) => name.toLowerCase() === "authorization");
    return hasToken ? "anonymous: its credentials were not accepted" : "anonymous: it sent no credentials";
  }
  const kind = identity === "api_key" ? "an API key" : "an access token";
  const granted = scopes?.length ? ` with ${scopes.join(", ")}` : "";
  return [`${kind} of `, h("a", { href: address(["people", person]) }, person), granted];
}

function breach(content) {
  const rows = Object.entries(content).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "breach" }, rows.map(([name, value]) =>
    [h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, h("code", {}, typeof value === "string" ? value : JSON.stringify(value)))]));
}

/** The first rules, and the others behind a word: an operation may hold a dozen. */
function ruleList(rules) {
  const [first, others] = [rules.slice(0, FIRST_RULES), rules.slice(FIRST_RULES)];
  return [
    h("ul", {}, first.map(rule)),
    others.length > 0 && h("details", {}, h("summary", {}, `and ${counted(others.length, "more rule")}`), h("ul", {}, others.map(rule))),
  ];
}

function rule({ id, statement, section }) {
  return h("li", {}, statement, h("span", { class: "fine" }, h("code", {}, id), section && ` · ${section}`));
}

/** A switch, with its other readings once somebody asks for them. */
function switched({ name, option }) {
  const place = h("span", {});
  const more = h("button", { type: "button", class: "small", onclick: async () => {
    const choices = await attempt(() => admin("GET", "/choices"));
    const choice = choices?.find((it) => it.name === name);
    if (!choice) return;
    more.remove();
    place.append(...Object.entries(choice.options).filter(([key]) => key !== option).map(([key, meaning]) =>
      h("span", { class: "reading" }, h("code", {}, key), ` ${meaning} `,
        h("button", { type: "button", class: "small", onclick: () => choose(name, key) }, `Use ${key} in this world`))));
  } }, "Other readings");
  return h("li", {}, h("code", {}, `${name}=${option}`), " ", more, place);
}

function choose(name, option) {
  return attempt(() => admin("PATCH", "/choices", { [name]: option }), `${name} is ${option} in this world.`);
}

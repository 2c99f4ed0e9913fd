/**
 * Shows which statuses of an operation each identity has exercised.
 * @module
 */

import { h } from "../dom.js";
import { counted, tone } from "../format.js";
import { address } from "../router.js";
import { ruleEntry } from "./rule.js";

const IDENTITIES = { anonymous: "Anonymous", api_key: "API key", oauth: "Access token" };

/**
 * Returns the table of operations and identities.
 *
 * @param {any[]} operations Of `GET /exercised`.
 * @param {any[]} rules Of `GET /rules`.
 * @param {(rule: string) => import("./evidence.js").Evidence} known
 * @param {string | null} selected
 */
export function matrix(operations, rules, known, selected) {
  return h("table", { class: "matrix" },
    h("thead", {}, h("tr", {}, ["Operation", ...Object.values(IDENTITIES), "Never exercised", "Rules"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, operations.map((it) => row(it, rulesOf(it, rules), known, selected))));
}

function row(it, rules, known, selected) {
  const identities = Object.keys(IDENTITIES).map((identity) => {
    const seen = it.seen.filter((part) => part.identity === identity); // also those that the operation refuses
    if (seen.length > 0) return h("td", {}, seen.map((part) => chip(it.operation, part)));
    return h("td", { class: "quiet" }, `as ${identity}` in it.parts ? "never" : "·");
  });
  const never = Object.entries(it.parts).filter(([name, used]) => !used && name.startsWith("status ")).map(([name]) => name.slice(7));
  return h("tr", { class: it.operation === selected ? "selected" : "" },
    h("th", { scope: "row" }, h("a", { href: address(["contract", it.operation]), "aria-current": it.operation === selected && "true" }, it.operation),
      h("span", { class: "fine" }, ` ${counted(it.requests, "request")}`)),
    identities,
    h("td", {}, never.length === 0 ? h("span", { class: "badge good" }, "all") : never.map((status) => [h("span", { class: "badge quiet" }, status), " "])),
    h("td", {}, summary(rules, known)));
}

function chip(operation, { status, count }) {
  return [h("a", { class: `badge ${tone(status)}`, href: address(["traffic"], { operation, status: String(status) }) }, `${status} (${count.toLocaleString("en")})`), " "];
}

function summary(rules, known) {
  const all = rules.map(({ id }) => known(id));
  const failed = all.filter(({ verdict }) => verdict?.status === "failed").length;
  const drifting = all.filter(({ differences }) => differences.length > 0).length;
  return [`${rules.length}`, failed > 0 && [" ", h("span", { class: "badge bad" }, `${failed} failed`)], drifting > 0 && [" ", h("span", { class: "badge warn" }, `${drifting} drift`)]];
}

function rulesOf({ operation }, rules) {
  return rules.filter(({ operations }) => operations.includes(operation));
}

/**
 * Returns everything about one operation: the sentences of its rules, and its exchanges.
 *
 * @param {any} it Of `GET /exercised`.
 * @param {any[]} rules
 * @param {(rule: string) => import("./evidence.js").Evidence} known
 * @param {() => void} close
 */
export function operationDetail(it, rules, known, close) {
  return [
    h("div", { class: "person-head" }, h("h2", {}, it.operation), h("p", {},
      h("a", { href: address(["traffic"], { operation: it.operation }) }, `Its ${counted(it.requests, "request")}`), " · ",
      h("a", { href: address(["reference", it.operation]) }, "Its reference")),
    h("button", { type: "button", class: "plain close", "aria-label": "Close", onclick: close }, "×")),
    h("ul", { class: "entries" }, rulesOf(it, rules).map((rule) => ruleEntry(rule, known(rule.id)))),
  ];
}

/**
 * Shows a rule: its sentence, the requests of its operations, and what reports say of it.
 * @module
 */

import { copyButton } from "../copying.js";
import { h } from "../dom.js";
import { ago, counted } from "../format.js";
import { address } from "../router.js";

const TONES = { passed: "good", failed: "bad", not_checked: "warn" };

/**
 * Returns a rule as a line of a list.
 *
 * @param {any} rule Of `GET /rules`.
 * @param {import("./evidence.js").Evidence} known
 */
export function ruleEntry({ id, statement, section, status }, known) {
  return h("li", {}, h("div", {}, h("p", {}, h("a", { href: address(["contract"], { rule: id }) }, statement)),
    h("p", { class: "fine" }, h("code", {}, id), ` · interface: ${section} · ${status}`, known.verdict?.reason && ` · ${known.verdict.reason}`)),
  h("span", { class: "marks" }, marks(known)));
}

function marks({ verdict, facts, differences }) {
  return [
    verdict && h("span", { class: `badge ${TONES[verdict.status] ?? "quiet"}` }, verdict.status.replace("_", " ")),
    facts.map(({ reading, learnt }) => h("span", { class: "badge quiet", title: `learnt ${ago(learnt)}` }, `fact: ${reading}`)),
    differences.length > 0 && h("span", { class: "badge warn" }, `drift: ${differences.length}`),
  ];
}

/**
 * Returns everything about one rule.
 *
 * @param {any} rule Of `GET /rules`.
 * @param {import("./evidence.js").Evidence} known
 * @param {any[]} operations Of `GET /exercised`.
 * @param {any | undefined} choice Of `GET /choices`: the rule's switch.
 * @param {() => void} close
 */
export function ruleDetail(rule, known, operations, choice, close) {
  const holding = operations.filter(({ operation }) => rule.operations.includes(operation));
  return [
    h("div", { class: "person-head rule-head" }, h("div", {}, h("h2", {}, rule.statement),
      h("p", { class: "fine" }, h("code", {}, rule.id), ` · ${rule.status}`, rule.section && ` · interface: ${rule.section}`, rule.source && ` · ${rule.source}`)),
    h("button", { type: "button", class: "plain close", "aria-label": "Close", onclick: close }, "×")),
    h("h3", {}, "Its requests"),
    holding.length === 0 ? h("p", { class: "quiet" }, "No operation of this mock holds it alone.")
      : h("p", { class: "links" }, holding.map(({ operation, requests }) => h("a", { href: address(["traffic"], { operation }) }, `${operation} (${counted(requests, "request")})`))),
    choice && [h("h3", {}, "In this world"), h("p", {}, h("code", {}, `${choice.name}=${choice.option}`), " ", h("a", { href: address(["switches"]) }, "Its other readings"))],
    known.facts.length > 0 && [h("h3", {}, "Facts"), h("ul", { class: "entries" }, known.facts.map((fact) => factView(fact, choice)))],
    known.verdict && [h("h3", {}, "Last verify"), h("p", {}, h("span", { class: `badge ${TONES[known.verdict.status]}` }, known.verdict.status.replace("_", " ")), " ",
      known.verdict.reason || counted(known.verdict.checks ?? 0, "check")),
    h("ul", { class: "entries" }, known.findings.map(findingView))],
    known.differences.length > 0 && [h("h3", {}, "Drift"), h("ul", { class: "entries" }, known.differences.map(differenceView))],
  ];
}

function factView({ reading, actual, deployment, learnt, seen, sure, shown_by: shown, isFollowed }, choice) {
  const isElse = choice && choice.option in choice.options && reading in choice.options && choice.option !== reading;
  return h("li", {}, h("div", {}, h("p", {}, h("b", {}, deployment), " reads it as ", h("code", {}, reading), actual && ` (${actual})`),
    h("p", { class: "fine" }, `learnt ${ago(learnt)} · shown by ${counted(seen, "exchange")}${sure ? ` · ${sure}` : ""}`),
    shown.length > 0 && h("details", {}, h("summary", { class: "fine" }, "The requests"), h("pre", { tabindex: 0 }, shown.join("\n")))),
  choice && h("span", { class: `badge ${isElse ? "warn" : "good"}` }, isElse ? "this world reads it otherwise" : isFollowed ? "followed" : "as here"));
}

function findingView({ summary, expected, actual, seen, steps = [], reproduce }) {
  return h("li", {}, h("div", {}, h("p", {}, summary),
    h("p", { class: "fine" }, `expected ${expected}, and got ${actual} · seen ${counted(seen, "time")}`),
    steps.length > 0 && h("details", {}, h("summary", { class: "fine" }, counted(steps.length, "exchange")), h("pre", { tabindex: 0 }, steps.join("\n")))),
  reproduce?.curl && copyButton(reproduce.curl.join("\n"), "Copy as curl"));
}

function differenceView({ request, aspect, deployment, other, names: [here, there], commands }) {
  return h("li", {}, h("div", {}, h("p", {}, h("b", {}, request), `: ${aspect}`),
    h("dl", { class: "reasons" }, h("dt", {}, here), h("dd", {}, h("code", {}, deployment)), h("dt", {}, there), h("dd", {}, h("code", {}, other)))),
  copyButton(commands, "Copy the commands"));
}

/**
 * Lists the reports that this page knows, each with its age, and takes others.
 * @module
 */

import { fill, h } from "../dom.js";
import { ago, counted } from "../format.js";
import { attempt } from "../notices.js";
import { address } from "../router.js";

const TITLES = { verify: "Last verify", drift: "Drift", facts: "Facts" };
const FAULTS = {
  deployment: ["bad", "the deployment breaks a rule"],
  other: ["bad", "the other one breaks a rule"],
  documents: ["warn", "their documents differ"],
  silent: ["warn", "the contract is silent"],
  unexplained: ["warn", "no rule is about it"],
  learnt: ["quiet", "as learnt"],
};

/**
 * @param {ReturnType<import("./evidence.js").evidence>} known
 * @param {(id: string) => any} ruleOf
 * @param {() => void} changed Called when the reports are others.
 * @returns {{node: HTMLElement, show: () => void}}
 */
export function reportPanel(known, ruleOf, changed) {
  const list = h("div", { class: "reports", role: "status" });
  const input = h("input", { id: "report-file", type: "file", accept: ".json,application/json", onchange: () => take(input.files[0]) });
  const take = (file) => file && attempt(async () => {
    await known.add(file);
    changed();
  });
  const remove = (kind) => {
    known.remove(kind);
    changed();
  };

  function show() {
    fill(list, known.reports().map((report) => reportView(report, ruleOf, remove)));
  }

  const node = h("section", { class: "message", "aria-label": "Reports", ondragover: (event) => {
    event.preventDefault();
    node.classList.add("dropping");
  }, ondragleave: () => node.classList.remove("dropping"), ondrop: (event) => {
    event.preventDefault();
    node.classList.remove("dropping");
    take(event.dataTransfer.files[0]);
  } }, h("h2", {}, "Reports"), list,
  h("p", { class: "quiet" }, "Drop a report here: ", h("code", {}, "understudy verify --report json=FILE"), " has each rule's verdict, ",
    h("code", {}, "understudy drift --json"), " what differs from a deployment, ", h("code", {}, "understudy learn --json"),
    " what is known of one. It is read by this page alone."),
  h("div", { class: "field" }, h("label", { for: "report-file" }, "Report, as JSON"), input));
  return { node, show };
}

function reportView({ kind, at, content, isFollowed }, ruleOf, remove) {
  return h("article", { class: "report", "aria-label": TITLES[kind] },
    h("header", { class: "report-head" }, h("h3", {}, isFollowed ? "Facts that this mock follows" : TITLES[kind]),
      h("p", {}, h("b", {}, content.target ?? content.deployment), content.other && [" and ", h("b", {}, content.other)], " · ", h("time", { datetime: at }, ago(at))),
      !isFollowed && h("button", { type: "button", class: "small plain", "aria-label": `Remove the report of ${TITLES[kind]}`, onclick: () => remove(kind) }, "Remove")),
    { verify: verifyView, drift: driftView, facts: factsView }[kind](content, ruleOf));
}

function verifyView({ rules }, ruleOf) {
  const count = (status) => rules.filter((rule) => rule.status === status).length;
  const failed = rules.filter(({ status }) => status === "failed");
  return [
    h("p", {}, h("span", { class: "badge good" }, `${count("passed")} passed`), " ", h("span", { class: "badge bad" }, `${failed.length} failed`), " ",
      h("span", { class: "badge warn" }, `${count("not_checked")} not checked`)),
    h("ul", { class: "entries" }, failed.map(({ id, statement, reason }) => entry(id, ruleOf, statement, reason))),
  ];
}

function driftView({ causes, requests, changed_facts: changed = [] }, ruleOf) {
  return [
    h("p", { class: "fine" }, `${counted(causes.length, "cause")} of difference in ${counted(requests, "request")}`),
    h("ul", { class: "entries" }, changed.map(({ rule, before, now, learnt }) =>
      entry(rule, ruleOf, rule, `${before} when learnt ${ago(learnt)}, now ${now}`, h("span", { class: "badge bad" }, "a fact has changed")))),
    h("ul", { class: "entries" }, causes.map(({ fault, rule, differences }) => {
      const [tone, words] = FAULTS[fault] ?? ["quiet", fault];
      return entry(rule, ruleOf, rule, counted(differences.length, "difference"), h("span", { class: `badge ${tone}` }, words));
    })),
  ];
}

function factsView({ facts, unsettled = [] }, ruleOf) {
  return [
    h("p", { class: "fine" }, `${counted(facts.length, "question")} settled, ${unsettled.length} not`),
    h("ul", { class: "entries" }, facts.map(({ rule, reading, learnt }) => entry(rule, ruleOf, rule, `learnt ${ago(learnt)}`, h("code", {}, reading)))),
  ];
}

/** Returns a line that leads to a rule, if the catalogue has it. */
function entry(id, ruleOf, text, about, mark) {
  const rule = ruleOf(id);
  return h("li", {}, h("div", {}, h("p", {}, rule ? h("a", { href: address(["contract"], { rule: id }) }, rule.statement) : text),
    h("p", { class: "fine" }, h("code", {}, id), about && ` · ${about}`)), mark);
}

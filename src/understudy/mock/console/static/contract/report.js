/**
 * Shows a report of `understudy verify`, which is read in this page and sent nowhere.
 * @module
 */

import { fill, h } from "../dom.js";
import { counted, moment, span } from "../format.js";
import { attempt } from "../notices.js";
import { ruleEntry } from "./matrix.js";

let kept = null;

/**
 * @param {() => void} changed Called when another report is shown.
 * @returns {{node: HTMLElement, verdicts: () => Map<string, {status: string, reason?: string}>}}
 */
export function reportPanel(changed) {
  const shown = h("div", { role: "status" });
  const input = h("input", { id: "verify-report", type: "file", accept: ".json,application/json", onchange: () => attempt(async () => {
    const [file] = input.files;
    if (!file) return;
    kept = read(await file.text());
    show();
    changed();
  }) });

  function show() {
    if (kept === null) return;
    const count = (status) => kept.rules.filter((rule) => rule.status === status).length;
    const age = (Date.now() - Date.parse(kept.started)) / 1000;
    const failed = kept.rules.filter((rule) => rule.status === "failed");
    fill(shown, h("p", {}, h("b", {}, kept.target), ` · verified at ${moment(kept.started)}, ${span(Math.max(age, 0))} ago`),
      h("p", {}, h("span", { class: "badge good" }, `${count("passed")} passed`), " ", h("span", { class: "badge bad" }, `${failed.length} failed`), " ",
        h("span", { class: "badge warn" }, `${counted(kept.rules.length - count("passed") - failed.length, "other")}`)),
      h("ul", { class: "entries" }, failed.map((rule) => ruleEntry({ ...rule, section: "see the rule", status: rule.assumed ? "assumed" : "stated" }, rule))));
  }

  show();
  const node = h("section", { class: "message", "aria-label": "Last verify" }, h("h2", {}, "Last verify"),
    h("p", { class: "quiet" }, "The report of ", h("code", {}, "understudy verify --report json=FILE"), " shows each rule's verdict. It is read by this page alone."),
    h("div", { class: "field" }, h("label", { for: "verify-report" }, "Report, as JSON"), input), shown);
  return { node, verdicts: () => new Map((kept?.rules ?? []).map((rule) => [rule.id, rule])) };
}

function read(text) {
  const report = JSON.parse(text);
  if (!Array.isArray(report.rules)) throw new Error("This file is no report of understudy verify; it has no rules.");
  return report;
}

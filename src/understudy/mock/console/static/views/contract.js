/**
 * The view of the contract: what clients have exercised of it, and what verify found.
 * @module
 */

import { admin, adminResponse } from "../api.js";
import { matrix, operationDetail } from "../contract/matrix.js";
import { evidence } from "../contract/evidence.js";
import { reportPanel } from "../contract/report.js";
import { ruleDetail } from "../contract/rule.js";
import { copyButton } from "../copying.js";
import { fill, h } from "../dom.js";
import { attempt } from "../notices.js";
import { address, go } from "../router.js";
import { saveFile } from "../saving.js";
import { afterTraffic } from "../store.js";

/** @param {HTMLElement} host @returns {import("./index.js").Mounted} */
export function mount(host) {
  const share = h("p", { class: "share", role: "status" });
  const table = h("div", { class: "wide message", tabindex: 0, "aria-label": "Operations by identity", role: "region" });
  const detail = h("section", { class: "message", "aria-label": "The chosen operation", hidden: true });
  const known = evidence();
  const report = reportPanel(known, (id) => rules.find((rule) => rule.id === id), () => show());
  let exercised = null;
  let rules = [];
  let choices = [];
  let operation = null;
  let rule = null;
  let isNew = false;

  const load = () => attempt(async () => {
    if (rules.length === 0) [rules] = await Promise.all([admin("GET", "/rules"), known.load()]);
    [exercised, choices] = await Promise.all([admin("GET", "/exercised"), admin("GET", "/choices")]);
    show();
  });

  function show() {
    if (exercised === null) return;
    const { share: part, exercised: count, declared, operations } = exercised;
    fill(share, h("meter", { min: 0, max: 1, value: part, "aria-label": "Share of the contract that was exercised" }),
      ` ${Math.round(part * 100)} % of the contract exercised: ${count} of ${declared} statuses and identities`);
    fill(table, matrix(operations, rules, known.of, operation));
    report.show();
    const content = chosen(operations);
    detail.hidden = !content;
    if (content) fill(detail, content);
    if (content && isNew) detail.scrollIntoView({ block: "start" });
    isNew = false;
  }

  function chosen(operations) {
    const close = () => go(["contract"]);
    const chosenRule = rules.find(({ id }) => id === rule);
    if (chosenRule) return ruleDetail(chosenRule, known.of(rule), operations, choices.find((it) => it.rule === rule), close);
    const chosenOperation = operations.find((it) => it.operation === operation);
    return chosenOperation && operationDetail(chosenOperation, rules, known.of, close);
  }

  fill(host, h("h1", {}, "Contract"),
    h("section", { class: "message", "aria-label": "Share" }, share,
      h("div", { class: "actions" },
        h("button", { type: "button", class: "small", onclick: () => attempt(savePicture) }, "Save as a picture"),
        copyButton("understudy exercised --svg exercised.svg", "Copy the command that draws it"),
        h("a", { href: address(["sign-ins"]) }, "Sign-ins, traced"))),
    table, detail, report.node);
  load();
  const end = afterTraffic(load);
  return {
    follow: ([name], query) => {
      operation = name ?? null;
      rule = query.get("rule");
      detail.setAttribute("aria-label", rule ? "The chosen rule" : "The chosen operation");
      isNew = true;
      show();
    },
    end,
  };
}

async function savePicture() {
  await saveFile(await adminResponse("GET", "/exercised/picture"));
}

/**
 * The view of the contract: what clients have exercised of it, and what verify found.
 * @module
 */

import { admin } from "../api.js";
import { matrix, operationDetail } from "../contract/matrix.js";
import { reportPanel } from "../contract/report.js";
import { copyButton } from "../copying.js";
import { fill, h } from "../dom.js";
import { attempt } from "../notices.js";
import { address, go } from "../router.js";
import { afterTraffic } from "../store.js";

/** @param {HTMLElement} host @returns {import("./index.js").Mounted} */
export function mount(host) {
  const share = h("p", { class: "share", role: "status" });
  const table = h("div", { class: "wide message", tabindex: 0, "aria-label": "Operations by identity", role: "region" });
  const detail = h("section", { class: "message", "aria-label": "The chosen operation", hidden: true });
  const report = reportPanel(() => show());
  let exercised = null;
  let rules = [];
  let selected = null;

  const load = () => attempt(async () => {
    [exercised, rules] = [await admin("GET", "/exercised"), rules.length > 0 ? rules : await admin("GET", "/rules")];
    show();
  });

  function show() {
    if (exercised === null) return;
    const { share: part, exercised: count, declared, operations } = exercised;
    fill(share, h("meter", { min: 0, max: 1, value: part, "aria-label": "Share of the contract that was exercised" }),
      ` ${Math.round(part * 100)} % of the contract exercised: ${count} of ${declared} statuses and identities`);
    fill(table, matrix(operations, rules, report.verdicts(), selected));
    const chosen = operations.find(({ operation }) => operation === selected);
    detail.hidden = !chosen;
    if (chosen) fill(detail, operationDetail(chosen, rules, report.verdicts(), () => go(["contract"])));
  }

  fill(host, h("h1", {}, "Contract"),
    h("section", { class: "message", "aria-label": "Share" }, share,
      h("div", { class: "actions" },
        copyButton("understudy exercised --svg exercised.svg", "Copy the command that draws it"),
        h("a", { href: address(["sign-ins"]) }, "Sign-ins, traced"))),
    table, detail, report.node);
  load();
  const end = afterTraffic(load);
  return {
    follow: ([operation]) => {
      selected = operation ?? null;
      show();
      if (!detail.hidden) detail.scrollIntoView({ block: "nearest" });
    },
    end,
  };
}

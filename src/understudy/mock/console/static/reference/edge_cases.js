/**
 * The edge cases of an operation: what makes each one nasty, sent one by one or all, and exported.
 * @module
 */

import { admin, adminResponse } from "../api.js";
import { fill, h } from "../dom.js";
import { attempt, showDone } from "../notices.js";
import { address } from "../router.js";
import { saveFile } from "../saving.js";

const COUNT = 20;
const FORMATS = ["curl", "http", "har", "postman", "bruno", "k6", "pytest", "jsonl"];
const TONES = { passed: "good", failed: "bad", "not sent": "warn" };

/** @param {string} operation operationId. @returns {HTMLElement} */
export function edgeCases(operation) {
  const list = h("div", {});
  const seed = h("input", { id: "edge-seed", type: "number", min: 0, max: 1_000_000, value: 0 });
  const form = h("select", { "aria-label": "Format" }, FORMATS.map((name) => h("option", {}, name)));
  const query = () => new URLSearchParams({ operation, count: String(COUNT), seed: seed.value || "0" });

  const load = () => attempt(async () => {
    const { cases } = await admin("GET", `/edge-cases?${query()}`);
    const rows = cases.map((it) => caseRow(it, send));
    fill(list, h("div", { class: "actions" },
      h("button", { type: "button", class: "small primary", onclick: () => attempt(async () => {
        let failed = 0;
        for (const { run } of rows) failed += (await run()) ? 0 : 1;
        showDone(failed === 0 ? `All ${rows.length} cases passed.` : `${failed} of ${rows.length} cases did not pass.`);
      }) }, "Send all"), form,
      h("button", { type: "button", class: "small", onclick: () => attempt(save) }, "Export")),
    h("div", { class: "wide" }, h("table", { class: "cases" }, h("thead", {}, h("tr", {}, ["Case", "Request", "Expected", "Outcome"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map(({ node }) => node)))));
  });

  const send = (id) => admin("POST", "/edge-cases/send", { operation, id, count: COUNT, seed: Number(seed.value || 0) });

  async function save() {
    const wanted = query();
    wanted.set("format", form.value);
    await saveFile(await adminResponse("GET", `/edge-cases/export?${wanted}`));
  }

  return h("section", { class: "message", "aria-label": "Edge cases" }, h("h2", {}, "Edge cases"),
    h("p", { class: "quiet" }, "Requests that try this operation at its edges, each with the response that the contract expects."),
    h("form", { class: "fields", onsubmit: (event) => {
      event.preventDefault();
      load();
    } }, h("div", { class: "field" }, h("label", { for: "edge-seed" }, "Seed: another one, other cases"), seed), h("button", { class: "small" }, "Show edge cases")), list);
}

function caseRow({ id, description, kind, method, path, expected, because }, send) {
  const outcome = h("span", { role: "status" });
  const run = async () => {
    const sent = await send(id);
    const [verdict, reason] = sent.outcome.split(": ");
    const badge = h("span", { class: `badge ${TONES[verdict]}` }, sent.status ? `${verdict} · ${sent.status}` : verdict);
    fill(outcome, sent.request ? h("a", { href: address(["traffic", sent.request]) }, badge) : badge, reason && h("p", { class: "fine" }, reason));
    return verdict === "passed";
  };
  const node = h("tr", {}, h("th", { scope: "row" }, description, h("p", { class: "fine" }, `${kind} · ${because}`)),
    h("td", {}, h("code", {}, `${method} ${path}`)), h("td", {}, expected.join(" or ")),
    h("td", {}, h("button", { type: "button", class: "small", "aria-label": `Send: ${description}`, onclick: () => attempt(run) }, "Send"), " ", outcome));
  return { node, run };
}

/**
 * The faults of the world: presets an operation, and those that are active.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { PRESETS, sentence } from "../faults.js";
import { attempt } from "../notices.js";

/** The stubs of the world; one is made from a request, by *Answer this otherwise*. */
export function stubsPanel() {
  const list = h("ul", { class: "entries" });
  const load = () => attempt(async () => {
    const stubs = await admin("GET", "/stubs");
    fill(list, stubs.map(entry));
    if (stubs.length === 0) fill(list, h("li", { class: "quiet" }, "No stub answers; open a request of the traffic to make one."));
  });
  const remove = (path) => attempt(async () => {
    await admin("DELETE", path);
    load();
  });
  const entry = (stub) => h("li", {},
    h("div", {}, h("p", {}, h("b", {}, stub.id), ` ${stub.operation}`, stub.allow_invalid && h("span", { class: "verdict bad" }, " may break the document")),
      h("p", { class: "fine" }, `${stub.answered} answered${stub.times === undefined ? "" : `, ${stub.times} more`}`), stub.nearest && h("p", { class: "fine" }, stub.why_unused)),
    h("button", { type: "button", class: "small danger", "aria-label": `Delete ${stub.id}`, onclick: () => remove(`/stubs/${encodeURIComponent(stub.id)}`) }, "Delete"));
  const node = h("section", { class: "message", "aria-label": "Stubs" }, h("h2", {}, "Stubs"), list,
    h("p", {}, h("button", { type: "button", class: "small", onclick: () => remove("/stubs") }, "Delete every stub")));
  return { node, load };
}

/** @returns {{node: HTMLElement, load: () => void}} */
export function faultsPanel() {
  const operation = h("select", { id: "fault-operation" }, h("option", { value: "" }, "every operation"));
  const list = h("ul", { class: "entries" });
  let isKnown = false;

  async function load() {
    if (!isKnown) offerOperations();
    const faults = await attempt(() => admin("GET", "/faults"));
    if (!faults) return;
    fill(list, faults.map(entry));
    if (faults.length === 0) fill(list, h("li", { class: "quiet" }, "No fault is active."));
  }

  async function offerOperations() {
    isKnown = true;
    const report = await attempt(() => admin("GET", "/exercised"));
    operation.append(...(report?.operations ?? []).map(({ operation: name }) => h("option", { value: name }, name)));
  }

  const add = (fault) => attempt(async () => {
    await admin("POST", "/faults", { ...fault, ...(operation.value ? { operation: operation.value } : {}) });
    load();
  });
  const remove = (path) => attempt(async () => {
    await admin("DELETE", path);
    load();
  });
  const entry = (fault) => h("li", {},
    h("div", {}, h("p", {}, h("b", {}, fault.id), ` ${sentence(fault)}`), h("p", { class: "fine" }, `${fault.met} matched, ${fault.struck} changed`)),
    h("button", { type: "button", class: "small danger", "aria-label": `Delete ${fault.id}`, onclick: () => remove(`/faults/${encodeURIComponent(fault.id)}`) }, "Delete"));

  const node = h("section", { class: "message", "aria-label": "Faults" }, h("h2", {}, "Faults"),
    h("div", { class: "field" }, h("label", { for: "fault-operation" }, "Operation"), operation),
    h("div", { class: "actions" }, PRESETS.map(({ label, about, fault }) =>
      h("button", { type: "button", class: "small", title: about, onclick: () => add(fault) }, label))),
    list, h("p", {}, h("button", { type: "button", class: "small", onclick: () => remove("/faults") }, "Delete every fault")));
  return { node, load };
}

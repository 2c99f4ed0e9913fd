/**
 * The filters of the traffic: fields whose values stand in the address.
 * @module
 */

import { fill, h } from "../dom.js";
import { clientName } from "../format.js";
import { isProblem } from "./verdict.js";

const CLASSES = ["", "2XX", "3XX", "4XX", "5XX"];

/**
 * Returns the test of the filters that an address holds.
 *
 * @param {URLSearchParams} query
 * @returns {(row: any) => boolean}
 */
export function filter(query) {
  const tests = [];
  const status = query.get("status");
  if (status) tests.push((row) => fitsStatus(row.response.status, status));
  const operation = query.get("operation");
  if (operation) tests.push((row) => row.operation === operation);
  const person = query.get("person");
  if (person) tests.push((row) => row.person === person);
  if (query.get("only") === "problems") tests.push(isProblem);
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length) tests.push((row) => words.every((word) => searched(row).includes(word)));
  return (row) => tests.every((test) => test(row));
}

function fitsStatus(status, wanted) {
  return /^\dXX$/i.test(wanted) ? Math.floor(status / 100) === Number(wanted[0]) : String(status) === wanted;
}

function searched(row) {
  row.searched ??= [
    `#${row.id}`, row.request.method, row.request.url, row.response.status, row.operation, row.person,
    row.identity, row.fault, row.request.userAgent, row.request.label, ...row.switches, clientName(row.request.userAgent ?? ""), ...row.notes,
  ].join(" ").toLowerCase();
  return row.searched;
}

/**
 * The bar of filters.
 *
 * @param {(changes: Record<string, string>) => void} change Puts changed filters into the address.
 * @param {() => void} togglePause
 */
export function filterBar(change, togglePause) {
  const search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search the requests",
    oninput: () => change({ q: search.value }) });
  const classes = h("div", { class: "segments", role: "group", "aria-label": "Status" });
  const operations = h("select", { "aria-label": "Operation", onchange: () => change({ operation: operations.value }) });
  const problems = h("button", { type: "button", class: "small", onclick: () => change({ only: isOnly ? "" : "problems" }) }, "Only problems");
  const pause = h("button", { type: "button", class: "small", onclick: togglePause }, "Pause");
  const person = h("span", {});
  const known = new Set();
  let isOnly = false;

  function show(query) {
    isOnly = query.get("only") === "problems";
    if (document.activeElement !== search) search.value = query.get("q") ?? "";
    problems.setAttribute("aria-pressed", String(isOnly));
    const current = query.get("status") ?? "";
    fill(classes, CLASSES.map((name) => h("button", { type: "button", "aria-pressed": String(name === current),
      onclick: () => change({ status: name }) }, name || "All")));
    const slug = query.get("person");
    fill(person, slug && h("button", { type: "button", class: "small", "aria-label": `Show the requests of everybody, not only of ${slug}`,
      onclick: () => change({ person: "" }) }, `${slug} ×`));
    const operation = query.get("operation") ?? "";
    if (operation) learn([{ operation }]);
    operations.value = operation;
  }

  /** Offers the operations of more requests. */
  function learn(rows) {
    const before = known.size;
    for (const { operation } of rows) if (operation) known.add(operation);
    if (known.size === before && operations.options.length) return;
    const current = operations.value;
    fill(operations, h("option", { value: "" }, "Every operation"), [...known].sort().map((name) => h("option", { value: name }, name)));
    operations.value = current;
  }

  /** @param {number | null} waiting Requests that came since the pause; null while there is none. */
  function showPause(waiting) {
    pause.textContent = waiting === null ? "Pause" : waiting ? `Resume (${waiting} new)` : "Resume";
    pause.setAttribute("aria-pressed", String(waiting !== null));
  }

  learn([]);
  showPause(null);
  const node = h("div", { class: "bar-of-filters" }, search, classes, operations, person, problems, pause);
  return { node, show, learn, showPause };
}

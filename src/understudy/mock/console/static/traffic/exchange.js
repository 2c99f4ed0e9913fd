/**
 * Shows one request in full: why it was answered so, the request and the response.
 * @module
 */

import { admin } from "../api.js";
import { bodyView } from "../body_view.js";
import { copy, menu } from "../copying.js";
import { fill, h } from "../dom.js";
import { counted, duration, moment, tone } from "../format.js";
import { PRESETS } from "../faults.js";
import { attempt, showDone } from "../notices.js";
import { address } from "../router.js";
import { FORMATS, sendable } from "../snippets.js";
import { editor } from "./editor.js";
import { saveCapsule } from "../worlds/capsule.js";
import { sendAgain } from "./sending.js";
import { stubEditor } from "./stub_editor.js";
import { remediesView } from "./remedies.js";
import { isSent } from "./verdict.js";
import { why } from "./why.js";

/**
 * Shows a request of the journal.
 *
 * @param {HTMLElement} host
 * @param {number} number Its number in the journal.
 * @param {string | undefined} mode `edit` shows the form that sends it with changes, `stub` the one that answers it otherwise.
 * @param {() => void} close
 */
export async function showExchange(host, number, mode, close) {
  host.inert = host.dataset.number !== String(number); // what is written into a form of the last one would be lost
  host.dataset.number = String(number);
  const exchange = await attempt(() => admin("GET", `/requests/${number}`));
  if (host.dataset.number !== String(number) || host.hidden) return;
  host.inert = false;
  if (!exchange) {
    fill(host, closeButton(close), h("p", { class: "quiet" }, `The journal does not remember request ${number}.`));
    return;
  }
  const open = new Set([...host.querySelectorAll("details[data-name]")].filter((it) => it.open).map((it) => it.dataset.name));
  fill(host,
    h("header", { class: "exchange-head" }, closeButton(close), title(exchange), facts(exchange)),
    actions(exchange),
    ({ edit: editor, stub: stubEditor })[mode]?.(exchange) ?? remediesView(exchange),
    why(exchange.explanation, exchange),
    message("Response", exchange.response, open),
    message("Request", exchange.request, open));
  if (mode === undefined) host.scrollTop = 0;
  const isAlone = host.previousElementSibling?.checkVisibility() === false; // on a phone, the list is hidden
  if (isAlone && document.activeElement === document.body) host.querySelector("button").focus();
}

function closeButton(close) {
  return h("button", { type: "button", class: "plain close", "aria-label": "Close this request", onclick: close }, "×");
}

function title(exchange) {
  const { request, response } = exchange;
  const [none, url] = isSent(exchange) ? ["none", request.absoluteUrl] : ["cut off", request.url];
  return h("h2", {}, h("span", { class: `badge ${tone(response.status)}` }, response.status || none), " ",
    h("b", {}, request.method), " ", h("span", { class: "url" }, url));
}

function facts({ id, request, timing, operation, identity, person, stub, invalid }) {
  return h("p", { class: "facts" },
    h("span", {}, `#${id}`),
    stub && h("span", {}, h("a", { href: address(["switches"]) }, stub), " answered"),
    invalid && h("span", { class: "verdict bad" }, "breaks the document"),
    h("span", {}, moment(request.loggedDateString)),
    h("span", {}, duration(timing.totalTime)),
    operation && h("span", {}, operation),
    h("span", {}, person ? h("a", { href: address(["people", person]) }, person) : identity.replace("_", " ")),
    h("span", {}, request.headers["user-agent"] ?? "no User-Agent"));
}

function actions(exchange) {
  const { operation, id } = exchange;
  const request = sendable(exchange);
  const about = exchange.explanation.about?.person;
  const formats = Object.entries(FORMATS).map(([name, write]) => [name, async () => {
    await copy(write(request, exchange.response.status));
    showDone(`Copied as ${name}.`);
  }]);
  const isAnswered = operation && !isSent(exchange); // what the mock sent is answered by another
  return h("div", { class: "actions", role: "group", "aria-label": "Actions" },
    h("button", { type: "button", class: "small", onclick: () => attempt(() => sendAgain(exchange)) }, "Send again"),
    !isSent(exchange) && h("a", { class: "button small", href: address(["traffic", id, "edit"]) }, "Edit and send"),
    isAnswered && h("a", { class: "button small", href: address(["traffic", id, "stub"]) }, "Answer this otherwise"),
    menu("Copy as", formats),
    isAnswered && menu("Make this a fault", PRESETS.map(({ label, about: effect, fault }) => [`${label}: ${effect}`,
      () => attempt(() => makeFault({ ...fault, operation }))])),
    h("button", { type: "button", class: "small", onclick: () => attempt(() => saveCapsule(id)) }, "Save a capsule"),
    h("button", { type: "button", class: "small", onclick: () => attempt(() => rewind(id)) }, "Rewind to before"),
    about && h("a", { class: "button small", href: address(["people", about]) }, `Show ${about}`));
}

async function makeFault(fault) {
  const made = await admin("POST", "/faults", fault);
  showDone(`${made.id} is active; it is listed under Switches.`);
}

async function rewind(request) {
  const { undone } = await admin("POST", "/changes/rewind", { request });
  showDone(`The world is as it was before request ${request}: ${counted(undone, "change")} undone.`);
}

function message(name, content, open) {
  const headers = Object.entries(content.headers);
  const key = name.toLowerCase();
  return h("section", { class: "message" },
    h("h3", {}, name),
    h("details", { "data-name": key, open: open.has(key) }, h("summary", {}, `${headers.length} header${headers.length === 1 ? "" : "s"}`),
      h("dl", { class: "headers" }, headers.map(([field, text]) => [h("dt", {}, field), h("dd", {}, text)]))),
    bodyView(content));
}


/**
 * Starts the console: its tabs, what it knows of the mock, and the view that the address names.
 * @module
 */

import { ROOT, keepAdminToken } from "./api.js";
import { copyButton } from "./copying.js";
import { fill, h } from "./dom.js";
import { duration, moment } from "./format.js";
import { follow } from "./live.js";
import { showError, showNews } from "./notices.js";
import { address, route } from "./router.js";
import { get, listen } from "./store.js";
import { themeButton } from "./theme.js";
import { VIEWS } from "./views/index.js";
import { takeDroppedCapsules } from "./worlds/capsule.js";

const STATES = {
  connecting: ["quiet", "connecting"],
  live: ["good", "live"],
  lost: ["bad", "no connection"],
  ended: ["bad", "this world has ended"],
  locked: ["bad", "locked"],
};

const SHOWN_CALLS = 12;

let shown = null;

async function show() {
  const { path, query } = route();
  const view = VIEWS.find(({ name }) => name === path[0]) ?? VIEWS[0];
  if (shown?.view !== view) {
    shown?.mounted.end();
    shown = null;
    showTabs(view);
    document.title = `${view.label} · understudy`;
    const host = h("div", { class: `view ${view.name}` });
    const { mount } = await view.load();
    if ((VIEWS.find(({ name }) => name === route().path[0]) ?? VIEWS[0]) !== view) return;
    fill(document.getElementById("content"), host);
    shown = { view, mounted: mount(host) };
  }
  shown.mounted.follow(path.slice(1), query);
}

function showTabs(current) {
  fill(document.getElementById("views"), VIEWS.map((view) =>
    h("a", { href: address([view.name]), "aria-current": view === current && "page" }, view.label)));
  document.querySelector("#views [aria-current]").scrollIntoView({ block: "nearest", inline: "nearest" });
}

function showStatus() {
  const { connection, world } = get();
  const [tone, text] = STATES[connection];
  fill(document.getElementById("status"),
    world && h("a", { class: "world", href: address(["worlds"]), title: "The world that this console shows" },
      h("span", { class: "quiet" }, "world "), world),
    h("span", { class: `badge ${tone}` }, text));
  const isAsked = document.getElementById("admin-token") !== null; // what is typed there stays when another call is refused
  if (connection === "locked" && !isAsked) askForToken();
}

function askForToken() {
  const input = h("input", { type: "password", id: "admin-token", autocomplete: "off", required: true });
  fill(document.getElementById("content"), h("form", { class: "card narrow", onsubmit: (event) => {
    event.preventDefault();
    keepAdminToken(input.value);
    location.reload();
  } },
  h("h1", {}, "Which admin token?"),
  h("p", {}, "This mock is on another machine. It showed its admin token when it started."),
  h("label", { for: "admin-token" }, "Admin token"), input,
  h("button", { class: "primary" }, "Open the console")));
}

function showCalls() {
  const [last, ...earlier] = get().calls;
  if (!last) return;
  const line = (call) => h("li", {},
    h("code", {}, `${call.method} ${pathOf(call)}`),
    h("span", { class: "quiet" }, `${call.status || "failed"} · ${duration(call.milliseconds)}`),
    copyButton(call.curl, "Copy as curl"));
  const isOpen = document.querySelector("#calls details")?.open;
  fill(document.getElementById("calls"), h("details", { open: isOpen },
    h("summary", {}, "Calls of this page ", h("code", {}, `${last.method} ${pathOf(last)}`)),
    h("ul", {}, [last, ...earlier].slice(0, SHOWN_CALLS).map(line)),
    h("p", { class: "fine" }, "Everything this page does is a call of the admin API, and can be made by hand.")));
}

function pathOf(call) {
  const { pathname, search } = new URL(call.url);
  return pathname.slice(ROOT.length) + search;
}

/** Keys 1 to 9 show the views; nothing happens while something is written. */
function onKey(event) {
  const isWriting = event.target.closest("input, textarea, select, [contenteditable]");
  if (isWriting || event.ctrlKey || event.metaKey || event.altKey) return;
  const view = VIEWS[Number(event.key) - 1];
  if (view) location.hash = address([view.name]);
}

async function start() {
  addEventListener("hashchange", () => show().catch(showError));
  addEventListener("keydown", onKey);
  addEventListener("unhandledrejection", ({ reason }) => showError(reason));
  addEventListener("error", ({ error }) => error && showError(error));
  takeDroppedCapsules();
  fill(document.getElementById("theme"), themeButton());
  listen("connection", showStatus);
  listen("world", showStatus);
  listen("calls", showCalls);
  listen("restarted", (started) => showNews(`The mock was restarted at ${moment(started)}: its journal and the history of changes began anew.`));
  showStatus();
  await show();
  follow();
}

start().catch(showError);

/**
 * The view of the traffic: every request as it ends, and one of them in full.
 * @module
 */

import { fill, h } from "../dom.js";
import { clientName, counted, duration, time, tone } from "../format.js";
import { address, go, replace, route } from "../router.js";
import { get, listen } from "../store.js";
import { showExchange } from "../traffic/exchange.js";
import { filter, filterBar } from "../traffic/filters.js";
import { longList } from "../traffic/list.js";
import { isPage, isSent, verdict } from "../traffic/verdict.js";
import { welcome } from "../traffic/welcome.js";

const ROW_HEIGHT = 34;
const COLUMNS = ["Time", "Request", "Operation", "Client", "World", "Status", "Duration", "Verdict"];

/** @param {HTMLElement} host @returns {import("./index.js").Mounted} */
export function mount(host) {
  const view = new Traffic(host);
  return { follow: (path, query) => view.follow(path, query), end: () => view.end() };
}

class Traffic {
  constructor(host) {
    this.query = new URLSearchParams();
    this.accepts = () => true;
    this.shown = [];
    this.selected = null;
    this.opened = "";
    this.paused = null;
    this.bar = filterBar((changes) => this.change(changes), () => this.togglePause());
    this.list = longList({ rowHeight: ROW_HEIGHT, label: "Requests, the newest first", head: headRow(), row: (item, index) => this.row(item, index) });
    this.count = h("p", { class: "count", role: "status" });
    this.detail = h("section", { class: "detail", "aria-label": "The chosen request", hidden: true });
    this.empty = h("div", { class: "empty" });
    this.host = host;
    fill(host, h("h1", { class: "spoken" }, "Traffic"), h("section", { class: "listing", "aria-label": "Requests" }, this.bar.node, this.count, this.list.node, this.empty), this.detail);
    this.ends = [
      listen("added", (rows) => this.add(rows)),
      listen("rows", () => this.refresh()),
      listen("connection", () => this.showCount()),
      listen("restarted", () => go(["traffic"], this.query)),
    ];
    this.onKey = (event) => this.key(event);
    addEventListener("keydown", this.onKey);
    this.bar.learn(get().rows);
  }

  follow(path, query) {
    this.query = query;
    this.accepts = filter(query);
    this.bar.show(query);
    this.selected = path[0] ? Number(path[0]) : null;
    this.refresh();
    this.detail.hidden = this.selected === null;
    this.host.classList.toggle("with-detail", this.selected !== null);
    this.showDetail(path);
    const index = this.shown.findIndex((row) => row.id === this.selected);
    if (index >= 0) this.list.reveal(index);
  }

  /** Shows the chosen request, unless only the filters changed. */
  showDetail(path) {
    const place = path.join("/");
    if (place === this.opened) return;
    this.opened = place;
    if (this.selected === null) fill(this.detail);
    else showExchange(this.detail, this.selected, path[1], () => go(["traffic"], this.query));
  }

  end() {
    for (const end of this.ends) end();
    removeEventListener("keydown", this.onKey);
    this.list.end();
  }

  change(changes) {
    const query = new URLSearchParams(this.query);
    for (const [name, text] of Object.entries(changes)) query.set(name, text);
    replace(["traffic", ...route().path.slice(1)], query);
  }

  togglePause() {
    this.paused = this.paused === null ? get().total : null;
    this.refresh();
  }

  /** Adds requests that have just come; a pause holds them back. */
  add(rows) {
    this.bar.learn(rows);
    if (this.paused !== null) {
      this.bar.showPause(get().total - this.paused);
      return;
    }
    const fresh = rows.filter(this.accepts).reverse();
    this.shown = [...fresh, ...this.shown].slice(0, get().rows.length);
    this.list.show(this.shown, fresh.length);
    this.showCount();
  }

  /** Filters all requests anew. */
  refresh() {
    const { rows, total } = get();
    const known = this.paused === null ? rows : rows.filter((row) => row.id <= this.paused);
    this.shown = known.filter(this.accepts).reverse();
    this.bar.showPause(this.paused === null ? null : total - this.paused);
    this.list.show(this.shown);
    this.showCount();
  }

  showCount() {
    const { total, forgotten, skipped, connection, rows } = get();
    const isFirstVisit = rows.every(isPage) && skipped === 0 && connection === "live" && this.selected === null;
    this.host.classList.toggle("first-visit", isFirstVisit);
    if (isFirstVisit) {
      if (!this.empty.firstChild) welcome(this.empty, () => this.host.classList.contains("first-visit"));
      return;
    }
    const isFiltered = this.shown.length !== rows.length && rows.length > 0;
    fill(this.empty, isFiltered && this.shown.length === 0 && h("p", { class: "quiet" }, "No request fits the filters. ",
      h("a", { href: address(["traffic"]) }, "Show all")));
    fill(this.count, [
      counted(total - forgotten, "request"),
      isFiltered ? `${this.shown.length.toLocaleString("en")} shown` : "",
      skipped ? `${skipped.toLocaleString("en")} counted and not listed, as they came too fast` : "",
    ].filter(Boolean).join(" · "), skipped > 0 && [" ", h("button", { type: "button", class: "link", onclick: () => location.reload() }, "List what is remembered")]);
  }

  row(item, index) {
    const isSelected = item.id === this.selected;
    const { status } = item.response;
    const judged = verdict(item);
    const agent = item.request.userAgent ?? "";
    return h("div", { role: "row", class: isSelected ? "row selected" : "row", "aria-rowindex": index + 2, "data-key": item.id },
      h("span", { role: "cell", class: "at" }, time(item.request.loggedDateString)),
      h("span", { role: "cell", class: "what" },
        h("a", { href: address(["traffic", item.id], this.query), "aria-current": isSelected && "true" },
          h("b", {}, item.request.method), " ", item.request.url)),
      h("span", { role: "cell", class: "operation" }, item.operation ?? ""),
      h("span", { role: "cell", class: "client", title: agent }, who(item, item.request.label || clientName(agent))),
      h("span", { role: "cell", class: "world-name" }, item.world),
      h("span", { role: "cell", class: "code" }, h("span", { class: `badge ${tone(status)}` }, status || (isSent(item) ? "none" : "cut off"))),
      h("span", { role: "cell", class: "ms" }, duration(item.timing.totalTime)),
      h("span", { role: "cell", class: `verdict ${judged.tone}`, title: judged.text }, judged.text));
  }

  /** Arrow keys, or j and k, go through the requests; Escape closes the one that is open. */
  key(event) {
    if (event.target.closest("input, textarea, select, summary, .menu-list") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
      event.preventDefault();
      this.bar.node.querySelector("input").focus();
    } else if (event.key === "Escape" && this.selected !== null) {
      go(["traffic"], this.query);
    } else {
      this.step({ ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key] ?? 0, event);
    }
  }

  step(direction, event) {
    if (direction === 0 || this.shown.length === 0 || event.target.closest("pre, .detail")) return;
    event.preventDefault();
    const current = this.shown.findIndex((row) => row.id === this.selected);
    const index = Math.min(Math.max(current + direction, 0), this.shown.length - 1);
    replace(["traffic", this.shown[index].id], this.query);
  }
}

function who(item, client) {
  return item.person ? `${client} · ${item.person}` : client;
}

function headRow() {
  return h("div", { role: "row", class: "row head" }, COLUMNS.map((name) => h("span", { role: "columnheader" }, name)));
}

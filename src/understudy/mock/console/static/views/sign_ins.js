/**
 * The view of the sign-ins: each authorization from its request to the first call with the token.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { time } from "../format.js";
import { attempt } from "../notices.js";
import { address, go } from "../router.js";
import { sequence } from "../sign_ins/sequence.js";
import { afterTraffic } from "../store.js";

const TONES = { right: "good", wrong: "bad", advice: "warn" };

/** @param {HTMLElement} host @returns {import("./index.js").Mounted} */
export function mount(host) {
  const list = h("ul", { class: "entries" });
  const detail = h("div", { class: "traced" });
  let traces = [];
  let selected = null;

  const load = () => attempt(async () => {
    traces = await admin("GET", "/sign-ins");
    show();
  });

  function show() {
    if (traces.length === 0) {
      fill(list, h("li", { class: "quiet" }, "No authorization request yet. Send a browser to /oauth2/authorize at the authorization server's address."));
      fill(detail);
      return;
    }
    const chosen = traces.find(({ request }) => request === selected) ?? traces[0];
    fill(list, traces.map((trace) => entry(trace, trace === chosen)));
    fill(detail, whole(chosen));
  }

  fill(host, h("h1", {}, "Sign-ins"), h("div", { class: "panels sign-in-panels" },
    h("section", { class: "message", "aria-label": "The latest sign-ins" }, h("h2", {}, "The latest"), list), detail));
  load();
  const end = afterTraffic(load);
  return {
    follow: ([number]) => {
      selected = number ? Number(number) : null;
      show();
    },
    end,
  };
}

function entry({ request, started, application, client_id: client, flow, stopped, advice }, isChosen) {
  return h("li", { class: isChosen ? "selected" : "" }, h("div", {},
    h("a", { href: address(["sign-ins", request]), "aria-current": isChosen && "true" }, h("bdi", {}, application ?? (client || "no client"))),
    h("p", { class: "fine" }, `${time(started).slice(0, 8)} · ${flow || "no response_type"}`)),
  h("span", {}, h("span", { class: `badge ${stopped ? "bad" : "good"}` }, stopped ? "stopped" : "complete"),
    advice.length > 0 && [" ", h("span", { class: "badge warn" }, `${advice.length} to improve`)]));
}

function whole(trace) {
  return [
    h("section", { class: "message", "aria-label": "Sequence" }, h("h2", {}, "From the request to the first call"),
      h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Sequence diagram" }, sequence(trace, (request) => go(["traffic", request]))),
      trace.stopped && h("p", { class: "stopped" }, h("span", { class: "badge bad" }, "It stopped here"), " ", trace.stopped)),
    trace.advice.length > 0 && h("section", { class: "message", "aria-label": "Advice" }, h("h2", {}, "What the client should do better"),
      h("ul", { class: "entries" }, trace.advice.map((text) => h("li", {}, h("p", {}, text))))),
    trace.steps.filter(({ parameters }) => parameters.length > 0).map(parameters),
  ];
}

function parameters({ kind, request, method, path, parameters: judged }) {
  return h("section", { class: "message", "aria-label": `Parameters of ${kind}` },
    h("h2", {}, kind === "token" ? "The exchange of the code" : "The authorization request"),
    h("p", { class: "fine" }, h("a", { href: address(["traffic", request]) }, `Request ${request}`), ": ", h("code", {}, `${method} ${path}`)),
    h("div", { class: "wide" }, h("table", {}, h("thead", {}, h("tr", {}, ["Parameter", "Value", "Verdict"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, judged.map(({ name, value, verdict, sentence, advice }) => h("tr", {},
        h("th", { scope: "row" }, h("code", {}, name)), h("td", {}, value ? h("code", {}, value) : h("span", { class: "quiet" }, "not sent")),
        h("td", {}, h("span", { class: `badge ${TONES[verdict]}` }, verdict), " ", sentence, advice && h("p", { class: "fine" }, advice))))))));
}

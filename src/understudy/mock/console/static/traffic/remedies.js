/**
 * Finds out what a client probably meant, and offers to send that instead.
 * @module
 */

import { admin } from "../api.js";
import { h } from "../dom.js";
import { attempt } from "../notices.js";
import { sendAgain } from "./sending.js";

const MD5 = /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/i;
/** What the mock notes of an identifier that leads to nobody quotes last what to send instead. */
const MEANT = /(?:SHA-256|did you mean) '([^']+)'/;

/**
 * @typedef {object} Remedy
 * @property {any} text What is wrong.
 * @property {string} label What the button does.
 * @property {() => Promise<void>} apply
 */

/**
 * Returns an element that fills itself with the corrections of a refused request.
 *
 * @param {any} exchange
 * @returns {HTMLElement}
 */
export function remediesView(exchange) {
  const host = h("section", { class: "remedies", "aria-label": "How to correct it", hidden: true });
  attempt(async () => {
    const remedies = await remediesOf(exchange);
    host.hidden = remedies.length === 0;
    host.append(...remedies.map(({ text, label, apply }) => h("div", { class: "remedy" }, h("p", {}, text),
      h("button", { type: "button", class: "primary small", onclick: () => attempt(apply) }, label))));
  });
  return host;
}

/** @param {any} exchange @returns {Promise<Remedy[]>} */
async function remediesOf(exchange) {
  const { status } = exchange.response;
  const found = exchange.fault ? [withoutFault(exchange)] : [];
  if (!exchange.wasMatched) return [...found, ...(await nearMisses(exchange))];
  if (exchange.fault) return found;
  const remedy = { 401: signedIn, 403: signedIn, 429: withClearedLimit }[status] ?? withRightIdentifier;
  return [...found, ...((await remedy?.(exchange)) ?? [])];
}

function withoutFault(exchange) {
  return {
    text: ["The fault ", h("code", {}, exchange.fault), " changed this response."],
    label: "Delete the fault and send again",
    async apply() {
      await admin("DELETE", `/faults/${encodeURIComponent(exchange.fault)}`);
      await sendAgain(exchange);
    },
  };
}

async function nearMisses(exchange) {
  const { nearMisses: misses } = await admin("GET", "/requests/unmatched/near-misses");
  const { method, url } = exchange.request;
  const own = misses.filter(({ request }) => request.method === method && request.url === url);
  const seen = new Map(own.map((miss) => [miss.stubMapping.name, miss]));
  return [...seen.values()].slice(0, 3).map(({ stubMapping }) => {
    const { method: right, urlPathTemplate: template } = stubMapping.request;
    const filled = filledIn(template, url);
    return {
      text: ["Did it mean ", h("b", {}, stubMapping.name), ", ", h("code", {}, `${right} ${template}`), "?"],
      label: `Send ${right} ${filled}`,
      apply: () => sendAgain(exchange, { method: right, url: filled }),
    };
  });
}

/** Puts the last segment of the wrong address where the template has its parameter. */
function filledIn(template, url) {
  const [path, query] = url.split("?");
  const last = path.split("/").filter(Boolean).at(-1) ?? "";
  const filled = template.replace(/\{[^}]+\}/g, last);
  return query ? `${filled}?${query}` : filled;
}

function withRightIdentifier(exchange) {
  const { url } = exchange.request;
  const note = exchange.explanation.notes.find((it) => MEANT.test(it));
  const remedies = [];
  if (note) {
    const [path, query] = url.split("?");
    const right = path.replace(/[^/]+$/, note.match(MEANT)[1]);
    remedies.push({
      text: note,
      label: "Send again with what was meant",
      apply: () => sendAgain(exchange, { url: query ? `${right}?${query}` : right }),
    });
  }
  if (exchange.explanation.about === null && MD5.test(url)) remedies.push(acceptedMd5(exchange));
  return remedies;
}

function acceptedMd5(exchange) {
  return {
    text: ["32 digits are an MD5 hash, as old clients send it. The switch ", h("code", {}, "email-hashes"), " makes it count."],
    label: "Accept MD5 in this world and send again",
    async apply() {
      await admin("PATCH", "/choices", { "email-hashes": "md5-too" });
      await sendAgain(exchange);
    },
  };
}

async function signedIn(exchange) {
  const { people } = await admin("GET", "/people?limit=1");
  const person = exchange.person ?? people[0]?.slug;
  if (!person) return [];
  return [{
    text: exchange.person ? `The token of ${person} does not open this operation.` : "No valid token came with this request.",
    label: `Send again as ${person}, with every scope`,
    apply: () => sendAgain(exchange, { person }),
  }];
}

function withClearedLimit(exchange) {
  const principal = exchange.person ?? "anonymous";
  return [{
    text: `The limit of ${principal} is used up for this hour.`,
    label: "Clear it and send again",
    async apply() {
      await admin("DELETE", `/limits/${encodeURIComponent(principal)}`);
      await sendAgain(exchange);
    },
  }];
}

/**
 * Finds out what a client probably meant, and offers to send that instead.
 * @module
 */

import { admin } from "../api.js";
import { h } from "../dom.js";
import { attempt } from "../notices.js";
import { hasHash, hasMd5, misread } from "./hashes.js";
import { sendAgain } from "./sending.js";

/**
 * @typedef {object} Remedy
 * @property {any} text What is wrong.
 * @property {string} label What the button does.
 * @property {() => Promise<void>} apply
 */

/**
 * Returns an element that fills itself with what would mend a refused request.
 *
 * @param {any} exchange
 * @returns {HTMLElement}
 */
export function remediesView(exchange) {
  const host = h("section", { class: "remedies", "aria-label": "What would mend it", hidden: true });
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
  if (status < 400) return isOfNobody(exchange) ? withRightHash(exchange) : found;
  const remedy = { 401: signedIn, 403: signedIn, 404: withRightHash, 429: withClearedLimit }[status];
  return [...found, ...((await remedy?.(exchange)) ?? [])];
}

/** Tells whether a hash led to nobody, and a placeholder or a picture of it was the response. */
function isOfNobody({ explanation, request }) {
  return explanation.about === null && hasHash(request.url);
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

async function withRightHash(exchange) {
  const { people } = await admin("GET", "/people?limit=500");
  const meant = await misread(exchange.request.url, people);
  if (meant) {
    return [{
      text: ["This is a hash of ", h("code", {}, meant.email), `, an address of ${meant.person} that ${meant.mistake} before it was hashed. Trim it and put it in lower case first.`],
      label: "Send again with the right hash",
      apply: () => sendAgain(exchange, { url: meant.url }),
    }];
  }
  if (!hasMd5(exchange.request.url)) return [];
  return [{
    text: ["32 digits are an MD5 hash, as old clients send it. The switch ", h("code", {}, "email-hashes"), " makes it count."],
    label: "Accept MD5 in this world and send again",
    async apply() {
      await admin("PATCH", "/choices", { "email-hashes": "md5-too" });
      await sendAgain(exchange);
    },
  }];
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

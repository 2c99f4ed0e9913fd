/**
 * Sends a request of the journal again, with changes or without.
 * @module
 */

import { ROOT, admin } from "../api.js";
import { header } from "../body_view.js";
import { route, go } from "../router.js";
import { sendWebhook } from "../reference/webhooks.js";
import { sendable } from "../snippets.js";
import { isSent } from "./verdict.js";

/** Names of fields that a browser sets by itself, and lets no page set (Fetch, forbidden request-header). */
const BROWSERS = /^(?:cookie|origin|referer|date|dnt|expect|via|user-agent|x-mock-console|proxy-.*|access-control-request-.*)$/i;
const MARK = "X-Mock-Console";
const LOOKED_AT = 20;

/**
 * @typedef {object} Changes What is to be sent otherwise.
 * @property {string} [method]
 * @property {string} [url] Path and query.
 * @property {Record<string, string>} [headers] Instead of all of them.
 * @property {string} [text] The body.
 * @property {string} [person] Slug of whom to sign in as; empty for nobody.
 */

/**
 * Sends a request again, and shows it once it is in the journal.
 *
 * A browser keeps the responses of another address from this page, so the mock itself sends what
 * goes to the authorization server's.
 *
 * @param {any} exchange
 * @param {Changes} [changes]
 */
export async function sendAgain(exchange, changes = {}) {
  if (isSent(exchange)) await sendWebhook(decodeURIComponent(exchange.request.headers["x-mock-client"]), sentBefore(exchange.request));
  else if (isHere(exchange)) await sendHere(exchange, changes);
  else await sendThere(exchange, changes);
}

/** Returns how a webhook is sent to the same receiver with the same body, if that is JSON. */
function sentBefore({ absoluteUrl: url, body }) {
  try {
    return { url, body: JSON.parse(body) };
  } catch {
    return { url };
  }
}

function isHere({ site, request }) {
  if (site) return site === "resource";
  return !URL.canParse(request.absoluteUrl) || new URL(request.absoluteUrl).port === location.port;
}

async function sendHere(exchange, changes) {
  const request = { ...sendable(exchange), ...changes };
  const mark = crypto.randomUUID?.() ?? String(Math.random());
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !BROWSERS.test(name)));
  await authorize(headers, exchange, changes.person);
  await fetch(ROOT + (changes.url ?? exchange.request.url), {
    method: request.method,
    headers: { ...headers, [MARK]: mark },
    body: body(request),
    cache: "no-store",
    redirect: "manual",
  }).catch(() => null); // a fault may cut the connection off: the journal has what happened
  await showSent(mark);
}

async function sendThere(exchange, { method, url, headers, text, base64 }) {
  const isNew = exchange.id === undefined;
  const masked = headers && Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace("$TOKEN", "***")]));
  const { request } = await admin("POST", "/send", {
    ...(isNew ? { site: exchange.site } : { like: exchange.id }),
    method, url, headers: masked, body: text, base64,
  });
  if (request === null) throw new Error("The request was sent, and is not in the journal; was it one too many?");
  go(["traffic", request], route().query);
}

/** Puts a token where the journal has a masked one, or that of another person. */
async function authorize(headers, exchange, person) {
  const name = Object.keys(headers).find((field) => field.toLowerCase() === "authorization");
  const slug = person ?? (name && headers[name].includes("$TOKEN") ? exchange.person : undefined);
  if (slug === undefined) return;
  if (name) delete headers[name];
  if (!slug) return;
  const kind = exchange.identity === "api_key" && person === undefined ? "api_key" : "oauth";
  const { scopes } = exchange.explanation;
  const isSame = person === undefined && kind === "oauth" && scopes?.length;
  const { token } = await admin("POST", "/tokens", { person: slug, kind, ...(isSame ? { scopes } : {}) });
  headers.Authorization = `Bearer ${token}`;
}

function body({ method, text, base64 }) {
  if (method === "GET" || method === "HEAD") return undefined;
  return base64 ? Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)) : text;
}

async function showSent(mark) {
  const { requests } = await admin("GET", `/requests?limit=${LOOKED_AT}`);
  const sent = requests.find(({ request }) => header(request.headers, MARK.toLowerCase()) === mark);
  if (!sent) throw new Error("The request was sent, and is not in the journal; was it one too many?");
  go(["traffic", sent.id], route().query);
}

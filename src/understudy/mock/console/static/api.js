/**
 * Calls the admin API, and the mock itself; every call can be copied as a command.
 * @module
 */

import { get, update } from "./store.js";
import { curl } from "./snippets.js";

/** The path of the world that this console shows: empty, or `/__world/NAME`. */
export const ROOT = location.pathname.replace(/\/__console\/?$/, "");

const TOKEN = "understudy-admin-token";
const REMEMBERED = 50;

/** A call that failed, with the call itself. */
export class CallError extends Error {
  /**
   * @param {{method: string, url: string, body?: any}} call
   * @param {number} status 0 if there was no response.
   * @param {string} detail
   * @param {string | null} [world] The world in which the call would be right.
   */
  constructor(call, status, detail, world = null) {
    super(detail);
    this.call = call;
    this.status = status;
    this.world = world;
  }
}

/**
 * Calls the admin API.
 *
 * @param {string} method
 * @param {string} path Below `/__admin`.
 * @param {any} [body] Sent as JSON.
 * @returns {Promise<any>} The response's JSON; null if it has no content.
 * @throws {CallError} The mock refused it, or did not respond.
 */
export async function admin(method, path, body) {
  const response = await adminResponse(method, path, body);
  const text = await response.text();
  return text === "" ? null : JSON.parse(text);
}

/**
 * Calls the admin API, and returns the response itself, such as a file.
 *
 * @param {string} method
 * @param {string} path Below `/__admin`.
 * @param {any} [body] Sent as JSON, but bytes as a ZIP archive.
 * @param {AbortSignal} [signal] Ends the call.
 * @param {string} [root] The address of another world's admin API.
 * @returns {Promise<Response>}
 * @throws {CallError} The mock refused it, or did not respond.
 */
export async function adminResponse(method, path, body, signal, root = `${location.origin}${ROOT}/__admin`) {
  const call = { method, url: `${root}${path}`, body };
  const started = performance.now();
  const token = adminToken();
  let response;
  try {
    response = await fetch(call.url, { method, signal, ...encoded(body), cache: "no-store" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw failed(call, 0, "The mock does not respond; is it still running?", started);
  }
  if (response.ok) {
    remember(call, response.status, started);
    return response;
  }
  if (response.status === 403 && token !== adminToken()) return adminResponse(method, path, body, signal, root); // a token was given meanwhile
  const problem = await response.json().catch(() => ({}));
  throw failed(call, response.status, problem.detail ?? problem.title ?? "", started, response.headers.get("x-mock-world"));
}

/**
 * Returns the address of a person's picture, which leaves no trace in the journal.
 *
 * @param {string} slug
 * @param {number} size In pixels.
 * @returns {Promise<string>}
 */
export async function pictureAddress(slug, size) {
  const address = `${ROOT}/__admin/people/${encodeURIComponent(slug)}/avatar?size=${size}`;
  if (adminToken() === null) return address;
  const response = await fetch(address, encoded());
  return URL.createObjectURL(await response.blob());
}

/** Returns the admin token that other machines than the mock's own need; null for none. */
export function adminToken() {
  return sessionStorage.getItem(TOKEN);
}

/**
 * Keeps the admin token until the browser is closed.
 *
 * @param {string} token
 */
export function keepAdminToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

function encoded(body) {
  const token = adminToken();
  const headers = { "X-Mock-Client": "console", ...(token !== null && { Authorization: `Bearer ${token}` }) };
  if (body === undefined) return { headers };
  if (body instanceof Blob) return { headers: { ...headers, "Content-Type": "application/zip" }, body };
  return { headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

function failed(call, status, detail, started, world) {
  remember(call, status, started);
  if (status === 403 && detail.includes("Authorization: Bearer")) update({ connection: "locked" });
  return new CallError(call, status, detail, world);
}

function remember(call, status, started) {
  const [last] = get().calls;
  const isRepeated = status === 0 && last?.status === 0 && last.url === call.url;
  if (isRepeated) return; // while the mock is down, one line says so
  const entry = { ...call, status, milliseconds: performance.now() - started, curl: adminCurl(call) };
  update({ calls: [entry, ...get().calls].slice(0, REMEMBERED) });
}

/**
 * Returns a call of the admin API as a curl command.
 *
 * @param {{method: string, url: string, body?: any}} call
 */
export function adminCurl({ method, url, body }) {
  const isFile = body instanceof Blob;
  const headers = {};
  if (adminToken() !== null) headers.Authorization = "Bearer $ADMIN_TOKEN";
  if (body !== undefined) headers["Content-Type"] = isFile ? "application/zip" : "application/json";
  return curl({ method, url, headers, text: isFile ? "@FILE" : body && JSON.stringify(body) });
}

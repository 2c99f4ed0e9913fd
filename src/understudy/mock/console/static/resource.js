/**
 * Calls the resource API as a client does; such requests appear in the traffic, and count.
 * @module
 */

import { ROOT, admin } from "./api.js";
import { get } from "./store.js";

/**
 * Calls an operation of the resource API.
 *
 * @param {string} path Below the base path of the document in force.
 * @param {RequestInit} [options] As `fetch` takes them.
 * @returns {Promise<Response>}
 */
export async function resource(path, options = {}) {
  const { base_url: base, admin_url: steering } = await shownWorld();
  const site = steering.slice(0, -"/__admin".length);
  return fetch(ROOT + base.slice(site.length) + path, { ...options, cache: "no-store" });
}

/** Returns the world that this console shows, with its addresses, people and tokens. */
export function shownWorld() {
  return admin("GET", `/worlds/${encodeURIComponent(get().world ?? "default")}`);
}

/**
 * Issues a token of a person for as long as some work takes.
 *
 * @template T
 * @param {string} slug
 * @param {(headers: Record<string, string>) => Promise<T>} work Gets the Authorization header.
 * @returns {Promise<T>}
 */
export async function signedInAs(slug, work) {
  const { token } = await admin("POST", "/tokens", { person: slug });
  try {
    return await work({ Authorization: `Bearer ${token}` });
  } finally {
    await admin("DELETE", `/tokens?token=${encodeURIComponent(token)}`);
  }
}

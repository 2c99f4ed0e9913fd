/**
 * Saves responses as files.
 * @module
 */

import { h } from "./dom.js";

/**
 * Saves the body of a response, as a file of the name that the response gives it.
 *
 * @param {Response} response
 * @param {string} [name] Another name.
 */
export async function saveFile(response, name) {
  const [, suggested] = response.headers.get("Content-Disposition")?.match(/filename="(.*)"/) ?? [];
  const link = h("a", { href: URL.createObjectURL(await response.blob()), download: name ?? suggested });
  link.click();
  URL.revokeObjectURL(link.href);
}

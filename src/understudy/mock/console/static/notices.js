/**
 * Shows what went wrong with the call that failed, and what was done.
 * @module
 */

import { adminCurl, CallError } from "./api.js";
import { copyButton } from "./copying.js";
import { h } from "./dom.js";

const MOST = 4;
const SECONDS_SHOWN = 4;

/**
 * Shows an error until it is dismissed.
 *
 * @param {unknown} error
 */
export function showError(error) {
  const text = error instanceof Error ? error.message : String(error);
  if (!(error instanceof CallError)) {
    console.error(error);
    show("bad", h("p", {}, text));
    return;
  }
  const { method, url } = error.call;
  const command = adminCurl(error.call);
  show(
    "bad",
    h("p", {}, text || "The mock refused the call."),
    h("p", { class: "fine" }, h("code", {}, `${method} ${new URL(url).pathname}`), error.status ? ` responded ${error.status}. ` : " ",
      copyButton(command, "Copy as curl")),
  );
}

/**
 * Shows what happened until it is dismissed, as nobody may be looking.
 *
 * @param {string} text
 */
export function showNews(text) {
  show("good", h("p", {}, text));
}

/**
 * Shows for a moment what was done.
 *
 * @param {string} text
 */
export function showDone(text) {
  const notice = show("good", h("p", {}, text));
  setTimeout(() => notice.remove(), SECONDS_SHOWN * 1000);
}

/**
 * Runs an action of the user, and shows its error.
 *
 * @template T
 * @param {() => Promise<T>} action
 * @param {string} [done] What to show once it is done.
 * @returns {Promise<T | undefined>}
 */
export async function attempt(action, done) {
  try {
    const result = await action();
    if (done) showDone(done);
    return result;
  } catch (error) {
    showError(error);
    return undefined;
  }
}

function show(tone, ...children) {
  const host = document.getElementById("notices");
  const notice = h("div", { class: `notice ${tone}` }, h("div", {}, children),
    h("button", { type: "button", class: "plain", "aria-label": "Dismiss", onclick: () => notice.remove() }, "×"));
  host.prepend(notice);
  while (host.children.length > MOST) host.lastElementChild.remove();
  return notice;
}

/**
 * Copies texts to the clipboard.
 * @module
 */

import { h } from "./dom.js";

const SHOWN = 1500;

/**
 * Returns a button that copies a text.
 *
 * @param {string | (() => string)} text
 * @param {string} label
 * @param {Record<string, any>} [properties] Of the button.
 */
export function copyButton(text, label, properties = {}) {
  const button = h("button", { type: "button", class: "small", ...properties, onclick: async () => {
    await copy(typeof text === "function" ? text() : text);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), SHOWN);
  } }, label);
  return button;
}

/**
 * Copies a text; without a clipboard, as on plain HTTP of another machine, it is shown to be copied.
 *
 * @param {string} text
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    prompt("Copy this text:", text);
  }
}

/**
 * Returns a menu: a button that opens a list of actions, and closes with Escape.
 *
 * @param {string} label
 * @param {[string, () => void][]} actions
 */
export function menu(label, actions) {
  const list = h("div", { class: "menu-list" }, actions.map(([name, run]) =>
    h("button", { type: "button", class: "plain", onclick: () => {
      details.open = false;
      summary.focus();
      run();
    } }, name)));
  const summary = h("summary", { class: "small" }, label);
  const details = h("details", { class: "menu", onkeydown: (event) => {
    if (event.key !== "Escape" || !details.open) return;
    event.stopPropagation();
    details.open = false;
    summary.focus();
  }, onfocusout: (event) => {
    if (event.relatedTarget && !details.contains(event.relatedTarget)) details.open = false;
  } }, summary, list);
  return details;
}

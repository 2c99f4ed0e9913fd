/**
 * Shows a body: JSON in colours, pictures as pictures, text as text, other bytes as hexadecimal digits.
 * @module
 */

import { h } from "./dom.js";

const MOST_CHARACTERS = 60_000;
const MOST_BYTES = 512;
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Returns the body of a request or a response of the journal.
 *
 * @param {{headers: Record<string, string>, body?: string, bodyAsBase64?: string}} message
 * @returns {HTMLElement}
 */
export function bodyView(message) {
  if (!message.bodyAsBase64) return h("p", { class: "quiet" }, "No body.");
  const type = header(message.headers, "content-type").split(";")[0].trim().toLowerCase();
  if (type.startsWith("image/")) return pictureView(message, type);
  if (message.body === undefined) return hexView(message.bodyAsBase64);
  const text = pretty(message.body);
  if (text === null) return h("pre", { tabindex: 0 }, cut(message.body));
  return h("pre", { tabindex: 0 }, coloured(cut(text)));
}

/** @param {Record<string, string>} headers @param {string} name In lower case. */
export function header(headers, name) {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? "";
}

/**
 * Returns JSON as coloured text.
 *
 * @param {any} value
 */
export function jsonView(value) {
  return h("pre", { tabindex: 0 }, coloured(cut(JSON.stringify(value, null, 2))));
}

function pictureView(message, type) {
  const image = h("img", { class: "body-picture", alt: "The body, as a picture", src: `data:${type};base64,${message.bodyAsBase64}` });
  const about = h("figcaption", { class: "quiet" }, type);
  image.addEventListener("load", () => {
    about.textContent = `${type} · ${image.naturalWidth} × ${image.naturalHeight} pixels`;
  });
  image.addEventListener("error", () => {
    image.replaceWith(hexView(message.bodyAsBase64));
    about.textContent = `${type}, which the browser cannot show; the journal may have kept only its beginning`;
  });
  return h("figure", {}, image, about);
}

/** @param {string} text @returns {string | null} The text as indented JSON; null if it is none. */
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

function coloured(text) {
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(TOKENS)) {
    const [all, string, colon] = match;
    const kind = colon ? "key" : string ? "string" : /^[-\d]/.test(all) ? "number" : "word";
    parts.push(text.slice(last, match.index), h("span", { class: `json-${kind}` }, string ?? all), colon ?? "");
    last = match.index + all.length;
  }
  parts.push(text.slice(last));
  return parts;
}

function hexView(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const lines = [];
  for (let start = 0; start < Math.min(bytes.length, MOST_BYTES); start += 16) {
    const row = bytes.slice(start, start + 16);
    const digits = [...row].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = [...row].map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${start.toString(16).padStart(4, "0")}  ${digits.padEnd(48)} ${letters}`);
  }
  const more = bytes.length > MOST_BYTES ? `\n… ${bytes.length - MOST_BYTES} more bytes` : "";
  return h("pre", { tabindex: 0 }, lines.join("\n") + more);
}

function cut(text) {
  if (text.length <= MOST_CHARACTERS) return text;
  return `${text.slice(0, MOST_CHARACTERS)}\n… ${text.length - MOST_CHARACTERS} more characters`;
}

/**
 * Builds the page from nodes. Text is always a text node, so stored text can never become markup.
 * @module
 */

const SAFE_ADDRESS = /^(?:https?:|blob:|data:image\/|[#/.?]|[\w-]+(?:\/|$))/i;

/**
 * Creates an HTML element.
 *
 * @param {string} tag
 * @param {Record<string, any>} [properties] Attributes; `on…` functions are listeners, `false` and
 *   `null` leave an attribute out.
 * @param {...any} children Nodes, texts, and lists of them; `null` and `false` are left out.
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) set(element, name, value);
  return append(element, children);
}

/**
 * Creates an SVG element, as `h` creates one of HTML.
 *
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...any} children
 * @returns {SVGElement}
 */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) set(element, name, value);
  return append(element, children);
}

/**
 * Replaces the children of a node.
 *
 * @param {Element} node
 * @param {...any} children As those of `h`.
 */
export function fill(node, ...children) {
  node.replaceChildren(...flattened(children));
}

/**
 * Returns an element that only screen readers read.
 *
 * @param {string} text
 */
export function spoken(text) {
  return h("span", { class: "spoken" }, text);
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") {
    element.addEventListener(name.slice(2), value);
  } else if (name === "href" || name === "src") {
    if (SAFE_ADDRESS.test(value)) element.setAttribute(name, value);
  } else if (name === "value" || name === "checked" || name === "indeterminate") {
    element[name] = value;
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(element, children) {
  element.append(...flattened(children));
  return element;
}

function flattened(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** @param {string} id Of the control. @param {string} label @param {HTMLElement} control @returns {HTMLElement} Both, one below the other. */
export const field = (id, label, control) => h("div", { class: "field" }, h("label", { for: id }, label), control);

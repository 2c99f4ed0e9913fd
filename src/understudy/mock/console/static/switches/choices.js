/**
 * The readings of what the interface leaves open, each with the sentence that it is about.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { attempt } from "../notices.js";

/** @returns {{node: HTMLElement, load: () => void}} */
export function choicesPanel() {
  const list = h("div", { class: "choices" });
  const show = (choices) => fill(list, choices.map(entry));
  const load = () => attempt(async () => show(await admin("GET", "/choices")));
  const choose = (name, option) => attempt(async () => show(await admin("PATCH", "/choices", { [name]: option })), `${name} is ${option} in this world.`);

  function entry({ name, option, default: usual, options, range, error, statement, section, why }) {
    return h("fieldset", { class: option === usual ? "choice" : "choice turned" },
      h("legend", {}, name, option !== usual && [" ", h("span", { class: "badge warn" }, "changed")]),
      h("p", {}, statement),
      h("p", { class: "fine" }, [section && `Interface: ${section}.`, why].filter(Boolean).join(" ")),
      range ? number(name, option, usual, range) : error ? errorForm(name, option, usual, error) : Object.entries(options).map(([key, meaning]) => h("label", { class: "check" },
        h("input", { type: "radio", name: `choice-${name}`, value: key, checked: key === option, onchange: () => choose(name, key) }),
        h("span", {}, h("code", {}, key), key === usual && h("span", { class: "quiet" }, " (default)"), ` ${meaning}`))));
  }

  function number(name, option, usual, { least, most, step, unit }) {
    return h("label", { class: "check" },
      h("input", { type: "number", min: least, max: most, step, value: option, onchange: (event) => choose(name, event.target.value) }),
      h("span", {}, ` ${unit}, ${least} to ${most}`, h("span", { class: "quiet" }, ` (default ${usual})`)));
  }

  function errorForm(name, option, usual, { statuses }) {
    const pattern = `(${statuses.join("|")})( [A-Za-z][A-Za-z0-9_.\\-]{0,63})?`;
    const choosing = (event) => event.target.reportValidity() && choose(name, event.target.value);
    return h("label", { class: "check" },
      h("input", { type: "text", pattern, value: option, title: "A status, and after a space an error code", onchange: choosing }),
      h("span", {}, ` ${statuses.join(" or ")}, and an error code`, h("span", { class: "quiet" }, ` (default ${usual})`)));
  }

  const node = h("section", { class: "message whole", "aria-label": "Readings" }, h("h2", {}, "Readings"),
    h("p", { class: "quiet" }, "Where the interface is silent the mock had to choose; a client that works with every reading is safe."), list);
  return { node, load };
}

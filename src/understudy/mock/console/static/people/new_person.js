/**
 * The form that adds a person.
 * @module
 */

import { admin } from "../api.js";
import { field, h } from "../dom.js";
import { attempt } from "../notices.js";

/**
 * @param {(slug: string) => void} added
 * @returns {HTMLElement}
 */
export function newPersonForm(added) {
  const slug = h("input", { id: "new-slug", type: "text", required: true, autocomplete: "off" });
  const name = h("input", { id: "new-name", type: "text", autocomplete: "off" });
  const email = h("input", { id: "new-email", type: "email", required: true, autocomplete: "off" });
  const about = h("input", { id: "new-about", type: "text", value: "Added in the console." });
  return h("form", { class: "fields panel", onsubmit: (event) => {
    event.preventDefault();
    attempt(async () => {
      const person = { slug: slug.value, about: about.value, emails: [{ email: email.value }], profile: { display_name: name.value } };
      await admin("POST", "/people", person);
      added(slug.value);
    }, `${slug.value} was added.`);
  } }, field("new-slug", "Slug", slug), field("new-name", "Name", name), field("new-email", "E-mail address", email), field("new-about", "Reason to exist", about),
  h("button", { class: "primary" }, "Add"));
}

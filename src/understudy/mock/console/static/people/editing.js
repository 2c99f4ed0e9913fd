/**
 * Changes a person: by the rules of the API, as a client could, or as a fixture, beyond them.
 * @module
 */

import { admin } from "../api.js";
import { h } from "../dom.js";
import { attempt, showDone, showError } from "../notices.js";
import { resource, signedInAs } from "../resource.js";

/** The members that the own profile takes (interface, Authenticated own-profile operations). */
const EDITABLE = ["display_name", "description", "pronunciation", "pronouns", "location", "job_title", "company"];

/**
 * @param {any} person
 * @param {any} fixture
 * @param {() => void} reload
 * @returns {HTMLElement}
 */
export function editors(person, fixture, reload) {
  return h("section", { class: "message" }, h("h3", {}, "Change"),
    h("details", {}, h("summary", {}, "As its owner, by the rules of the API"), ownerForm(person, fixture, reload)),
    h("details", {}, h("summary", {}, "As a fixture, everything"), fixtureForm(person, fixture, reload)));
}

function ownerForm({ slug }, { profile }, reload) {
  const inputs = EDITABLE.map((name) => [name, h("input", { id: `own-${name}`, type: "text", value: profile[name] ?? "" })]);
  const send = async () => {
    const changes = Object.fromEntries(inputs.filter(([name, input]) => input.value !== (profile[name] ?? "")).map(([name, input]) => [name, input.value]));
    const response = await signedInAs(slug, (headers) => resource("/me/profile", {
      method: "PATCH",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify(changes),
    }));
    const body = await response.json().catch(() => ({}));
    if (!response.ok) return showError(new Error(`PATCH /me/profile responded ${response.status}: ${body.error ?? ""}`));
    showDone(`PATCH /me/profile responded ${response.status}.`);
    return reload();
  };
  return h("form", { class: "fields", onsubmit: (event) => {
    event.preventDefault();
    attempt(send);
  } }, inputs.map(([name, input]) => h("div", { class: "field" }, h("label", { for: input.id }, name), input)),
  h("button", { class: "primary" }, "Send PATCH /me/profile"));
}

function fixtureForm({ slug }, fixture, reload) {
  const text = h("textarea", { id: "fixture", rows: 16, spellcheck: "false", value: JSON.stringify(fixture, null, 2) });
  return h("form", { class: "fields", onsubmit: (event) => {
    event.preventDefault();
    attempt(async () => {
      await admin("PUT", `/people/${encodeURIComponent(slug)}`, JSON.parse(text.value));
      reload();
    }, `${slug} was replaced.`);
  } }, h("div", { class: "field wide-field" }, h("label", { for: "fixture" }, "The person, as JSON"), text),
  h("button", { class: "primary" }, "Replace the person"));
}

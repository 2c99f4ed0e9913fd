/**
 * Shows everything about a person: how to sign in, the addresses and their hashes, and what clients see.
 * @module
 */

import { admin, adminResponse } from "../api.js";
import { copyButton } from "../copying.js";
import { fill, h } from "../dom.js";
import { attempt } from "../notices.js";
import { picture } from "../picture.js";
import { address } from "../router.js";
import { saveFile } from "../saving.js";
import { bothViews } from "./both_views.js";
import { editors } from "./editing.js";
import { signIn } from "./sign_in.js";

/**
 * @param {HTMLElement} host
 * @param {string} slug
 * @param {() => void} close
 */
export async function showPerson(host, slug, close) {
  host.dataset.person = slug;
  const [listed, fixture] = (await attempt(() => Promise.all([
    admin("GET", `/people?${new URLSearchParams({ search: slug, limit: "500" })}`),
    admin("GET", `/people/${encodeURIComponent(slug)}`),
  ]))) ?? [];
  if (host.dataset.person !== slug) return;
  const person = listed?.people.find((it) => it.slug === slug);
  if (!person) {
    fill(host, closing(close), h("p", { class: "quiet" }, `There is no ${slug} in this world.`));
    return;
  }
  const reload = () => showPerson(host, slug, close);
  fill(host, head(person, close), signIn(person), addresses(person), bothViews(person), editors(person, fixture, reload), fileOf(person));
  host.scrollTop = 0;
}

function closing(close) {
  return h("button", { type: "button", class: "plain close", "aria-label": "Close this person", onclick: close }, "×");
}

function head(person, close) {
  return h("header", { class: "person-head" }, picture(person.slug, 96, `The avatar of ${person.display_name || person.slug}`),
    h("div", {}, h("h2", {}, h("bdi", {}, person.display_name || person.slug)),
      h("p", {}, h("code", {}, person.slug), " ", h("span", { class: "badge quiet" }, person.visibility), " ",
        person.origin !== "fixture" && h("span", { class: "badge warn" }, person.origin)),
      h("p", { class: "quiet" }, h("bdi", {}, person.about)),
      h("p", {}, h("a", { href: address(["traffic"], { person: person.slug }) }, "Show the requests with a token of this person"))),
    closing(close));
}

function addresses({ emails, username, password, application_password: applicationPassword }) {
  const line = (name, text, label) => [h("dt", {}, name), h("dd", {}, h("code", {}, text), " ", copyButton(text, "Copy", { "aria-label": label }))];
  return h("section", { class: "message" }, h("h3", {}, "Addresses and password"),
    h("dl", { class: "reasons" }, emails.map(({ email, hash, primary }) => [
      line(primary ? "Primary" : "Another", email, `Copy the address ${email}`),
      line("SHA-256", hash, `Copy the hash of ${email}`),
    ]),
    line("User name", username, "Copy the user name"), line("Password", password, "Copy the password"),
    applicationPassword && line("Application password", applicationPassword, "Copy the application password")));
}

function fileOf({ slug }) {
  const save = async () => saveFile(await adminResponse("GET", `/people/${encodeURIComponent(slug)}/fixture`));
  return h("section", { class: "message" }, h("h3", {}, "As a fixture"),
    h("p", { class: "quiet" }, "The file belongs into people/ of the directory that serve --fixtures reads."),
    h("p", {}, h("button", { type: "button", class: "small", onclick: () => attempt(save) }, `Save ${slug}.yaml`)));
}

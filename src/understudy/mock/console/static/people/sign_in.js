/**
 * Signs in as a person: a token with chosen scopes to the clipboard, or a session of this browser.
 * @module
 */

import { admin } from "../api.js";
import { copy, copyButton } from "../copying.js";
import { fill, h } from "../dom.js";
import { attempt } from "../notices.js";
import { shownWorld } from "../resource.js";

const LIFETIMES = [["", "that never expires"], ["600", "for 10 minutes"], ["1209600", "for 2 weeks"], ["1", "that expires at once"]];

/** @param {any} person @returns {HTMLElement} */
export function signIn(person) {
  const scopes = h("fieldset", { class: "checks" }, h("legend", {}, "Scopes"));
  const lifetime = h("select", { "aria-label": "Lifetime" }, LIFETIMES.map(([value, label]) => h("option", { value }, label)));
  const made = h("div", { role: "status" });
  const chosen = () => [...scopes.querySelectorAll("input:checked")].map((input) => input.value);
  const issue = (kind) => attempt(async () => {
    const wanted = kind === "api_key" ? {} : { scopes: chosen(), ...(lifetime.value ? { expires_in: Number(lifetime.value) } : {}) };
    const { token } = await admin("POST", "/tokens", { person: person.slug, kind, ...wanted });
    await copy(token);
    const field = `Authorization: Bearer ${token}`;
    fill(made, h("p", { class: "made" }, h("code", {}, field), copyButton(field, "Copy the header")),
      h("p", { class: "fine" }, "The token is on the clipboard."));
  });
  const openSession = () => attempt(async () => {
    const { auth_url: url, cookie } = await admin("POST", "/sessions", { person: person.slug });
    const isHere = new URL(url).hostname === location.hostname;
    const field = `${cookie.name}=${cookie.value}`;
    fill(made, isHere
      ? h("p", {}, `This browser is signed in as ${person.slug} at `, h("a", { href: `${url}/` }, url), ": an authorization asks for consent only.")
      : [h("p", { class: "made" }, h("code", {}, field), copyButton(field, "Copy the cookie")),
        h("p", { class: "fine" }, `Set this cookie for ${new URL(url).hostname}, path ${cookie.path}; the page of another host cannot.`)]);
  });
  attempt(async () => {
    const world = await shownWorld();
    const names = [...new Set(world.tokens.flatMap((token) => token.scopes))].sort();
    scopes.append(...names.map((name) => h("label", { class: "check" }, h("input", { type: "checkbox", value: name, checked: true }), h("code", {}, name))));
  });
  return h("section", { class: "message" }, h("h3", {}, `Sign in as ${person.slug}`), scopes,
    h("div", { class: "actions" },
      h("button", { type: "button", class: "primary small", onclick: () => issue("oauth") }, "Copy an access token"), lifetime,
      h("button", { type: "button", class: "small", onclick: () => issue("api_key") }, "Copy an API key"),
      h("button", { type: "button", class: "small", onclick: openSession }, "Sign this browser in")),
    made);
}

/**
 * The first visit: what to do, with three commands and a button that sends them.
 * @module
 */

import { ROOT, admin } from "../api.js";
import { copyButton } from "../copying.js";
import { fill, h } from "../dom.js";
import { attempt } from "../notices.js";
import { picture } from "../picture.js";
import { resource, shownWorld } from "../resource.js";
import { curl } from "../snippets.js";

/**
 * @param {HTMLElement} host
 * @param {() => boolean} isWanted Tells whether there is still no request once all is known.
 */
export async function welcome(host, isWanted) {
  fill(host, h("p", {}, "No request yet."));
  const [world, report] = (await attempt(() => Promise.all([shownWorld(), admin("GET", "/exercised")]))) ?? [];
  if (!world || !isWanted()) return;
  const isOwnService = report.operations.some(({ operation }) => operation === "getProfile");
  const person = isOwnService && (world.people.find(({ slug }) => world.tokens.some((token) => token.person === slug)) ?? world.people[0]);
  const requests = person ? firstRequests(world, person) : [];
  fill(host, h("div", { class: "card welcome" },
    person && picture(person.slug, 72, `The avatar of ${person.display_name || person.slug}`),
    h("h2", {}, "No request yet"),
    h("p", {}, "Point your application at this address, and every request appears here, with the reason of its response:"),
    h("p", { class: "line" }, h("code", {}, world.base_url), copyButton(world.base_url, "Copy", { "aria-label": "Copy the address" })),
    !isOwnService && h("p", {}, h("a", { href: `${ROOT}/` }, "The start page"), " has a command for each operation."),
    requests.length > 0 && [
      h("p", {}, `Or begin with ${person.display_name || person.slug}:`),
      h("ul", { class: "terminal" }, requests.map((request) => h("li", {}, h("code", {}, curl(request)),
        copyButton(curl(request), "Copy", { "aria-label": "Copy the command" })))),
      h("button", { type: "button", class: "primary", onclick: () => sendAll(requests) },
        requests.length === 1 ? "Send it from here" : `Send all ${requests.length} from here`),
    ]));
}

function firstRequests(world, person) {
  const token = world.tokens.filter((it) => it.person === person.slug && it.kind === "oauth" && it.state === "valid")
    .sort((one, other) => other.scopes.length - one.scopes.length)[0];
  const first = (path, headers = {}) => ({ method: "GET", path, url: world.base_url + path, headers });
  return [
    first(`/profiles/${person.slug}`),
    ...(token ? [first("/me/profile", { Authorization: `Bearer ${token.token}` })] : []),
    first(`/qr-code/${person.slug}?size=240`),
  ];
}

function sendAll(requests) {
  return attempt(async () => {
    for (const { path, headers } of requests) await resource(path, { headers });
  });
}

/**
 * What the service sends: its webhooks and callbacks, each sent at once by a button.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { attempt, showDone } from "../notices.js";
import { go, route } from "../router.js";

/** @returns {{node: HTMLElement, load: () => Promise<void>}} Hidden where the document declares none. */
export function webhooksPanel() {
  const receiver = h("input", { id: "receiver", type: "url", required: true, placeholder: "http://127.0.0.1:9000/hooks" });
  const list = h("ul", { class: "entries" });
  const node = h("form", { class: "message", "aria-label": "Webhooks and callbacks", hidden: true, onsubmit: (event) => {
    event.preventDefault();
    attempt(() => sendWebhook(event.submitter.value, { url: receiver.value }));
  } },
  h("h2", {}, "Webhooks and callbacks"),
  h("div", { class: "field" }, h("label", { for: "receiver" }, "Receiver"), receiver), list);

  async function load() {
    const webhooks = await admin("GET", "/webhooks");
    node.hidden = webhooks.length === 0;
    fill(list, webhooks.map(({ name, kind, method }) => h("li", {},
      h("div", {}, h("b", {}, method), " ", name, h("p", { class: "fine" }, kind)),
      h("button", { class: "small", value: name, "aria-label": `Send ${name}` }, "Send"))));
  }

  return { node, load };
}

/**
 * Has the mock send a webhook or a callback, and shows it with its response.
 *
 * @param {string} name
 * @param {{url: string, body?: any}} options As the admin API takes them.
 */
export async function sendWebhook(name, options) {
  const { request, status } = await admin("POST", `/webhooks/${encodeURIComponent(name)}`, options);
  if (request === null) showDone(`The receiver responded with ${status || "nothing"}.`); // replicas that share a store do not journal it
  else go(["traffic", request], route().query);
}

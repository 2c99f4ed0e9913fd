/**
 * The worlds of the mock: make, fork, open and end them.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { counted } from "../format.js";
import { attempt } from "../notices.js";
import { get } from "../store.js";

const SHOWN = 200;

/** @returns {{node: HTMLElement, load: () => void}} */
export function worldsPanel() {
  const list = h("ul", { class: "entries" });
  const name = h("input", { id: "world-name", type: "text", pattern: "[a-z0-9][a-z0-9\\-]{0,39}", placeholder: "made up if empty", autocomplete: "off" });
  const seed = h("input", { id: "world-seed", type: "number", step: 1, placeholder: "the mock's" });
  const load = () => attempt(async () => fill(list, (await admin("GET", `/worlds?limit=${SHOWN}`)).map(entry)));

  function entry(world) {
    const isShown = world.name === get().world;
    const facts = [counted(world.requests, "request"), counted(world.changes, "changed record"), counted(world.faults, "fault"), `seed ${world.seed}`,
      world.idle_seconds !== null && `ends after ${world.idle_seconds} idle seconds`].filter(Boolean);
    return h("li", {}, h("div", {},
      h("p", {}, h("b", {}, world.name), isShown && [" ", h("span", { class: "badge good" }, "shown here")]),
      h("p", { class: "fine" }, facts.join(" · ")), h("code", {}, world.base_url)),
    h("div", { class: "actions" },
      !isShown && h("a", { class: "button small", href: world.admin_url.replace(/__admin$/, "__console") }, "Open"),
      h("button", { type: "button", class: "small", onclick: () => fork(world.name) }, "Fork"),
      world.name !== "default" && h("button", { type: "button", class: "small danger", "aria-label": `End ${world.name}`, onclick: () => end(world.name) }, "End")));
  }

  const fork = (from) => make({ fork: from, ...(name.value ? { name: name.value } : {}) });
  const make = (wanted) => attempt(async () => {
    const made = await admin("POST", "/worlds", wanted);
    name.value = "";
    await load();
    return made;
  }, "The world was made.");
  const end = (which) => {
    if (!confirm(`End the world ${which}, with everything in it?`)) return;
    attempt(async () => {
      await admin("DELETE", `/worlds/${encodeURIComponent(which)}`);
      await load();
    }, `${which} has ended.`);
  };

  const node = h("section", { class: "message", "aria-label": "Worlds" }, h("h2", {}, "Worlds"),
    h("form", { class: "fields", onsubmit: (event) => {
      event.preventDefault();
      make({ ...(name.value ? { name: name.value } : {}), ...(seed.value ? { seed: Number(seed.value) } : {}) });
    } },
    h("div", { class: "field" }, h("label", { for: "world-name" }, "Name"), name),
    h("div", { class: "field" }, h("label", { for: "world-seed" }, "Seed"), seed),
    h("button", { class: "small" }, "Make a world")), list);
  return { node, load };
}

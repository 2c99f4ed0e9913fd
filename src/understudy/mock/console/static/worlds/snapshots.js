/**
 * Snapshots: states of the world that were kept by name.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { counted } from "../format.js";
import { attempt } from "../notices.js";

/** @returns {{node: HTMLElement, load: () => void}} */
export function snapshotsPanel() {
  const list = h("ul", { class: "entries" });
  const name = h("input", { id: "snapshot-name", type: "text", required: true, pattern: "[a-z0-9][a-z0-9\\-]{0,39}", autocomplete: "off" });
  const load = () => attempt(async () => {
    const snapshots = await admin("GET", "/snapshots");
    fill(list, snapshots.map(entry));
    if (snapshots.length === 0) fill(list, h("li", { class: "quiet" }, "No snapshot yet."));
  });

  function entry({ name: kept, changes }) {
    const path = `/snapshots/${encodeURIComponent(kept)}`;
    return h("li", {}, h("div", {}, h("p", {}, h("b", {}, kept)), h("p", { class: "fine" }, counted(changes, "changed record"))),
      h("div", { class: "actions" },
        h("button", { type: "button", class: "small", "aria-label": `Restore ${kept}`, onclick: () => attempt(() => admin("POST", `${path}/restore`), `The world is as ${kept} kept it.`) }, "Restore"),
        h("button", { type: "button", class: "small danger", "aria-label": `Delete ${kept}`, onclick: () => attempt(async () => {
          await admin("DELETE", path);
          load();
        }) }, "Delete")));
  }

  const node = h("section", { class: "message", "aria-label": "Snapshots" }, h("h2", {}, "Snapshots"),
    h("form", { class: "fields", onsubmit: (event) => {
      event.preventDefault();
      attempt(async () => {
        await admin("POST", "/snapshots", { name: name.value });
        name.value = "";
        load();
      }, "The state was kept.");
    } }, h("div", { class: "field" }, h("label", { for: "snapshot-name" }, "Name"), name), h("button", { class: "small" }, "Keep this state")), list,
    h("h3", {}, "All or nothing"),
    h("div", { class: "actions" },
      h("button", { type: "button", class: "small danger", onclick: () => {
        if (confirm("Restore the world's initial state, and empty its journal?")) attempt(() => admin("POST", "/reset"), "The world is as it began.");
      } }, "Reset this world")));
  return { node, load };
}

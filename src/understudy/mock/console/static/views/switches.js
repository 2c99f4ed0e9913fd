/**
 * The view of the switches: faults, readings of the interface, and rate limits.
 * @module
 */

import { fill, h } from "../dom.js";
import { listen } from "../store.js";
import { choicesPanel } from "../switches/choices.js";
import { faultsPanel, stubsPanel } from "../switches/faults.js";
import { limitsPanel } from "../switches/limits.js";

const PAUSE = 400;

/** @param {HTMLElement} host @returns {import("./index.js").Mounted} */
export function mount(host) {
  const [faults, stubs, limits, choices] = [faultsPanel(), stubsPanel(), limitsPanel(), choicesPanel()];
  fill(host, h("h1", {}, "Switches"), h("div", { class: "panels broad" }, faults.node, stubs.node, limits.node, choices.node));
  let timer = 0;
  const countLater = () => {
    if (timer) return;
    timer = setTimeout(() => {
      timer = 0;
      limits.load();
      faults.load();
      stubs.load();
    }, PAUSE);
  };
  const ends = [listen("faults", () => faults.load()), listen("stubs", () => stubs.load()), listen("choices", () => choices.load()), listen("limits", () => limits.load()), listen("added", countLater)];
  for (const panel of [faults, stubs, limits, choices]) panel.load();
  return {
    follow: () => {},
    end: () => {
      clearTimeout(timer);
      for (const end of ends) end();
    },
  };
}

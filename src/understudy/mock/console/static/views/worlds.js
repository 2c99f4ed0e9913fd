/**
 * The view of worlds and time: the clock, what changed, and the other worlds of the mock.
 * @module
 */

import { fill, h } from "../dom.js";
import { afterTraffic, listen } from "../store.js";
import { capsulePanel } from "../worlds/capsule.js";
import { clockPanel } from "../worlds/clock.js";
import { historyPanel } from "../worlds/history.js";
import { snapshotsPanel } from "../worlds/snapshots.js";
import { worldsPanel } from "../worlds/list.js";

const PAUSE = 500;

/** @param {HTMLElement} host @returns {import("./index.js").Mounted} */
export function mount(host) {
  const panels = { clock: clockPanel(), history: historyPanel(), worlds: worldsPanel(), snapshots: snapshotsPanel(), capsule: capsulePanel() };
  fill(host, h("h1", {}, "Worlds and time"), h("div", { class: "panels" }, Object.values(panels).map(({ node }) => node)));
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => panels.history.load(), PAUSE);
  };
  const ends = [
    listen("clock", () => panels.clock.load()),
    listen("changes", later),
    afterTraffic(() => panels.clock.loadNext()),
    listen("worlds", () => panels.worlds.load()),
  ];
  const ticking = setInterval(() => panels.clock.tick(), 1000);
  for (const panel of Object.values(panels)) panel.load();
  return {
    follow: () => {},
    end: () => {
      clearInterval(ticking);
      clearTimeout(timer);
      for (const end of ends) end();
    },
  };
}

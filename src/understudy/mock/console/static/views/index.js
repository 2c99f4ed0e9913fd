/**
 * Lists the views, in the order of their tabs; each is a module that is loaded when it is first shown.
 *
 * A module exports `mount(host)`, which shows the view in an element and returns how to follow its
 * addresses and how to end.
 * @module
 */

/**
 * @typedef {object} Mounted
 * @property {(path: string[], query: URLSearchParams) => void} follow Shows what an address below
 *   the view's says.
 * @property {() => void} end Ends what the view listens to.
 *
 * @typedef {object} View
 * @property {string} name In addresses.
 * @property {string} label On its tab.
 * @property {() => Promise<{mount: (host: HTMLElement) => Mounted}>} load
 */

/** @type {View[]} */
export const VIEWS = [
  { name: "traffic", label: "Traffic", load: () => import("./traffic.js") },
  { name: "people", label: "People", load: () => import("./people.js") },
  { name: "worlds", label: "Worlds and time", load: () => import("./worlds.js") },
  { name: "switches", label: "Switches", load: () => import("./switches.js") },
  { name: "contract", label: "Contract", load: () => import("./contract.js") },
  { name: "reference", label: "API", load: () => import("./reference.js") },
  { name: "sign-ins", label: "Sign-ins", load: () => import("./sign_ins.js") },
];

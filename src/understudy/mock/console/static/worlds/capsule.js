/**
 * Capsules: a world before one of its requests in one file, to attach to a bug report.
 * @module
 */

import { admin, adminResponse } from "../api.js";
import { h } from "../dom.js";
import { counted, moment } from "../format.js";
import { attempt, showDone } from "../notices.js";
import { go } from "../router.js";
import { saveFile } from "../saving.js";
import { get } from "../store.js";

/**
 * Saves the world as a capsule.
 *
 * @param {number} [request] The number of the request before which it stands; now if omitted.
 */
export async function saveCapsule(request) {
  const response = await adminResponse("GET", request ? `/capsule?request=${request}` : "/capsule");
  const name = `${get().world}${request ? `-before-${request}` : ""}.capsule.zip`;
  await saveFile(response, name);
}

/**
 * Opens a capsule in the world that this console shows, or in a new one with the name of the capsule's.
 *
 * @param {File | undefined} file
 */
export function openCapsule(file) {
  return file && attempt(async () => {
    const capsule = new Blob([file], { type: "application/zip" });
    const response = await adminResponse("POST", "/capsule", capsule).catch((error) => openInOther(capsule, error));
    const { request, requests, now } = await response.json();
    const place = request ? `before request ${request}` : "at its end";
    showDone(`The world stands ${place}, at ${moment(now)}, with ${counted(requests, "request")} in its journal.`);
    if (request) go(["traffic", request]);
  });
}

/** Makes the world that a capsule was made of, opens it there, and shows that world's console. */
async function openInOther(capsule, refusal) {
  if (!refusal.world) throw refusal;
  const made = await admin("POST", "/worlds", { name: refusal.world }).catch(() => { throw refusal; });
  const response = await adminResponse("POST", "/capsule", capsule, undefined, made.admin_url);
  const { request } = await response.clone().json();
  location.assign(`${made.admin_url.replace(/__admin$/, "__console")}#/${request ? `traffic/${request}` : "worlds"}`);
  return response;
}

/** Opens a capsule that is dropped anywhere in the page, which a browser would leave for the file. */
export function takeDroppedCapsules() {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    openCapsule(event.dataTransfer.files[0]);
  });
}

/** @returns {{node: HTMLElement, load: () => void}} */
export function capsulePanel() {
  const file = h("input", { id: "capsule-file", type: "file", accept: ".zip", onchange: () => openCapsule(file.files[0]) });
  const node = h("section", { class: "message", "aria-label": "Capsule",
    ondragover: () => node.classList.add("dropping"),
    ondragleave: () => node.classList.remove("dropping"),
    ondrop: () => node.classList.remove("dropping") },
  h("h2", {}, "Capsule"),
  h("p", { class: "quiet" }, "The world in one file, without secrets: attach it to a bug report. The request it stands before can be sent again on another machine, and gets the same response."),
  h("p", {}, h("button", { type: "button", class: "small", onclick: () => attempt(() => saveCapsule()) }, "Save the world as it is now")),
  h("div", { class: "field" }, h("label", { for: "capsule-file" }, "Open a capsule here, or drop it anywhere in this page; it replaces the state of this world, or makes the one it is of"), file));
  return { node, load: () => {} };
}

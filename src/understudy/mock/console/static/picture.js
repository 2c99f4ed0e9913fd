/**
 * Shows the pictures of people.
 * @module
 */

import { pictureAddress } from "./api.js";
import { h } from "./dom.js";

/**
 * Returns a person's picture, which is loaded once it is seen.
 *
 * @param {string} slug
 * @param {number} size In pixels.
 * @param {string} [text] What it shows; empty where the name stands beside it.
 */
export function picture(slug, size, text = "") {
  const image = h("img", { class: "face", alt: text, width: size, height: size, loading: "lazy" });
  pictureAddress(slug, size * 2).then((address) => image.setAttribute("src", address), () => image.remove());
  return image;
}

/**
 * The theme of the page: that of the system, light or dark. It is remembered in this browser.
 * @module
 */

import { h } from "./dom.js";

const KEPT = "understudy-theme";
const THEMES = ["system", "light", "dark"];
const SIGNS = { system: "◐", light: "☀", dark: "☾" };

let theme = kept();
apply();

/** @returns {HTMLElement} The button that chooses the next theme. */
export function themeButton() {
  const button = h("button", { type: "button", class: "plain small theme", onclick: () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try {
      localStorage.setItem(KEPT, theme);
    } catch {
      // a browser that stores nothing forgets it at the next visit
    }
    apply();
    show();
  } });
  const show = () => {
    button.textContent = SIGNS[theme];
    button.setAttribute("aria-label", `Theme: ${theme}`);
    button.title = `Theme: ${theme}`;
  };
  show();
  return button;
}

function kept() {
  try {
    const name = localStorage.getItem(KEPT);
    return THEMES.includes(name) ? name : "system";
  } catch {
    return "system";
  }
}

function apply() {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

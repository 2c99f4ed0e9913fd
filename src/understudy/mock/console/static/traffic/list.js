/**
 * Shows a list of any length: only the rows in sight are in the page.
 * @module
 */

import { fill, h } from "../dom.js";

const BEYOND = 6;

/**
 * Creates the list.
 *
 * @param {object} options
 * @param {number} options.rowHeight In pixels.
 * @param {HTMLElement} options.head The row of column names.
 * @param {string} options.label What it lists, for screen readers.
 * @param {(item: any, index: number) => HTMLElement} options.row
 */
export function longList({ rowHeight, head, label, row }) {
  const sight = h("div", { class: "rows-in-sight", role: "rowgroup" });
  const space = h("div", { class: "rows-space", role: "presentation" }, sight);
  const scroller = h("div", { class: "rows", tabindex: 0, role: "table", "aria-label": label },
    h("div", { role: "rowgroup", class: "rows-head" }, head), space);
  let items = [];
  let isAwaited = false;

  function draw() {
    isAwaited = false;
    const first = Math.max(0, Math.floor(scroller.scrollTop / rowHeight) - BEYOND);
    const count = Math.ceil(scroller.clientHeight / rowHeight) + 2 * BEYOND;
    const focused = document.activeElement?.closest?.("[data-key]")?.dataset.key;
    sight.style.transform = `translateY(${first * rowHeight}px)`;
    fill(sight, items.slice(first, first + count).map((item, offset) => row(item, first + offset)));
    if (focused) sight.querySelector(`[data-key="${CSS.escape(focused)}"] a`)?.focus({ preventScroll: true });
  }

  function redraw() {
    if (isAwaited) return;
    isAwaited = true;
    requestAnimationFrame(draw);
  }

  /**
   * Shows other items.
   *
   * @param {any[]} wanted
   * @param {number} added How many of them are new at the top; what is read stays where it is.
   */
  function show(wanted, added = 0) {
    items = wanted;
    space.style.height = `${items.length * rowHeight}px`;
    scroller.setAttribute("aria-rowcount", String(items.length + 1));
    if (added && scroller.scrollTop > rowHeight) scroller.scrollTop += added * rowHeight;
    redraw();
  }

  /** Scrolls so far that an item is in sight. */
  function reveal(index) {
    const top = index * rowHeight;
    const height = scroller.clientHeight - rowHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + rowHeight > scroller.scrollTop + height) scroller.scrollTop = top + rowHeight - height;
    redraw();
  }

  scroller.addEventListener("scroll", redraw, { passive: true });
  const resized = new ResizeObserver(redraw);
  resized.observe(scroller);
  return { node: scroller, show, redraw, reveal, end: () => resized.disconnect() };
}

/**
 * The view of the people: who lives in the world, and everything about one of them.
 * @module
 */

import { admin } from "../api.js";
import { fill, h } from "../dom.js";
import { counted } from "../format.js";
import { attempt } from "../notices.js";
import { newPersonForm } from "../people/new_person.js";
import { showPerson } from "../people/person.js";
import { picture } from "../picture.js";
import { address, go, replace, route } from "../router.js";
import { listen } from "../store.js";

const PAGE = 60;
const PAUSE = 200;

/** @param {HTMLElement} host @returns {import("./index.js").Mounted} */
export function mount(host) {
  const search = h("input", { type: "search", placeholder: "Search by name, slug, address or reason", "aria-label": "Search the people" });
  const count = h("p", { class: "count", role: "status" });
  const list = h("ul", { class: "people" });
  const more = h("button", { type: "button", hidden: true }, "Show more");
  const adding = h("details", { class: "adding" }, h("summary", { class: "small" }, "Add a person"),
    newPersonForm((slug) => {
      adding.open = false;
      load();
      go(["people", slug]);
    }));
  const detail = h("section", { class: "detail", "aria-label": "The chosen person", hidden: true });
  fill(host, h("h1", { class: "spoken" }, "People"), h("section", { class: "listing scrolled", "aria-label": "People" },
    h("div", { class: "bar-of-filters" }, search, adding), count, list, more), detail);
  let shown = [];
  let selected = null;
  let timer = 0;

  async function load(offset = 0) {
    const query = new URLSearchParams({ limit: String(PAGE), offset: String(offset), ...(search.value ? { search: search.value } : {}) });
    const page = await attempt(() => admin("GET", `/people?${query}`));
    if (!page) return;
    shown = offset === 0 ? page.people : [...shown, ...page.people];
    const total = page.total ?? shown.length;
    count.textContent = search.value ? `${counted(shown.length, "person", "people")} found` : counted(total, "person", "people");
    more.hidden = page.people.length < PAGE;
    draw();
  }

  function draw() {
    fill(list, shown.map((person) => card(person, person.slug === selected)));
  }

  function follow(path, query) {
    selected = path[0] ?? null;
    detail.hidden = selected === null;
    host.classList.toggle("with-detail", selected !== null);
    if (selected !== null) showPerson(detail, selected, () => go(["people"], query));
    if (search.value !== (query.get("q") ?? "")) search.value = query.get("q") ?? "";
    if (shown.length === 0 || follow.searched !== search.value) load();
    else draw();
    follow.searched = search.value;
  }

  more.addEventListener("click", () => load(shown.length));
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => replace(["people", ...route().path.slice(1)], { q: search.value }), PAUSE);
  });
  const end = listen("changes", () => load());
  return { follow, end };
}

function card({ slug, display_name: name, emails, about, visibility, origin }, isSelected) {
  return h("li", { class: isSelected ? "selected" : "" }, picture(slug, 48),
    h("div", {},
      h("a", { class: "name", href: address(["people", slug]), "aria-current": isSelected && "true" }, h("bdi", {}, name || slug)),
      visibility !== "public" && h("span", { class: "badge quiet" }, visibility),
      origin !== "fixture" && h("span", { class: "badge warn" }, origin),
      h("code", { class: "slug" }, slug, " · ", emails[0].email),
      h("p", {}, h("bdi", {}, about))));
}

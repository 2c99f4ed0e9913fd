/**
 * Reads and writes the address of what is shown: `#/traffic/12?status=4XX`. Filters are addresses.
 * @module
 */

/** @returns {{path: string[], query: URLSearchParams}} */
export function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { path: path.split("/").filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query) };
}

/**
 * Returns the address of a view.
 *
 * @param {(string | number)[]} path
 * @param {URLSearchParams | Record<string, string>} [query] Empty values are left out.
 */
export function address(path, query = {}) {
  const pairs = [...(query instanceof URLSearchParams ? query : Object.entries(query))].filter(([, text]) => text);
  const text = new URLSearchParams(pairs).toString();
  return `#/${path.map((part) => encodeURIComponent(part)).join("/")}${text ? `?${text}` : ""}`;
}

/**
 * Shows another address.
 *
 * @param {(string | number)[]} path
 * @param {URLSearchParams | Record<string, string>} [query]
 */
export function go(path, query) {
  location.hash = address(path, query);
}

/**
 * Replaces the address, so that the browser's way back skips it.
 *
 * @param {(string | number)[]} path
 * @param {URLSearchParams | Record<string, string>} [query]
 */
export function replace(path, query) {
  history.replaceState(null, "", address(path, query));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

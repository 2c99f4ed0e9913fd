const tokenOf = (request) => /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";

/** Returns the row of a request: of its path, required query and token, or else of any path and query. */
function rowOf(rows, names, request, base) {
  const { pathname, searchParams } = new URL(request.url);
  const path = decodeURIComponent(pathname.slice(new URL(base).pathname.length));
  const place = [path, ...names.map((name) => searchParams.get(name) ?? "")].join(" ").toLowerCase();
  const token = tokenOf(request);
  const known = token === "" || TOKENS.includes(token) ? token : "?";
  return ROWS[rows[`${place} ${known}`] ?? rows[`* ${known}`]];
}

function responseOf([status, headers, body, picture], request, base, isWrite) {
  const unknown = JSON.stringify(decodeURIComponent(new URL(request.url).pathname.split("/").at(-1))).slice(1, -1);
  const places = { base, site: new URL(base).origin, unknown };
  const text = body?.replace(/[{](base|site|unknown)[}]/g, (_, name) => places[name]) ?? null;
  const whole = picture ? Uint8Array.from(atob(picture), (byte) => byte.charCodeAt(0)) : text;
  const content = request.method === "HEAD" ? null : whole;
  return new HttpResponse(content, { status, headers: { ...headers, ...(isWrite && { "x-mock-kept": "nothing" }) } });
}

/**
 * Returns the handlers.
 *
 * @param {{ base?: string, mock?: string }} [options] The base URL that the page uses; and that of a running mock, which
 *   then gets the writes, as a table keeps nothing.
 */
export function handlers({ base = BASE, mock } = {}) {
  return OPERATIONS.map(([method, path, rows, names]) =>
    http[method](`${base}${path}`, ({ request }) => {
      const isWrite = !["get", "head"].includes(method);
      if (isWrite && mock !== undefined) return fetch(bypass(new Request(request.url.replace(base, mock), request)));
      return responseOf(rowOf(rows, names, request, base), request, base, isWrite);
    }),
  );
}

"""Writes what a mock answers as one module of handlers for MSW: a table, and no logic of its own.

A second implementation in JavaScript would be a second truth. So the mock is asked, in a world of its
own that begins as the one it was forked from, stubs included, and ends with the last answer.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn
from urllib.parse import quote

import httpx

from understudy.errors import StartupError
from understudy.generate.formats.export import ExportFormat, OutputPiece, save
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.verify.admin_client import AdminClient

NAME: Final = "msw"
"""The name of ``--format``: unlike the other formats it is made of answers and not of cases."""

MOST_PEOPLE: Final = 25
"""People whose lookups are in the table: a page of a test shows a few."""

_METHODS: Final = ("get", "post", "put", "patch", "delete")
_NOBODY: Final = "nobody-is-here"
_WITHOUT: Final = ""
_INVALID: Final = "?"
_KEPT: Final = frozenset({"content-type", "location", "www-authenticate", "allow", "x-mock-stub"})

_HANDLERS: Final = """
const tokenOf = (request) => /^bearer +(\\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";

/** Returns the row of a request: of its path and token, or else of any path or token of the operation. */
function rowOf(rows, request, base) {
  const path = decodeURIComponent(new URL(request.url).pathname.slice(new URL(base).pathname.length)).toLowerCase();
  const token = tokenOf(request);
  const known = token === "" || TOKENS.includes(token) ? token : "?";
  return ROWS[rows[`${path} ${known}`] ?? rows[`* ${known}`]];
}

function responseOf([status, headers, body], request, base, isWrite) {
  const unknown = JSON.stringify(decodeURIComponent(new URL(request.url).pathname.split("/").at(-1))).slice(1, -1);
  const places = { base, site: new URL(base).origin, unknown };
  const text = body?.replace(/[{](base|site|unknown)[}]/g, (_, name) => places[name]) ?? null;
  return new HttpResponse(text, { status, headers: { ...headers, ...(isWrite && { "x-mock-kept": "nothing" }) } });
}

/**
 * Returns the handlers.
 *
 * @param {{ base?: string, mock?: string }} [options] The base URL that the page uses; and that of a running mock, which
 *   then gets the writes, as a table keeps nothing.
 */
export function handlers({ base = BASE, mock } = {}) {
  return OPERATIONS.map(([method, path, rows]) =>
    http[method](`${base}${path}`, ({ request }) => {
      const isWrite = method !== "get";
      if (isWrite && mock !== undefined) return fetch(bypass(new Request(request.url.replace(base, mock), request)));
      return responseOf(rowOf(rows, request, base), request, base, isWrite);
    }),
  );
}
"""


class _Site(NamedTuple):
    """A world that is asked.

    Attributes:
        client: Sends to the base address of the resource API.
        base_url: That address.
        site_url: The same without the base path.
        tokens: Tokens that exist from the start.
        people: Slugs and hashes that lead to people.
    """

    client: httpx.Client
    base_url: str
    site_url: str
    tokens: tuple[str, ...]
    people: tuple[str, ...]

    def row(self, method: str, path: str, token: str, status: int | None) -> list[Any]:
        """Returns what the mock answers, as a row of the table."""
        headers = {"prefer": f"code={status}"} if status else {}
        if token:
            sent = "invalid-token" if token == _INVALID else token
            headers["authorization"] = f"Bearer {sent}"
        response = self.client.request(method.upper(), self.base_url + path, headers=headers)
        kept = {name: text for name, text in response.headers.items() if name in _KEPT}
        text = response.text.replace(self.base_url, "{base}").replace(self.site_url, "{site}")
        text = text.replace(_NOBODY, "{unknown}")
        is_text = "json" in kept.get("content-type", "") or kept.get("content-type", "").startswith(
            "text/"
        )
        return [response.status_code, kept, text if is_text and text else None]


def handlers_module(mock: AdminClient) -> str:
    """Returns the text of a module with handlers that answer as a mock does.

    Args:
        mock: The admin API of the world whose answers they are.

    Raises:
        StartupError: No mock responds there, or it refuses.
    """
    served = next(it for it in mock.call("GET", "/documents") if it["site"] == "resource")
    model = mock.url.partition("/__world/")[2] or "default"
    world = mock.call("POST", "/worlds", json={"fork": model, "choices": {"rate-limits": "off"}})
    try:
        with httpx.Client(trust_env=False, timeout=60) as client:
            people = world["people"][:MOST_PEOPLE]
            hashes = (email["hash"] for person in people for email in person["emails"])
            names = (*(person["slug"] for person in people), *hashes)
            tokens = tuple(token["token"] for token in world["tokens"])
            site_url = world["base_url"].removesuffix(served["base_path"])
            site = _Site(client, world["base_url"], site_url, tokens, names)
            operations = list(_operations(site, served["document"]))
    finally:
        mock.call("DELETE", f"/worlds/{world['name']}")
    rows = list(dict.fromkeys(json.dumps(row) for _, _, own in operations for row in own.values()))
    numbers = {text: number for number, text in enumerate(rows)}
    table = [
        (method, path, {key: numbers[json.dumps(row)] for key, row in own.items()})
        for method, path, own in operations
    ]
    base = mock.url.partition("/__world/")[0] + served["base_path"]
    return "".join(
        (
            "// Made by understudy generate --format msw: what a mock answered, as data.\n",
            'import { bypass, http, HttpResponse } from "msw";\n\n',
            f"const BASE = {_written(base)};\n",
            f"const TOKENS = {_written(list(tokens))};\n",
            f"const ROWS = {_written([json.loads(row) for row in rows])};\n",
            f"const OPERATIONS = {_written(table)};\n",
            _HANDLERS,
        )
    )


def _written(value: Any) -> str:
    return (
        json.dumps(value, ensure_ascii=False)
        .replace("], [", "],\n  [")
        .replace("\u2028", "\\u2028")
    )


def _operations(
    site: _Site, document: Mapping[str, Any]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yields each operation's method, its path as MSW writes it, and its rows by path and token."""
    for path, item in document.get("paths", {}).items():
        for method in _METHODS:
            if method in item:
                success = None if method == "get" else _success(item[method])
                rows = dict(_rows(site, method, path, success))
                yield method, PATH_PARAMETER.sub(r":\1", path), _thinned(rows)


def _success(operation: Mapping[str, Any]) -> int | None:
    """Returns the first status of success that is declared, for writes, which would change things."""
    numbers = (int(it) for it in operation.get("responses", {}) if str(it).isdecimal())
    return min((it for it in numbers if it // 100 == 2), default=None)  # noqa: PLR2004 - RFC 9110, 15.3


def _rows(
    site: _Site, method: str, path: str, success: int | None
) -> Iterator[tuple[str, list[Any]]]:
    names = PATH_PARAMETER.findall(path)
    for token in (_WITHOUT, _INVALID, *site.tokens):
        unknown = PATH_PARAMETER.sub(_NOBODY, path)
        yield f"* {token}", site.row(method, unknown, token, success)
        if method == "get" and len(names) == 1:
            for person in site.people:
                filled = PATH_PARAMETER.sub(quote(person, safe=""), path)
                yield f"{filled.lower()} {token}", site.row(method, filled, token, None)


def _thinned(rows: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Returns the rows without those that say what the row of any path says."""
    return {
        key: row
        for key, row in rows.items()
        if key.startswith("* ") or row != rows["* " + key.partition(" ")[2]]
    }


_PLACE: Final = re.compile(r"https?://[^/]+(?:/__world/[^/]+)?")


def _unwritable(*_: object) -> NoReturn:
    msg = "handlers are written from the answers of a mock, and from no cases."
    raise StartupError(msg)


def write(url: str, out: Path | None, *, is_forced: bool) -> None:
    """Asks the mock at a base URL, and writes the module.

    Raises:
        StartupError: No mock responds there, or the output cannot be written.
    """
    place = _PLACE.match(url)
    if place is None:
        msg = f"{url!r} is not the address of a mock; write it as http://127.0.0.1:8080."
        raise StartupError(msg)
    with closing(AdminClient(place[0])) as mock:
        content = handlers_module(mock).encode()
    form = ExportFormat(_unwritable, "handlers of MSW, from a mock's answers", ".js")
    save([OutputPiece("", content)], form, out, is_forced=is_forced)

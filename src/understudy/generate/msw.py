"""Writes a mock's responses as one module of MSW handlers: a table, without logic.

A second implementation in JavaScript could differ from the mock. So the mock is sent requests, in a
fork of its world, stubs included, which is deleted afterwards.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn
from urllib.parse import quote, urlencode

import httpx

from understudy.errors import StartupError
from understudy.generate.formats.export import ExportFormat, OutputPiece, save, script
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.verify.admin_client import AdminClient

NAME: Final = "msw"
"""The name for ``--format``; unlike the other formats it is made of responses and not of cases."""

MOST_PEOPLE: Final = 25
"""People whose lookups are in the table: a page of a test shows a few."""

_METHODS: Final = ("get", "post", "put", "patch", "delete")
_UNKNOWN: Final = "nobody-is-here"
_NO_TOKEN: Final = ""
_PICTURE: Final = 3
"""Place of the content in a row that is not text, in Base64."""

_UNTAKEN: Final = frozenset({400, 415, 422})
"""Statuses that refuse a body."""

_INVALID_TOKEN: Final = "?"
_KEPT: Final = frozenset({"content-type", "location", "www-authenticate", "allow", "x-mock-stub"})

_IMPORTS: Final = (
    'import { bypass, http, HttpResponse } from "msw";',
    'const { bypass, http, HttpResponse } = require("msw");',
)


class _Site(NamedTuple):
    """The world whose responses are written.

    Attributes:
        client: The HTTP client.
        base_url: Base URL of the resource API in this world.
        site_url: The address of the mock.
        declared_url: The address of the server that the document declares.
        prefix: The path that the address of the world adds to it.
        tokens: Tokens that exist from the start.
        people: Slugs and hashes that lead to people.
    """

    client: httpx.Client
    base_url: str
    site_url: str
    declared_url: str
    prefix: str
    tokens: tuple[str, ...]
    people: tuple[str, ...]

    def row(self, method: str, path: str, token: str, status: int | None) -> list[Any]:
        """Returns the mock's response as a row of the table.

        With a status, its sample is requested, as a write would change the world; a PATCH without
        members changes nothing, and is tried first.
        """
        if method == "patch" and _UNKNOWN not in path and status:
            row = self._row(method, path, token, {"content-type": "application/json"}, b"{}")
            if row[0] not in _UNTAKEN:
                return row
        return self._row(method, path, token, {"prefer": f"code={status}"} if status else {})

    def _row(
        self, method: str, path: str, token: str, headers: dict[str, str], content: bytes = b""
    ) -> list[Any]:
        if token:
            sent = "invalid-token" if token == _INVALID_TOKEN else token
            headers["authorization"] = f"Bearer {sent}"
        response = self.client.request(
            method.upper(), self.base_url + path, headers=headers, content=content
        )
        kept = {name: text for name, text in response.headers.items() if name in _KEPT}
        if not re.search("json|text/", kept.get("content-type", "")):
            return [response.status_code, kept, None, base64.b64encode(response.content).decode()]
        text = response.text.replace(self.prefix, "")
        base = self.base_url.replace(self.prefix, "")
        text = text.replace(base, "{base}").replace(self.site_url, "{site}")
        if "prefer" in headers:  # examples of a document lead to the server that it declares
            text = text.replace(self.declared_url, "{site}")
        return [response.status_code, kept, text.replace(_UNKNOWN, "{unknown}") or None]


def handlers_module(mock: AdminClient, *, is_commonjs: bool = False) -> str:
    """Returns the text of a module with handlers that respond as a mock does.

    Args:
        mock: The admin API of the world whose responses they have.
        is_commonjs: Whether it is loaded by ``require``, as in Jest.

    Raises:
        StartupError: No mock responds there, or it refuses.
    """
    served = next(it for it in mock.call("GET", "/documents") if it["site"] == "resource")
    model = mock.url.partition("/__world/")[2] or "default"
    world = mock.call("POST", "/worlds", json={"fork": model, "choices": {"rate-limits": "off"}})
    try:
        own = {"prefer": "interval=0, then=end"}  # a stub may let a stream stay open
        with httpx.Client(headers=own, trust_env=False, timeout=60) as client:
            people = world["people"][:MOST_PEOPLE]
            hashes = (email["hash"] for person in people for email in person["emails"])
            names = (*(person["slug"] for person in people), *hashes)
            tokens = tuple(token["token"] for token in world["tokens"])
            site_url = mock.url.partition("/__world/")[0]
            prefix = f"/__world/{world['name']}"
            declared = _declared_url(served["document"]) or site_url
            site = _Site(client, world["base_url"], site_url, declared, prefix, tokens, names)
            operations = list(_operations(site, served["document"]))
    finally:
        mock.call("DELETE", f"/worlds/{world['name']}")
    rows = list(dict.fromkeys(json.dumps(row) for it in operations for row in it[2].values()))
    numbers = {text: number for number, text in enumerate(rows)}
    table = [
        (method, path, {key: numbers[json.dumps(row)] for key, row in own.items()}, names)
        for method, path, own, names in operations
    ]
    base, functions = site.site_url + served["base_path"], script("msw.js")
    return "".join(
        (
            "// Made by understudy generate --format msw: what a mock answered, as data.\n",
            f"{_IMPORTS[is_commonjs]}\n\n",
            f"const BASE = {_written(base)};\n",
            f"const TOKENS = {_written(list(tokens))};\n",
            f"const ROWS = {_written([json.loads(row) for row in rows])};\n",
            f"const OPERATIONS = {_written(table)};\n",
            f"\n{functions.replace('export ', '') if is_commonjs else functions}\n",
            "\nmodule.exports = { handlers };\n" * is_commonjs,
        )
    )


def _written(value: Any) -> str:
    return (
        json.dumps(value, ensure_ascii=False)
        .replace("], [", "],\n  [")
        .replace("\u2028", "\\u2028")
    )


def _declared_url(document: Mapping[str, Any]) -> str:
    """Returns scheme and host of the first server of a document; empty where it names none."""
    url = next((str(it.get("url")) for it in document.get("servers") or ()), "")
    found = re.match(r"https?://[^/{}]+", url)
    return found[0] if found else ""


def _operations(
    site: _Site, document: Mapping[str, Any]
) -> Iterator[tuple[str, str, dict[str, list[Any]], list[str]]]:
    """Yields each operation's method, its path as MSW writes it, its rows, and its required query."""
    for path, item in document.get("paths", {}).items():
        for method in _METHODS:
            if method in item:
                names = [
                    it["name"]
                    for it in (*item.get("parameters", ()), *item[method].get("parameters", ()))
                    if it.get("in") == "query" and it.get("required")
                ]
                success = None if method == "get" else _success(item[method])
                rows = _thinned(dict(_rows(site, method, path, names, success)))
                matched = PATH_PARAMETER.sub(r":\1", path)
                yield method, matched, rows, names
                if method == "get":
                    yield "head", matched, rows, names


def _success(operation: Mapping[str, Any]) -> int | None:
    """Returns the success status that the mock sends for a write: 204 if declared, or the least."""
    declared = operation.get("responses", {})
    numbers = (int(it) for it in declared if str(it).isdecimal())
    successes = (it for it in numbers if it // 100 == 2)  # noqa: PLR2004 - RFC 9110, 15.3
    return 204 if "204" in declared else min(successes, default=None)


def _rows(
    site: _Site, method: str, path: str, names: Sequence[str], success: int | None
) -> Iterator[tuple[str, list[Any]]]:
    is_of_one = method == "get" and len(PATH_PARAMETER.findall(path)) + len(names) == 1
    people = (*site.people, *("" for _ in names)) if is_of_one else ()
    for token in (_NO_TOKEN, _INVALID_TOKEN, *site.tokens):
        for person in (_UNKNOWN, *people):
            filled = PATH_PARAMETER.sub(quote(person or _UNKNOWN, safe=""), path)
            query = f"?{urlencode(dict.fromkeys(names, person))}" if names and person else ""
            row = site.row(method, filled + query, token, success)
            if person == _UNKNOWN:
                yield f"* {token}", row
                if len(row) > _PICTURE:
                    break  # one picture serves for all
            else:
                place = " ".join((filled, *(person for _ in names))).lower()
                yield f"{place} {token}", row


def _thinned(rows: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Returns the rows without those that equal the row of all other paths."""
    return {
        key: row
        for key, row in rows.items()
        if key.startswith("* ") or row != rows["* " + key.rpartition(" ")[2]]
    }


_PLACE: Final = re.compile(r"https?://[^/]+(?:/__world/[^/]+)?")


def _unwritable(*_: object) -> NoReturn:
    msg = "handlers are written from the answers of a mock, and from no cases."
    raise StartupError(msg)


def write(url: str, out: Path | None, *, is_forced: bool) -> None:
    """Requests the responses of the mock at a base URL, and writes the module.

    Raises:
        StartupError: No mock responds there, or the output cannot be written.
    """
    place = _PLACE.match(url)
    if place is None:
        msg = f"{url!r} is not the address of a mock; write it as http://127.0.0.1:8080."
        raise StartupError(msg)
    with closing(AdminClient(place[0], option="--base-url")) as mock:
        is_commonjs = out is not None and out.suffix == ".cjs"
        content = handlers_module(mock, is_commonjs=is_commonjs).encode()
    form = ExportFormat(_unwritable, "handlers of MSW, from a mock's answers", ".js")
    save([OutputPiece("", content)], form, out, is_forced=is_forced)

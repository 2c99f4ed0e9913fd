"""A broken deployment is the mock with one small deviation at its edge, between it and the wire.

Not patched inside: what is changed there would know the mock, and a deviation of the wire is what a
client of another deployment would meet.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import orjson

Send = Callable[[httpx.Request], httpx.Response]
Change = Callable[[httpx.Request, Send], httpx.Response]

SITE = "http://127.0.0.1:8080/v3"
AUTHORIZATION = "http://127.0.0.1:8081"
LOOKUP, OWN, LIST, QR = "/profiles/", "/me/profile", "/me/avatars", "/qr-code/"
AUTHORIZE, TOKEN, INFO = "/oauth2/authorize", "/oauth2/token", "/oauth2/token-info"


@dataclass(frozen=True)
class Mutant:
    """A broken deployment.

    Attributes:
        name: What is broken, in a few words.
        rules: The rules that it breaks; one of them has to catch it.
        make: Makes the deviation, with a memory of its own.
        is_mechanical: Whether it was made from the documents, and so is not tailored to a check.
    """

    name: str
    rules: tuple[str, ...]
    make: Callable[[], Change]
    is_mechanical: bool = False


MUTANTS: list[Mutant] = []


def register(
    name: str,
    rules: tuple[str, ...],
    change: Callable[..., httpx.Response],
    **memory: Callable[[], Any],
) -> None:
    """Registers a deviation.

    Args:
        name: What is broken, in a few words.
        rules: The rules that it breaks.
        change: Makes the response to a request, given what sends it on.
        memory: What it remembers: each argument of ``change``, and what makes it for a deployment.
    """

    def make() -> Change:
        return partial(change, **{each: begin() for each, begin in memory.items()})

    MUTANTS.append(Mutant(name, rules, make))


def mutant(*rules: str, **memory: Callable[[], Any]) -> Callable[[Any], Any]:
    """Registers a function as a deviation of its name, as ``register`` does."""

    def decorate(change: Any) -> Any:
        register(change.__name__, rules, change, **memory)
        return change

    return decorate


class Edge(httpx.BaseTransport):
    """A wire with a deviation.

    Attributes:
        crashes: What the deviation's own code came to grief on. The mock's answer stands then: a
            500 of our making would be caught by anything, and say nothing of who caught it.
    """

    def __init__(self, inner: httpx.BaseTransport, change: Change) -> None:
        self.crashes: list[str] = []
        self._inner = inner
        self._change = change

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answers: list[httpx.Response] = []

        def send(asked: httpx.Request) -> httpx.Response:
            answers.append(self._inner.handle_request(asked))
            return answers[-1]

        try:
            return self._change(request, send)
        except Exception as error:
            about = f"{request.method} {request.url} {request.read()[:200]!r}"
            self.crashes.append(f"{about}: {type(error).__name__}: {error}")
            return answers[0] if answers else self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


def path_of(request: httpx.Request) -> str:
    """Returns the path below the site's address; with ``?`` in front for another site."""
    url = str(request.url).partition("?")[0]
    return url.removeprefix(SITE).removeprefix(AUTHORIZATION)


def who(request: httpx.Request) -> str:
    return str(request.headers.get("authorization", "")).removeprefix("Bearer ")


def at(request: httpx.Request, method: str, path: str) -> bool:
    """Tells whether a request is of an operation; a path that ends in ``/`` takes what follows."""
    found = path_of(request)
    is_there = found.startswith(path) if path.endswith("/") else found == path
    return request.method == method and is_there


def is_avatar(request: httpx.Request, method: str) -> bool:
    """Tells whether a request is about one avatar."""
    found = path_of(request)
    return request.method == method and found.startswith("/me/avatars/")


def is_profile(request: httpx.Request) -> bool:
    return at(request, "GET", LOOKUP) or path_of(request) == OWN


def query_of(request: httpx.Request) -> dict[str, str]:
    parts = parse_qs(urlsplit(str(request.url)).query, keep_blank_values=True)
    return {name: texts[-1] for name, texts in parts.items()}


def form_of(request: httpx.Request) -> dict[str, str]:
    pairs = parse_qs(request.read().decode("latin-1"), keep_blank_values=True)
    return {name: texts[-1] for name, texts in pairs.items()}


def json_of(request: httpx.Request) -> Any:
    try:
        return orjson.loads(request.read())
    except orjson.JSONDecodeError:
        return None


def members_of(request: httpx.Request) -> dict[str, Any]:
    """Returns the members of a JSON object; none of any other body."""
    given = json_of(request)
    return given if isinstance(given, dict) else {}


def said(response: httpx.Response) -> Any:
    try:
        return orjson.loads(response.read())
    except orjson.JSONDecodeError:
        return None


def answer(
    response: httpx.Response,
    *,
    status: int | None = None,
    body: Any = None,
    headers: Mapping[str, str | None] | None = None,
) -> httpx.Response:
    """Returns an answer with something else in it; a header of None is left out."""
    kept = {name: text for name, text in response.headers.items() if name != "content-length"}
    for name, text in (headers or {}).items():
        kept.pop(name, None)
        if text is not None:
            kept[name] = text
    content = response.read()
    if isinstance(body, bytes):
        content = body
    elif body is not None:
        content = orjson.dumps(body)
    return httpx.Response(status or response.status_code, headers=kept, content=content)


def asking(
    request: httpx.Request,
    *,
    token: str | None = None,
    query: Mapping[str, str | None] | None = None,
    path: str | None = None,
    method: str | None = None,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> httpx.Request:
    """Returns a request with something else in it; a parameter of None is left out."""
    kept = {name: text for name, text in request.headers.items() if name != "content-length"}
    kept |= {"authorization": f"Bearer {token}"} if token else {}
    kept |= headers or {}
    asked: dict[str, str | None] = {**query_of(request), **(query or {})}
    pairs = {name: text for name, text in asked.items() if text is not None}
    root = SITE if str(request.url).startswith(SITE) else AUTHORIZATION
    url = root + (path or path_of(request)) + (f"?{urlencode(pairs)}" if pairs else "")
    content = request.read() if body is None else body
    return httpx.Request(method or request.method, url, headers=kept, content=content)


def form(request: httpx.Request, **fields: str | None) -> httpx.Request:
    """Returns a form with other fields; one of None is left out."""
    given: dict[str, str | None] = {**form_of(request), **fields}
    pairs = {name: text for name, text in given.items() if text is not None}
    return asking(request, body=urlencode(pairs).encode())


def editing(
    is_meant: Callable[[httpx.Request], bool], edit: Callable[[Any], Any], *, only: int = 200
) -> Change:
    """Returns the deviation that changes the JSON of some answers."""

    def change(request: httpx.Request, send: Send) -> httpx.Response:
        response = send(request)
        body = said(response)
        if not is_meant(request) or response.status_code != only or body is None:
            return response
        return answer(response, body=edit(body))

    return change


def edits(is_meant: Callable[[httpx.Request], bool], *rules: str) -> Callable[[Any], Any]:
    """Registers a function as the deviation that changes the JSON of some answers by it."""

    def decorate(edit: Callable[[Any], Any]) -> Callable[[Any], Any]:
        register(edit.__name__, rules, editing(is_meant, edit))
        return edit

    return decorate

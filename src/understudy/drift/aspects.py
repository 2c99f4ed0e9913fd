"""Reduces an exchange to what a client can rely on.

Two deployments never send the same bytes: identifiers, dates, tokens and people differ. Compared are
aspects: status, error code, members and their types, headers by what they mean, pictures by kind
and size.
"""

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any, Final
from urllib.parse import parse_qsl

from PIL import Image, UnidentifiedImageError

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import PROFILES
from understudy.verify.history import REDIRECTS

Aspects = Mapping[str, str]
"""Name of an aspect, such as ``status`` or ``member rating``, to its value."""

PRESENT: Final = "present"
DEEPEST: Final = 6
"""Levels of nested members that are compared."""

DECISIVE: Final = ("status", "media type", "error code")
"""The aspects that decide others: where one of them differs, the rest of the response follows."""

_BY_VALUE: Final = ("allow", "cache-control", "x-frame-options")
"""Headers whose whole value a client can rely on; X-Content-Type-Options is not among them, as the mock
sends it with every response for its own protection."""

_BY_PRESENCE: Final = ("etag", "last-modified", "retry-after", "vary")
"""Headers whose value differs from response to response."""

_CODE: Final = re.compile(r"[\w.-]{1,60}")
"""An error code; a sentence is for people, and is not compared."""


def aspects(exchange: Exchange) -> Aspects:
    """Returns the aspects of a response, first those that decide the others."""
    return {
        "status": str(exchange.status),
        "media type": _media_type(exchange),
        **dict(_of_error(exchange)),
        **dict(_of_redirect(exchange)),
        **dict(_of_headers(exchange)),
        **dict(_of_body(exchange)),
    }


def _media_type(exchange: Exchange) -> str:
    """Returns the media type of a body; a redirect's is not read by anybody."""
    response = exchange.response
    if not response.body or exchange.status in REDIRECTS:
        return "no body"
    return response.media_type or "none"


def is_personal(exchange: Exchange, aspect: str) -> bool:
    """Tells whether a person decides that an aspect is there, and not the deployment."""
    return exchange.operation in PROFILES and aspect.startswith("member ")


def _of_headers(exchange: Exchange) -> Iterator[tuple[str, str]]:
    response = exchange.response
    for name in _BY_VALUE:
        if response.header(name):
            yield f"header {name}", _in_order(response.header(name))
    for name in _BY_PRESENCE:
        if response.header(name):
            yield f"header {name}", PRESENT
    challenge = response.header("www-authenticate")
    if challenge:
        yield "header www-authenticate", challenge.partition(" ")[0].lower()


def _of_redirect(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yields the names of the parameters that a redirect carries."""
    location = exchange.location
    for place, text in (("query", location.query), ("fragment", location.fragment)):
        names = sorted({name for name, _ in parse_qsl(text, keep_blank_values=True)})
        if names:
            yield f"redirect {place}", ", ".join(names)


def _in_order(text: str) -> str:
    """Returns a list in a header in lower case and in order, as its order means nothing."""
    return ", ".join(sorted(part.strip().lower() for part in text.split(",")))


def _of_error(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yields the code of a refusal: of the resource API, or by RFC 6749, 5.2."""
    if exchange.response.is_success:
        return
    name = "error" if exchange.site == "authorization" else "code"
    code = exchange.json_object.get(name) or exchange.redirect_parameters.get("error")
    if isinstance(code, str) and _CODE.fullmatch(code):
        yield "error code", code


def _of_body(exchange: Exchange) -> Iterator[tuple[str, str]]:
    if exchange.response.media_type.startswith("image/"):
        yield "picture", _picture(exchange.response.body)
    elif exchange.body is not NO_JSON and exchange.operation != "GET /openapi":
        yield from _members("", exchange.body, DEEPEST)


def _picture(content: bytes) -> str:
    try:
        with Image.open(BytesIO(content)) as image:
            return f"{image.format} {image.width}x{image.height}"
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        return "unreadable"


def _members(path: str, value: Any, levels: int) -> Iterator[tuple[str, str]]:
    """Yields the type of a value and of what it holds; the items of a list count as one."""
    yield f"member {path or 'body'}", _type(value)
    if not levels:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _members(f"{path}.{name}" if path else name, member, levels - 1)
    elif isinstance(value, list):
        merged: dict[str, set[str]] = {}
        for item in value:
            for name, kind in _members(f"{path}[]", item, levels - 1):
                merged.setdefault(name, set()).add(kind)
        yield from ((name, " or ".join(sorted(kinds))) for name, kinds in merged.items())


def _type(value: Any) -> str:
    kinds = {bool: "boolean", int: "number", float: "number", str: "text", list: "list"}
    return "null" if value is None else kinds.get(type(value), "object")

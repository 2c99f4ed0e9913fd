"""Reads which world a request names.

A world's own base address is enough for a client that can be configured. A header, a cookie or a
token that was minted in the world do for those that cannot, such as an unmodified page.
"""

import re
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple

PREFIX = "/__world/"
"""Begins the base addresses of a world."""

MARK = "~"
"""Separates the name of the world from the rest of a token that was issued there."""

DEFAULT = "default"
"""The world at the plain base address."""

HEADER = b"x-mock-world"
COOKIE = "mock_world"

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def is_world_name(name: str) -> bool:
    """Tells whether a world can have this name: it is part of URLs."""
    return _NAME.fullmatch(name) is not None


class WorldSelection(NamedTuple):
    """The world that a request selects.

    Attributes:
        name: The name of the world; None: the request names none.
        path: The path without the prefix of the world.
        is_certain: Whether it names a world beyond doubt; a token may only look like a world's.
    """

    name: str | None
    path: str
    is_certain: bool = True


NamedWorld = tuple[str | None, bool]
"""The name of a world, and whether it is certain, as a ``WorldSelection`` has them."""


def named_by_path(path: str) -> tuple[NamedWorld, str]:
    """Returns the world that a path with the prefix of a world names, and the path there."""
    name, slash, rest = path.removeprefix(PREFIX).partition("/")
    return (name, True), slash + rest or "/"


def named_by_headers(headers: Mapping[bytes, bytes]) -> NamedWorld:
    """Returns the world that a header, a cookie or a token names."""
    named = headers.get(HEADER)
    if named is not None:
        return named.decode("latin-1").strip(), True
    cookie = headers.get(b"cookie")
    if cookie is not None and COOKIE.encode() in cookie:
        return _cookie(cookie.decode("latin-1")), True
    authorization = headers.get(b"authorization", b"")
    if MARK.encode() in authorization:
        return _minted(authorization.decode("latin-1")), False
    return None, True


def _cookie(text: str) -> str | None:
    try:
        cookie = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return None
    return cookie.value if cookie else None


def _minted(authorization: str) -> str | None:
    name = authorization.rpartition(" ")[2].partition(MARK)[0]
    return name if is_world_name(name) else None

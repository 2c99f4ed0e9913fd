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


def selection(path: str, headers: Mapping[bytes, bytes]) -> WorldSelection:
    """Returns the world that a request names: in its path, else a header, a cookie or a token."""
    if path.startswith(PREFIX):
        name, slash, rest = path.removeprefix(PREFIX).partition("/")
        return WorldSelection(name, slash + rest or "/")
    named = headers.get(HEADER)
    if named is not None:
        return WorldSelection(named.decode("latin-1").strip(), path)
    cookie = headers.get(b"cookie")
    if cookie is not None and COOKIE.encode() in cookie:
        return WorldSelection(_cookie(cookie.decode("latin-1")), path)
    authorization = headers.get(b"authorization", b"")
    if MARK.encode() in authorization:
        return WorldSelection(_minted(authorization.decode("latin-1")), path, is_certain=False)
    return WorldSelection(None, path)


def _cookie(text: str) -> str | None:
    try:
        cookie = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return None
    return cookie.value if cookie else None


def _minted(authorization: str) -> str | None:
    name = authorization.rpartition(" ")[2].partition(MARK)[0]
    return name if is_world_name(name) else None

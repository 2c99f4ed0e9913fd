"""Keeps the header fields of a response that the contract is about, without any value of people."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, urlencode

from understudy.exchange.messages import Exchange, Headers
from understudy.record.allow_list import COUNTS, KINDS, OAUTH_CODES
from understudy.record.pseudonyms import AUTHORIZATION, Pseudonyms

_NUMERIC: Final = re.compile(r"(x-)?rate-?limit-(limit|remaining|reset)|retry-after")
_DIGITS: Final = re.compile(r"\d{1,10}", re.ASCII)
_CACHE_WORD: Final = re.compile(
    r"no-store|no-cache|no-transform|private|public|must-revalidate|immutable|max-age=\d{1,9}"
)
_BEARER_ERROR: Final = re.compile(r'error="(\w+)"')
_REDIRECT_PARAMETERS: Final = frozenset(
    {
        *("access_denied", "access_token", "code", "error", "error_description", "expires_in"),
        *("site_id", "state", "token_type"),
    }
)
"""Parameters of a redirect to the app (interface, Code grant and Token grant; RFC 6749, 4)."""


def response_headers(exchange: Exchange, pseudonyms: Pseudonyms) -> tuple[Headers, int]:
    """Returns the header fields that may be kept, and the number of those that are left out."""
    kept: list[tuple[str, str]] = []
    dropped = 0
    for name, value in exchange.response.headers:
        if name in {"content-type", "content-length", "transfer-encoding", "date", "connection"}:
            continue
        text = _kept(name, value, exchange, pseudonyms)
        if text is None:
            dropped += 1
        else:
            kept.append((name, text))
    return tuple(kept), dropped


def _kept(name: str, value: str, exchange: Exchange, pseudonyms: Pseudonyms) -> str | None:
    if name == "location":
        return _location(exchange, value, pseudonyms)
    if name == "cache-control":
        words = (word.strip().lower() for word in value.split(","))
        return ", ".join(word for word in words if _CACHE_WORD.fullmatch(word)) or None
    if name == "www-authenticate":
        return _challenge(value)
    if name == "access-control-allow-origin" and value == "*":
        return value
    is_number = _NUMERIC.fullmatch(name) and _DIGITS.fullmatch(value)
    return value if is_number else None


def _challenge(value: str) -> str | None:
    """Returns a challenge with nothing but its scheme and its error (RFC 6750, 3)."""
    if not value.lower().startswith("bearer"):
        return None
    match = _BEARER_ERROR.search(value)
    return f'Bearer error="{match[1]}"' if match and match[1] in OAUTH_CODES else "Bearer"


def _location(exchange: Exchange, value: str, pseudonyms: Pseudonyms) -> str:
    """Returns where a redirect leads: to the app, with what the flow defines, or to a page."""
    redirect_uri = exchange.request.query.get("redirect_uri", "")
    if not redirect_uri or not value.startswith(redirect_uri):
        return f"{AUTHORIZATION}/sign-in"
    added = value.removeprefix(redirect_uri)
    query, mark, fragment = added.partition("#")
    address = pseudonyms.redirect(redirect_uri)
    if query:
        separator = "&" if "?" in address else "?"
        pairs = urlencode(list(_parameters(query.lstrip("?&"), pseudonyms)))
        address += separator + pairs
    return address + mark + urlencode(list(_parameters(fragment, pseudonyms)))


def _parameters(text: str, pseudonyms: Pseudonyms) -> Iterator[tuple[str, str]]:
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name not in _REDIRECT_PARAMETERS:
            continue
        most = COUNTS.get(name)
        is_count = most is not None and _DIGITS.fullmatch(value) and int(value) <= most
        if (
            is_count
            or (name == "token_type" and value.lower() == "bearer")
            or (name in {"error", "access_denied"} and (value in OAUTH_CODES or not value))
        ):
            yield name, value
        else:
            yield name, KINDS.get(name, Pseudonyms.text)(pseudonyms, value)

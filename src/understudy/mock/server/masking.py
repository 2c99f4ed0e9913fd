"""Keeps secrets out of what people read, send on and commit: logs, the journal and its exports."""

import re
import string
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache, partial
from typing import Any
from urllib.parse import quote, unquote_plus

import orjson

from understudy.errors import Breach
from understudy.interface.secrets import SECRET_HEADERS, SECRET_NAMES, SECRET_NAMES_OF_RESOURCES
from understudy.mock.server.request_context import RequestContext
from understudy.openapi.media_types import is_json

MASK = "***"

_IN_QUERY = re.compile(r"(?P<before>^|[?&#])(?P<name>[^?&#=]+)=(?P<value>[^&#]*)")
"""A pair begins where another ends: looked for anywhere, it would take the square of the text."""

_PART_END = b"\r\n--"
_PART_NAME = re.compile(rb'\bname="?([^";\r\n]*)', re.IGNORECASE)

_NO_LETTERS = re.compile("[^a-z]")
_FORM = "application/x-www-form-urlencoded"
_UNTYPED = frozenset({"", "text/plain"})
_MEDIA = frozenset({"audio", "font", "image", "video"})
"""The first words of media types that hold no text."""

_AUTHORIZATION = "/oauth2/"


def secret_names(context: RequestContext) -> AbstractSet[str]:
    """Returns the names whose values are secret in an exchange.

    Codes are issued and exchanged by the authorization server alone. What is not an operation may have
    been meant for it.
    """
    is_resource = context.endpoint is not None and not context.path.startswith(_AUTHORIZATION)
    return SECRET_NAMES_OF_RESOURCES if is_resource else SECRET_NAMES


def masked_query(text: str, names: AbstractSet[str] = SECRET_NAMES, depth: int = 2) -> str:
    """Returns a query, a form or a whole address with the values of secrets masked.

    Args:
        text: The text.
        names: The names whose values are secret.
        depth: How often a value is looked into, which may be an address or a form itself.
    """
    return _IN_QUERY.sub(partial(_masked_pair, names, depth), text)


def _masked_pair(names: AbstractSet[str], depth: int, pair: re.Match[str]) -> str:
    start = f"{pair['before']}{pair['name']}="
    if _is_secret(unquote_plus(pair["name"]).partition("[")[0], names):
        return start + MASK
    value = unquote_plus(pair["value"]) if depth else ""
    masked = masked_query(value, names, depth - 1) if "=" in value else value
    return pair[0] if masked == value else start + quote(masked, safe=string.punctuation)


def _is_secret(name: str, names: AbstractSet[str]) -> bool:
    """Tells whether a name is one of these, however its words are written."""
    return _letters(name) in _spelled(frozenset(names))


def _letters(name: str) -> str:
    return _NO_LETTERS.sub("", name.lower())


@lru_cache(maxsize=8)
def _spelled(names: frozenset[str]) -> frozenset[str]:
    return frozenset(map(_letters, names))


def masked_header(name: str, text: str) -> str:
    """Returns a header's value; of credentials only the scheme, of a cookie only the name."""
    name = name.lower()
    if name in {"location", "referer"}:
        return masked_query(text)
    if name not in SECRET_HEADERS:
        return text
    separator = "=" if "cookie" in name else " "
    first, has_credentials, _ = text.partition(separator)
    return f"{first}{separator}{MASK}" if has_credentials else MASK


def masked_body(content: bytes, media_type: str, names: AbstractSet[str] = SECRET_NAMES) -> bytes:
    """Returns a body with the values of secrets masked.

    A page is left out: it may show secrets that no name gives away. What cannot be read as its type
    says is what a client sends that is wrong about the type: whatever looks like a secret is masked.
    """
    kind = media_type.partition(";")[0].strip().lower()
    if kind == "text/html":
        return f"(a page of {len(content)} bytes)".encode()
    if kind.startswith("multipart/"):
        return _PART_END.join(_masked_part(part, names) for part in content.split(_PART_END))
    if kind in _UNTYPED or is_json(kind):
        try:
            return orjson.dumps(_masked(orjson.loads(content), names))
        except ValueError:
            return _masked_text(content, names)
    is_binary = kind.partition("/")[0] in _MEDIA or (kind != _FORM and b"\0" in content)
    return content if is_binary else _masked_text(content, names)


def _masked_text(content: bytes, names: AbstractSet[str]) -> bytes:
    """Masks a form, and what looks like a member of JSON, YAML or XML."""
    text = masked_query(content.decode("latin-1"), names)
    return _members(frozenset(names)).sub(rf"\g<before>{MASK}", text).encode("latin-1")


@lru_cache(maxsize=8)
def _members(names: frozenset[str]) -> re.Pattern[str]:
    """Compiles what matches a member of one of these names, and its value."""
    listed = "|".join(sorted(names))
    before = rf"(?P<before>(?<![\w-])(?:{listed})(?:\[\w*\])?[\"']?\s*[=:>]\s*)"
    return re.compile(rf"{before}(?:\"(?:[^\"\\]|\\.)*+\"?|[^&<>,;{{}}\[\]\s]+)", re.IGNORECASE)


def _masked_part(part: bytes, names: AbstractSet[str]) -> bytes:
    head, end, _ = part.partition(b"\r\n\r\n" if b"\r\n\r\n" in part else b"\n\n")
    name = _PART_NAME.search(head)
    is_secret = name is not None and _is_secret(name[1].decode("latin-1"), names)
    return head + end + MASK.encode() if is_secret else part


def masked_breach(breach: Breach, names: AbstractSet[str]) -> dict[str, Any]:
    """Returns what a request violates as JSON, with the values of secrets masked."""
    is_secret = _is_secret(re.split(r"[/ ]", breach.where)[-1], names)
    actual = MASK if is_secret else _masked(breach.actual, names)
    return breach._replace(actual=actual)._asdict()


def _masked(value: Any, names: AbstractSet[str]) -> Any:
    if isinstance(value, list):
        return [_masked(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    # an error's ``code`` is a word for programs and no secret
    is_error = "error" in value
    return {
        name: MASK
        if _is_secret(name, names) and member is not None and not (is_error and name == "code")
        else _masked(member, names)
        for name, member in value.items()
    }


def masked_headers(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Returns headers as text, with the values of secrets masked."""
    texts = [(name.decode("latin-1"), text.decode("latin-1")) for name, text in headers]
    return [(name, masked_header(name, text)) for name, text in texts]

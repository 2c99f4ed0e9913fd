"""Keeps secrets out of what people read, send on and commit: logs, journals, reports, recordings.

Secrets are recognised by the names of their fields. Journals and logs show ``***`` instead
(``masked_body`` and the functions beside it). Reports and recordings show a pseudonym, or the
variable of a known secret (``masked``), so that recordings can be judged and commands sent again.
"""

import re
import string
from collections.abc import Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote_plus

import orjson

from understudy.errors import Breach
from understudy.exchange.messages import LARGEST_REPORTED, Exchange
from understudy.openapi.media_types import URLENCODED, is_json, without_options

SECRET_NAMES: Final = frozenset(
    (
        "access_token api_key application_password authorization client_secret code code_verifier"
        " csrf_token id_token password refresh_token token"
    ).split()
)
"""Names of JSON members, form fields and query parameters with secrets.

``code`` is a secret in the messages of an authorization server, except in the JSON of an error.
"""

SECRET_NAMES_OF_RESOURCES: Final[AbstractSet[str]] = SECRET_NAMES - {"code"}
"""The same for a resource API, where ``code`` is public: of an error, a language, a country."""

SECRET_HEADERS: Final = frozenset(
    "authorization proxy-authorization cookie set-cookie x-api-key x-auth-token".split()
)
"""Names of headers with secrets, in lower case."""

_SECRET_HEADER: Final = re.compile("(api|access|subscription)[-_]?key$|(token|secret|password)$")
"""Matches the names of further headers with secrets, whatever a document says about them."""

OWN_PREFIX: Final = "understudy-"
"""Prefix of the codes, tokens and secrets that verify makes up, which are not masked."""

_FORM_SECRET: Final = re.compile(rf"\b({'|'.join(sorted(SECRET_NAMES))})=([^&\s\"']+)")
_JSON_SECRET: Final = re.compile(
    # in JSON, ``code`` is an error code and no secret
    rf'"({"|".join(sorted(SECRET_NAMES - {"code"}))})"\s*:\s*"((?:[^"\\]|\\.)+)"'
)
_PART_SECRET: Final = re.compile(
    # a part of a multipart form: its head ends with an empty line (RFC 7578, 4)
    rf'(\bname="?(?:{"|".join(sorted(SECRET_NAMES))})\b"?[^\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n)([^\r\n]+)'
)
_COOKIE_PAIR: Final = re.compile(r"(?P<before>(?:^|;\s*)[^=;\s]+=)(?P<value>[^;]+)")
_PSEUDONYM: Final = "masked-"
_CREDENTIALS: Final = re.compile(r"^(Bearer|Basic) (\S+)$", re.IGNORECASE)

MASK: Final = "***"
"""Replaces a secret that need not be distinguished from others."""

_IN_QUERY = re.compile(r"(?P<before>^|[?&#])(?P<name>[^?&#=]+)=(?P<value>[^&#]*)")
"""Matches a pair where one can begin: tried at every letter, it would take quadratic time."""

_PART_END = b"\r\n--"
_PART_NAME = re.compile(rb'\bname="?([^";\r\n]*)', re.IGNORECASE)

_NO_LETTERS = re.compile("[^a-z]")
_UNTYPED = frozenset({"", "text/plain"})
_MEDIA = frozenset({"audio", "font", "image", "video"})
"""Top-level media types whose bodies are not text."""


def masked_query(text: str, names: AbstractSet[str] = SECRET_NAMES, depth: int = 2) -> str:
    """Returns a query, a form or a whole URL with the values of secrets masked.

    Args:
        text: The text.
        names: The names whose values are secret.
        depth: Levels of URLs and forms inside values that are masked too.
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
    """Returns whether a name is one of these, also in camel case or kebab case."""
    return letters_of(name) in _all_letters(frozenset(names))


def letters_of(name: str) -> str:
    """Returns a name's letters in lower case, alike for ``api_key``, ``apiKey`` and ``api-key``."""
    return _NO_LETTERS.sub("", name.lower())


@lru_cache(maxsize=8)  # there are only two sets of names, and each member is looked up in one
def _all_letters(names: frozenset[str]) -> frozenset[str]:
    return frozenset(map(letters_of, names))


def is_secret_header(name: str, names: Container[str] = ()) -> bool:
    """Tells whether a header has a secret value, by its name in lower case or by further names."""
    return name in SECRET_HEADERS or name in names or _SECRET_HEADER.search(name) is not None


def masked_header(name: str, text: str, names: Container[str] = ()) -> str:
    """Returns a header's value masked; credentials keep their scheme, and a cookie its name.

    Args:
        name: The header's name.
        text: Its value.
        names: Lower-case names of further headers whose values are secret.
    """
    name = name.lower()
    if name in {"location", "referer"}:
        return masked_query(text)
    if not is_secret_header(name, names):
        return text
    separator = "=" if "cookie" in name else " "
    first, has_credentials, _ = text.partition(separator)
    return f"{first}{separator}{MASK}" if has_credentials else MASK


def masked_body(content: bytes, media_type: str, names: AbstractSet[str] = SECRET_NAMES) -> bytes:
    """Returns a body with the values of secrets masked.

    A page is left out, since it may show secrets without a name. A client can declare a wrong type,
    so in a body that does not fit its type, everything that looks like a secret is masked.
    """
    kind = without_options(media_type)
    if kind == "text/html":
        return f"(a page of {len(content)} bytes)".encode()
    if kind.startswith("multipart/"):
        return _PART_END.join(_masked_part(part, names) for part in content.split(_PART_END))
    if kind in _UNTYPED or is_json(kind):
        try:
            return orjson.dumps(_masked(orjson.loads(content), names))
        except ValueError:
            return _masked_text(content, names)
    is_binary = kind.partition("/")[0] in _MEDIA or (kind != URLENCODED and b"\0" in content)
    return content if is_binary else _masked_text(content, names)


def _masked_text(content: bytes, names: AbstractSet[str]) -> bytes:
    """Masks the fields of a form, and anything like a member of JSON, YAML or XML."""
    text = masked_query(content.decode("latin-1"), names)
    return _members(frozenset(names)).sub(rf"\g<before>{MASK}", text).encode("latin-1")


@lru_cache(maxsize=8)  # compiling takes longer than matching a body
def _members(names: frozenset[str]) -> re.Pattern[str]:
    """Returns a pattern that matches a member with one of these names, and its value."""
    listed = "|".join(sorted(names))
    before = rf"(?P<before>(?<![\w-])(?:{listed})(?:\[\w*\])?[\"']?\s*[=:>]\s*)"
    return re.compile(rf"{before}(?:\"(?:[^\"\\]|\\.)*+\"?|[^&<>,;{{}}\[\]\s]+)", re.IGNORECASE)


def _masked_part(part: bytes, names: AbstractSet[str]) -> bytes:
    head, end, _ = part.partition(b"\r\n\r\n" if b"\r\n\r\n" in part else b"\n\n")
    name = _PART_NAME.search(head)
    is_secret = name is not None and _is_secret(name[1].decode("latin-1"), names)
    return head + end + MASK.encode() if is_secret else part


def masked_breach(breach: Breach, names: AbstractSet[str]) -> dict[str, Any]:
    """Returns a violation of a request as JSON, with the values of secrets masked."""
    return breach._replace(actual=masked_value(breach.where, breach.actual, names))._asdict()


def masked_value(where: str, value: Any, names: AbstractSet[str]) -> Any:
    """Returns the value at a place of a request, such as ``header cookie``, with secrets masked."""
    name = re.split(r"[/ ]", where)[-1]
    if isinstance(value, str) and where.startswith("header "):
        return masked_header(name, value)
    is_secret = _is_secret(name, names) or name.lower() in SECRET_HEADERS
    return MASK if is_secret and value is not None else _masked(value, names)


def _masked(value: Any, names: AbstractSet[str]) -> Any:
    if isinstance(value, list):
        return [_masked(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    # the ``code`` of an error is for programs, and no secret
    is_error = "error" in value
    return {
        name: MASK
        if _is_secret(name, names) and member is not None and not (is_error and name == "code")
        else _masked(member, names)
        for name, member in value.items()
    }


def masked_headers(
    headers: Sequence[tuple[bytes, bytes]], names: Container[str] = ()
) -> list[tuple[str, str]]:
    """Returns headers as text, with the values of secrets masked, also of headers with these names."""
    texts = [(name.decode("latin-1"), text.decode("latin-1")) for name, text in headers]
    return [(name, masked_header(name, text, names)) for name, text in texts]


def masked(text: str, secrets: Mapping[str, str]) -> str:
    """Returns a text with its secrets masked.

    A secret that the target does not name gets a pseudonym, the same wherever it occurs, so that a
    masked recording can still be judged.

    Args:
        text: A URL, a header's value or a body.
        secrets: Each secret of the target, and the variable that replaces it.
    """
    for secret in sorted(secrets, key=len, reverse=True):  # one secret can contain another
        for spelling in dict.fromkeys((secret, quote_plus(secret), quote(secret, safe=""))):
            text = text.replace(spelling, f"${secrets[secret]}")
    variables = frozenset(f"${name}" for name in secrets.values())
    text = _FORM_SECRET.sub(partial(_pseudonym_in_form, variables), text)
    text = _JSON_SECRET.sub(lambda m: f'"{m[1]}":"{_pseudonym(m[2], variables)}"', text)
    text = _PART_SECRET.sub(lambda m: m[1] + _pseudonym(m[2], variables), text)
    return _CREDENTIALS.sub(lambda m: f"{m[1]} {_pseudonym(m[2], variables)}", text)


def _pseudonym_in_form(variables: AbstractSet[str], pair: re.Match[str]) -> str:
    """Returns a field with its secret masked; unchanged if it is a variable, blanks aside."""
    value = unquote_plus(pair[2])
    return (
        pair[0]
        if value.strip(" \0\n") in variables
        else f"{pair[1]}={_pseudonym(value, variables)}"
    )


def masked_fields(
    fields: Sequence[tuple[str, str]], secrets: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Returns header fields with secrets masked as ``masked`` does it, cookies too.

    Args:
        fields: Names in lower case, and values.
        secrets: Each secret of the target, and the variable that replaces it.
    """
    variables = frozenset(f"${name}" for name in secrets.values())

    def hidden(pair: re.Match[str]) -> str:
        return pair["before"] + _pseudonym(pair["value"], variables)

    texts = ((name, masked(text, secrets)) for name, text in fields)
    most = {"cookie": 0, "set-cookie": 1}  # further pairs of Set-Cookie are attributes
    return tuple(
        (name, _COOKIE_PAIR.sub(hidden, text, most[name]) if name in most else text)
        for name, text in texts
    )


def masked_exchange(exchange: Exchange, secrets: Mapping[str, str]) -> Exchange:
    """Returns an exchange with its secrets masked as ``masked`` does it, for reports.

    A body stays as it is if it is not text, or too large for a report, which then leaves it out.
    """
    request, response = exchange.request, exchange.response
    return replace(
        exchange,
        request=replace(
            request,
            url=masked(request.url, secrets),
            headers=masked_fields(request.headers, secrets),
            body=_masked_content(request.body, secrets),
        ),
        response=replace(
            response,
            headers=masked_fields(response.headers, secrets),
            body=_masked_content(response.body, secrets),
        ),
        path=masked(exchange.path, secrets),
        values=tuple(masked(value, secrets) for value in exchange.values),
    )


def _masked_content(body: bytes, secrets: Mapping[str, str]) -> bytes:
    try:
        return body if len(body) > LARGEST_REPORTED else masked(body.decode(), secrets).encode()
    except UnicodeDecodeError:
        return body


def unmasked(text: str, secrets: Mapping[str, str], *, is_encoded: bool = False) -> str:
    """Returns a masked text with the target's secrets restored.

    Args:
        text: A result of ``masked``.
        secrets: Each secret of the target, and the variable that replaces it.
        is_encoded: True if the text is a URL or a URL-encoded form.
    """
    spelt = {name: quote_plus(secret) if is_encoded else secret for secret, name in secrets.items()}
    for name, secret in spelt.items():
        text = re.sub(rf"\${re.escape(name)}\b", lambda _m, s=secret: s, text)  # type: ignore[misc]  # bound early
    return text


def is_masked(text: str) -> bool:
    """Returns whether a text is a pseudonym of ``masked``."""
    return text.startswith(_PSEUDONYM)


def _pseudonym(secret: str, variables: Container[str]) -> str:
    if secret in variables or secret.startswith((_PSEUDONYM, OWN_PREFIX)):
        return secret
    return _PSEUDONYM + sha256(secret.encode("utf-8", "replace")).hexdigest()[:12]


BODY_SHOWN: Final = 2000
"""Characters of a body that reports show."""

QUIET: Final = frozenset(
    (
        "accept accept-encoding connection content-length host user-agent x-schemathesis-testcaseid"
    ).split()
)
"""Headers that reports leave out."""


def shown(exchange: Exchange, secrets: Mapping[str, str]) -> str:
    """Returns an exchange as readable text with its secrets masked."""
    request, response = exchange.request, exchange.response
    lines = [f"{request.method} {masked(request.url, secrets)}"]
    fields = masked_fields(request.headers, secrets)
    lines += [f"{name}: {text}" for name, text in fields if name not in QUIET]
    lines += ["", *_body_lines(request.body, secrets, exchange), f"HTTP {response.status}"]
    lines += [f"{name}: {text}" for name, text in masked_fields(response.headers, secrets)]
    lines += ["", *_body_lines(response.body, secrets, exchange)]
    return "\n".join(lines)


def _body_lines(body: bytes, secrets: Mapping[str, str], exchange: Exchange) -> list[str]:
    """Returns the lines of a body; for a large one the start, and where to find the whole."""
    if not body:
        return []
    text = text_of(body)
    if text is None:
        return [f"({len(body)} bytes, SHA-256 {sha256(body).hexdigest()[:16]})", ""]
    if len(text) <= BODY_SHOWN:
        return [masked(text, secrets), ""]
    rest = f"… ({len(body)} bytes in all; --report har=FILE keeps exchange {exchange.number} whole)"
    return [masked(text[:BODY_SHOWN], secrets), rest, ""]


def text_of(body: bytes) -> str | None:
    """Returns a body as text, or None if it is not UTF-8."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None

"""Shows an exchange as readable text, with its secrets masked."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from understudy.exchange.masking import masked, masked_fields
from understudy.exchange.messages import Exchange

BODY_SHOWN: Final = 2000
"""Characters of a body that are shown."""

QUIET: Final = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "host", "user-agent"),
        "x-schemathesis-testcaseid",
    }
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
    """Returns a body's text; of a large one the start, and where the whole is."""
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

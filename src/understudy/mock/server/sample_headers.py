"""Makes the headers that a document declares for a response.

A header of a usual name has a value that fits its purpose, if its schema accepts that; every other
one has a sample of its schema, in the style that headers have (OpenAPI 3.0.3, 4.7.21).
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from understudy.errors import Headers
from understudy.mock.server.response_sending import field_value
from understudy.openapi.declared_parameters import Parameter
from understudy.openapi.operations import DeclaredResponse
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import Schemas

LOCATION = "location"

_MADE_BY_SERVER: Final = frozenset(
    {
        *("connection", "content-encoding", "content-length", "content-type", "date"),
        *("keep-alive", "trailer", "transfer-encoding", "upgrade"),
    }
)
"""Headers that say how this very message is written, which a sample would say wrongly."""

_INSTANT = "Sat, 14 Mar 2026 09:26:53 GMT"

_USUAL: Final[Mapping[str, Any]] = {
    "accept-ranges": "bytes",
    "age": 0,
    "allow": "GET, HEAD, OPTIONS",
    "cache-control": "no-store",
    "content-disposition": 'attachment; filename="note.txt"',
    "content-language": "en",
    "content-range": "bytes 0-0/1",
    "etag": '"3f2b6c1e"',
    "expires": _INSTANT,
    "last-modified": _INSTANT,
    "link": '<https://example.com/?page=2>; rel="next"',
    LOCATION: "/",
    "retry-after": 1,
    "set-cookie": "session=3f2b6c1e; Path=/; HttpOnly",
    "vary": "Accept",
    "www-authenticate": "Bearer",
}


_EXAMPLES: Final = frozenset({"const", "default", "enum", "example", "examples"})
"""Keywords of a schema that say more of a header than its name does."""


def sample_headers(response: DeclaredResponse, schemas: Schemas, seed: int) -> Headers:
    """Returns the declared headers of a response, each with a value that its schema accepts.

    Args:
        response: What the document declares.
        schemas: The document's validators.
        seed: Seed of values that nothing else suggests.
    """
    declared = (it for it in response.headers if it.name.lower() not in _MADE_BY_SERVER)
    return tuple((header.name.lower(), _value(header, schemas, seed)) for header in declared)


def _value(header: Parameter, schemas: Schemas, seed: int) -> str:
    usual = _USUAL.get(header.name.lower())
    if header.schema is None:
        return field_text(next(iter(header.examples), "1" if usual is None else usual), header)
    is_accepted = schemas.validator(header.schema).is_valid
    written = schemas.follow(header.schema).value
    has_example = isinstance(written, dict) and not _EXAMPLES.isdisjoint(written)
    preferred = (*header.examples, *(() if usual is None or has_example else (usual,)))
    for value in preferred:
        if is_accepted(value):
            return field_text(value, header)
    return field_text(Sampler(schemas, seed).value(header.schema, header.name.lower()), header)


def field_text(value: Any, header: Parameter) -> str:
    """Returns a value as the text of a header field, in the style ``simple``."""
    if header.is_json:
        text = orjson.dumps(value).decode()
    elif isinstance(value, dict):
        joint = "=" if header.explode else ","
        text = ",".join(f"{name}{joint}{_word(member)}" for name, member in value.items())
    else:
        text = ",".join(map(_word, value)) if isinstance(value, list) else _word(value)
    return field_value(text).decode("latin-1")


def _word(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()

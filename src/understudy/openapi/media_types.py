"""Classifies media types, and negotiates among those that a document offers (RFC 9110, 12.5.1).

A document may declare a range where a message needs a single type: ``image/*`` is sent as
``image/png``.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

JSON: Final = "application/json"
URLENCODED: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"

JSON_SEQUENCES: Final = frozenset(
    (
        "application/jsonl application/x-jsonl application/jsonlines application/x-jsonlines"
        " application/ndjson application/x-ndjson application/x-json-stream"
        " application/stream+json application/json-seq"
    ).split()
)
"""Media types of a sequence of JSON values, in most of them one value per line."""

EVENTS: Final = "text/event-stream"

_CONCRETE: Final = {
    "*/*": JSON,
    "application/*": JSON,
    "audio/*": "audio/wav",
    "image/*": "image/png",
    "text/*": "text/plain",
    "video/*": "video/mp4",
}
"""Media range to the type that is sent for it."""


def without_options(content_type: str) -> str:
    """Returns the media type of a Content-Type header in lower case, without parameters."""
    return content_type.partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Tells whether a body of this type is one JSON value (RFC 6839, 3.1)."""
    is_named_json = media_type.endswith(("/json", "+json"))
    return is_named_json and media_type not in JSON_SEQUENCES


def is_xml(media_type: str) -> bool:
    """Tells whether a body of this type is XML that a schema describes (RFC 7303)."""
    return media_type.endswith(("/xml", "+xml")) and not media_type.startswith("image/")


def is_stream(content_type: str) -> bool:
    """Tells whether the items of a body of this type may be sent one at a time."""
    media_type = without_options(content_type)
    return media_type == EVENTS or media_type in JSON_SEQUENCES


def is_text(media_type: str) -> bool:
    """Tells whether a body of this type is plain text."""
    return media_type.startswith("text/")


def concrete(media_type: str, accept: str = "") -> str:
    """Returns the media type to send for a declared type or range.

    Args:
        media_type: The declared type or range, without options.
        accept: The Accept header; the first type within the range that it names is preferred.
    """
    if "*" not in media_type:
        return media_type
    named = (name for name, _ in _ranges(accept) if "*" not in name and _covers(media_type, name))
    return next(named, _CONCRETE.get(media_type, "application/octet-stream"))


def negotiated(offered: Iterable[str], accept: str) -> str | None:
    """Returns the offered media type that a client prefers, or None if it accepts none.

    Among equally preferred types JSON comes first, and then the document's order.

    Args:
        offered: Media types and ranges, in the document's order.
        accept: The Accept header; empty accepts all (RFC 9110, 12.5.1).
    """
    order = sorted(offered, key=lambda name: not is_json(name))
    ranges = _ranges(accept) or [("*/*", 1.0)]
    weights = [_weight(name, ranges) for name in order]
    best = max(weights, default=0.0)
    return order[weights.index(best)] if best > 0 else None


def declared_for(media_type: str, declared: Collection[str]) -> str | None:
    """Returns the most specific of the declared types and ranges that covers a type; None without."""
    if media_type in declared:
        return media_type
    covering = [name for name in declared if _covers(name, media_type)]
    return min(covering, key=lambda name: name.count("*"), default=None)


def _weight(offered: str, ranges: Sequence[tuple[str, float]]) -> float:
    """Returns the weight (``q``) of the most specific accepted range that covers an offered type."""
    fitting = [
        (name.count("*"), -weight)
        for name, weight in ranges
        if _covers(name, offered) or _covers(offered, name)
    ]
    return -min(fitting)[1] if fitting else 0.0


def _covers(media_range: str, media_type: str) -> bool:
    main, _, sub = media_range.partition("/")
    other_main, _, other_sub = media_type.partition("/")
    return main in {"*", other_main} and sub in {"*", other_sub}


def _ranges(accept: str) -> list[tuple[str, float]]:
    """Returns the media ranges of an Accept header with their weights; an invalid weight is 1."""
    ranges = []
    for part in accept.lower().split(","):
        name, *options = (piece.strip() for piece in part.split(";"))
        if "/" in name:
            weights = [option[2:] for option in options if option.startswith("q=")]
            ranges.append((name, _number(weights[0]) if weights else 1.0))
    return ranges


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0

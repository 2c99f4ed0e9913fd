"""The changes that turns make to a draft, by what they put where."""

from collections.abc import Callable
from typing import Any

from understudy.generate.drafts import Draft, encoded

Apply = Callable[[Draft], Draft]


def query(name: str, *texts: str | None) -> Apply:
    """Returns what gives a query parameter these encoded values, and no others."""
    return lambda draft: draft.with_query(encoded(name), *texts)


def more_query(name: str, text: str | None) -> Apply:
    """Returns what adds an encoded name and value to the query."""
    return lambda draft: draft._replace(query=(*draft.query, (name, text)))


def place(name: str, text: str) -> Apply:
    """Returns what puts an encoded text where a path parameter stands."""
    return lambda draft: draft.with_place(name, text)


def header(name: str, *texts: str) -> Apply:
    """Returns what sends a header with these values, each on a line of its own."""
    return lambda draft: draft.with_headers(name, *texts)


def form(name: str, *texts: str | None) -> Apply:
    """Returns what gives a field of a form these encoded values, and no others."""
    return lambda draft: draft.with_form(encoded(name), *texts)


def more_form(name: str, text: str | None) -> Apply:
    """Returns what adds an encoded field to a form."""
    return lambda draft: draft._replace(form=(*(draft.form or ()), (name, text)))


def member(path: tuple[str | int, ...], value: Any) -> Apply:
    """Returns what gives a member of a JSON body a value."""
    return lambda draft: draft.with_json(path, value)


def raw(content: bytes) -> Apply:
    """Returns what sends these bytes as the body."""
    return lambda draft: draft._replace(raw=content)


def rewritten(change: Callable[[bytes], bytes]) -> Apply:
    """Returns what writes the body otherwise."""
    return lambda draft: draft._replace(raw=change(draft.content() or b""))


def content_type(text: str | None) -> Apply:
    """Returns what says that the body is of this type."""
    return lambda draft: draft._replace(content_type=text)


def method(name: str) -> Apply:
    """Returns what sends the request by another method."""
    return lambda draft: draft._replace(method=name)


def bodiless(name: str) -> Apply:
    """Returns what sends the request by a method that knows no bodies."""
    return lambda draft: draft.without_body()._replace(method=name)

"""Functions that make draft changes: each returns a function from a draft to a changed draft."""

from collections.abc import Callable
from typing import Any

from understudy.generate.drafts import Draft
from understudy.openapi.parameter_writing import encoded

DraftChange = Callable[[Draft], Draft]
"""Returns a changed copy of a draft."""


def query(name: str, *texts: str | None) -> DraftChange:
    """Returns a change that gives a query parameter exactly these percent-encoded values."""
    return lambda draft: draft.with_query(encoded(name), *texts)


def more_query(name: str, text: str | None) -> DraftChange:
    """Returns a change that appends a percent-encoded name and value to the query."""
    return lambda draft: draft._replace(query=(*draft.query, (name, text)))


def place(name: str, text: str) -> DraftChange:
    """Returns a change that gives a path parameter this percent-encoded text."""
    return lambda draft: draft.with_place(name, text)


def header(name: str, *texts: str) -> DraftChange:
    """Returns a change that sends a header with exactly these values, each on its own line."""
    return lambda draft: draft.with_headers(name, *texts)


def form(name: str, *texts: str | None) -> DraftChange:
    """Returns a change that gives a form field exactly these percent-encoded values."""
    return lambda draft: draft.with_form(encoded(name), *texts)


def more_form(name: str, text: str | None) -> DraftChange:
    """Returns a change that appends a percent-encoded field to the form."""
    return lambda draft: draft._replace(form=(*(draft.form or ()), (name, text)))


def member(path: tuple[str | int, ...], value: Any) -> DraftChange:
    """Returns a change that gives a member of the JSON body a value."""
    return lambda draft: draft.with_json(path, value)


def raw(content: bytes) -> DraftChange:
    """Returns a change that sends these bytes as the body."""
    return lambda draft: draft._replace(raw=content)


def rewritten(change: Callable[[bytes], bytes]) -> DraftChange:
    """Returns a change that rewrites the bytes of the body."""
    return lambda draft: draft._replace(raw=change(draft.content() or b""))


def content_type(text: str | None) -> DraftChange:
    """Returns a change that sends this Content-Type."""
    return lambda draft: draft._replace(content_type=text)


def method(name: str) -> DraftChange:
    """Returns a change that sends the request with this method."""
    return lambda draft: draft._replace(method=name)


def bodiless(name: str) -> DraftChange:
    """Returns a change that sends the request with this method and without a body."""
    return lambda draft: draft.without_body()._replace(method=name)

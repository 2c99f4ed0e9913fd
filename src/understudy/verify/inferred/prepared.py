"""A request to an operation of any service, before it has a credential."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

FORM: Final = "application/x-www-form-urlencoded"


class PreparedRequest(NamedTuple):
    """A request to an operation, before it has a credential.

    Attributes:
        method: In upper case.
        path: Below the base URL, encoded.
        query: Names and texts.
        headers: The content type among them.
        body: What is sent: JSON, or the fields of a form; None without a body.
        sent: The members of the item in the body.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = {}
    body: Any = None
    sent: Mapping[str, Any] = {}

    @property
    def url(self) -> str:
        """The path and the query."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    @property
    def content(self) -> dict[str, Any]:
        """The arguments that a probe client takes it by."""
        arguments = {"query": self.query, "headers": self.headers}
        if self.body is None:
            return arguments
        is_form = self.headers.get("content-type") == FORM
        return {**arguments, **({"form": _pairs(self.body)} if is_form else {"json": self.body})}


def _pairs(members: Mapping[str, Any]) -> list[tuple[str, str]]:
    items = [(n, it) for n, v in members.items() for it in (v if isinstance(v, list) else [v])]
    return [(name, text_of(value)) for name, value in items if not isinstance(value, dict)]


def text_of(value: Any) -> str:
    """Returns a value as a form, a query or a path writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)

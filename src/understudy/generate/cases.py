"""A case: one request, what makes it nasty, and the answer that the contract expects.

Whatever is secret stands in a request as ``~~name~~``, made of characters that neither a URL nor
JSON nor a form encodes. So a format swaps it for its tool's own variable wherever it stands, and no
credential is ever part of a case.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import quote

CaseKind = Literal["valid", "invalid", "open"]
"""Accepted, refused, or left open by the contract: then anything will do but a failure (5XX)."""

CaseSite = Literal["resource", "authorization"]

Location = Literal["", "without error", "with error"]
"""What a redirect's address must hold; empty where it does not matter."""

LARGE = 1_000_000
"""Bytes of a body beyond which nobody wants to read it, or to have it in a file again and again."""

VARIABLE = re.compile(r"~~([a-z_]+)~~")


ENCODED = "_encoded"
"""Ends the name of a secret where it stands in a query or a form: real tokens must be encoded."""


def variable(name: str) -> str:
    """Returns what stands for a secret in a header."""
    return f"~~{name}~~"


def encoded_variable(name: str) -> str:
    """Returns what stands for a secret in a query or a form: its percent-encoded twin."""
    return f"~~{name}{ENCODED}~~"


class CaseRequest(NamedTuple):
    """A request as it goes over the wire.

    Attributes:
        site: Which of the two addresses it goes to.
        method: As it is sent.
        path: Below the base address, percent-encoded; starts with a slash.
        query: Names and values in order, percent-encoded. A value of None is a name without ``=``.
        headers: In order, names as they are sent.
        body: None where there is none.
    """

    site: CaseSite
    method: str
    path: str
    query: tuple[tuple[str, str | None], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None

    @property
    def target(self) -> str:
        """Path and query as they stand in the request line, below the base address."""
        pairs = (name if value is None else f"{name}={value}" for name, value in self.query)
        return f"{self.path}?{'&'.join(pairs)}" if self.query else self.path

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the secrets that it needs, in order, each once; without ``_encoded``."""
        texts = [self.target, *(value for _, value in self.headers)]
        if self.body is not None and b"~~" in self.body:
            texts.append(self.body.decode("latin-1"))
        names = (name for text in texts for name in VARIABLE.findall(text))
        return tuple(dict.fromkeys(name.removesuffix(ENCODED) for name in names))

    def filled(self, values: Mapping[str, str]) -> "CaseRequest":
        """Returns the request with secrets in place; those without a value stay as they are."""
        twins = {f"{name}{ENCODED}": quote(text, safe="") for name, text in values.items()}
        known = {**twins, **values}

        def fill(text: str) -> str:
            return VARIABLE.sub(lambda found: known.get(found[1], found[0]), text)

        body = self.body
        if body is not None and b"~~" in body:
            body = fill(body.decode("latin-1")).encode("latin-1")
        return self._replace(
            path=fill(self.path),
            query=tuple((name, text and fill(text)) for name, text in self.query),
            headers=tuple((name, fill(text)) for name, text in self.headers),
            body=body,
        )


class Expected(NamedTuple):
    """The class of answer that the contract expects.

    Attributes:
        statuses: Statuses (``404``) and classes of them (``2XX``); any one will do.
        because: The rule (``rule profile-unknown-404``), the pointer into the document or the
            paragraph of an RFC that says so.
        location: What the address of a redirect must hold.
    """

    statuses: tuple[str, ...]
    because: str
    location: Location = ""

    def fault(self, status: int, location: str = "") -> str:
        """Returns what is wrong with an answer, or nothing.

        Args:
            status: Of the answer.
            location: Its header of that name.
        """
        if str(status) not in self.statuses and f"{status // 100}XX" not in self.statuses:
            return f"answered {status}, expected {' or '.join(self.statuses)}"
        is_redirect = status // 100 == 3  # noqa: PLR2004 - 3XX
        if is_redirect and self.location and self.location != _kind(location):
            return f"redirected {_kind(location)}, expected {self.location}"
        return ""


def _kind(location: str) -> Location:
    return "with error" if re.search(r"[?&#]error=", location) else "without error"


@dataclass(frozen=True, slots=True)
class Case:
    """One edge case.

    Attributes:
        id: Stable: the same request of the same operation has it in every run.
        operation: The document's operationId.
        description: What makes it nasty, in plain words.
        category: Such as ``boundary``, ``unicode`` or ``authorization``.
        part: What deviates: ``query size``, ``body display_name``, ``header Authorization``.
        source: The keyword or rule that it deviates from, or lives up to.
        kind: Whether the contract accepts or refuses it, or leaves it open.
        request: The request.
        expected: What must follow.
        touched: Every part and keyword or rule that it touches, for choosing a small set.
        outcome: What came of it where it was sent: ``passed: …``, ``failed: …``, ``not sent: …``.
    """

    id: str
    operation: str
    description: str
    category: str
    part: str
    source: str
    kind: CaseKind
    request: CaseRequest
    expected: Expected
    touched: tuple[tuple[str, str], ...] = ()
    outcome: str = ""

    @property
    def has_failed(self) -> bool:
        """Tells whether it was sent, and answered otherwise than expected."""
        return self.outcome.startswith("failed")

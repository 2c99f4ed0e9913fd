"""Cases: a request, what makes it an edge case, and the response that the contract expects.

A request contains secrets as variables, ``~~NAME~~``; URLs, JSON and forms leave these characters
unencoded. A format replaces them with variables of its tool, so that no case contains a credential.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from understudy.cases.test_data import AVATAR_ID, SECRETS

# Steps of a sequence pass values on by captures and check responses by assertions, Hurl's terms. All
# formats write them as the same JSON, which the script of each format reads.

ITEMS = tuple(f"ITEM_{number}" for number in range(1, 10))
"""Names of the variables for identifiers of created items."""

Steps = tuple[str, ...]
"""Path of member names into a JSON body; empty for the whole body."""

AssertionKind = Literal["equals", "contains", "lacks"]
"""Comparison: the value is equal; the list contains an item with the value; the list contains none."""


class Capture(NamedTuple):
    """A value of a response that later requests use.

    Attributes:
        variable: One of ``ITEMS``.
        place: Path of the value in the body; None: the last path segment of the Location header.
    """

    variable: str
    place: Steps | None


class Assertion(NamedTuple):
    """A condition on the JSON body of a response.

    Attributes:
        kind: How the body is compared.
        place: Path of the value, or of the list.
        value: The expected value; not used with a variable.
        variable: The variable with the expected value, compared as text; empty for ``value``.
        member: The member of each item of a list that is compared; empty for ``equals``.
    """

    kind: AssertionKind
    place: Steps
    value: Any = None
    variable: str = ""
    member: str = ""


class SequenceStep(NamedTuple):
    """The position of a case in a sequence, with its captures and assertions.

    Attributes:
        sequence: Identifier of the sequence.
        title: Title of the sequence.
        number: Number of the step, counted from 1.
        captures: Values of the response for later steps.
        assertions: Conditions on the response.
    """

    sequence: str
    title: str
    number: int
    captures: tuple[Capture, ...] = ()
    assertions: tuple[Assertion, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Returns the captures and assertions as JSON; a place of null means Location."""
        return {
            "captures": [
                {"variable": it.variable, "place": None if it.place is None else [*it.place]}
                for it in self.captures
            ],
            "assertions": [_assertion_json(it) for it in self.assertions],
        }


def _assertion_json(assertion: Assertion) -> dict[str, Any]:
    expected: dict[str, Any] = (
        {"variable": assertion.variable} if assertion.variable else {"value": assertion.value}
    )
    member = {"member": assertion.member} if assertion.member else {}
    return {"kind": assertion.kind, "place": [*assertion.place], **member, **expected}


def captured(step: SequenceStep, body: Any, location: str) -> dict[str, str]:
    """Returns variable to value for the captures of a response; missing values are left out.

    Args:
        step: The step with the captures.
        body: The parsed JSON body; None for any other.
        location: The Location header.
    """
    values = {it.variable: _captured(it, body, location) for it in step.captures}
    return {name: text for name, text in values.items() if text}


def _captured(capture: Capture, body: Any, location: str) -> str:
    if capture.place is None:
        return unquote(urlsplit(location).path.rstrip("/").rpartition("/")[2])
    value = _at(body, capture.place)
    is_identifier = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) if is_identifier else ""


def broken_assertions(step: SequenceStep, body: Any, values: Mapping[str, str]) -> list[str]:
    """Returns descriptions of the assertions that a response fails.

    Args:
        step: The step with the assertions.
        body: The parsed JSON body; None for any other.
        values: Variable to value.
    """
    return [described(it) for it in step.assertions if not _holds(it, body, values)]


def described(assertion: Assertion) -> str:
    """Returns an assertion in words."""
    expected = assertion.variable or repr(assertion.value)
    place = ".".join(assertion.place)
    if assertion.kind == "equals":
        return f"{place or 'the body'} is {expected}"
    verb = "has" if assertion.kind == "contains" else "lacks"
    return f"{place or 'the list'} {verb} an item with {assertion.member} {expected}"


def _holds(assertion: Assertion, body: Any, values: Mapping[str, str]) -> bool:
    expected = values.get(assertion.variable) if assertion.variable else assertion.value
    value = _at(body, assertion.place)

    def is_expected(actual: Any) -> bool:
        if assertion.variable:
            return expected is not None and str(actual) == expected
        return actual == expected and isinstance(actual, bool) == isinstance(expected, bool)

    if assertion.kind == "equals":
        return is_expected(value)
    if not isinstance(value, list):
        return False
    has_item = any(is_expected(_at(item, (assertion.member,))) for item in value)
    return has_item == (assertion.kind == "contains")


def _at(body: Any, place: Steps) -> Any:
    for step in place:
        body = body.get(step) if isinstance(body, dict) else None
    return body


CaseKind = Literal["valid", "invalid", "open"]
"""Accepted, refused, or left open by the contract; if left open, any response but 5XX is right."""

CaseSite = Literal["resource", "authorization"]

Location = Literal["", "without error", "with error"]
"""Requirement on the address of a redirect: without or with an error; empty: no requirement."""

LARGE = 1_000_000
"""Size in bytes above which a body is abbreviated or hashed instead of written in full."""

ENCODED = "_ENCODED"
"""Suffix of a variable in a query or form, where its value must be percent-encoded."""

VARIABLES = (*SECRETS, AVATAR_ID, *ITEMS)
"""Names of all variables: secrets, and values that earlier requests create."""

VARIABLE = re.compile(f"~~((?:{'|'.join(VARIABLES)})(?:{ENCODED})?)~~")
"""A variable in a request; other texts between tildes are left alone."""


def variable(name: str) -> str:
    """Returns the text of a variable in a header."""
    return f"~~{name}~~"


def encoded_variable(name: str) -> str:
    """Returns the text of a variable in a query or form, where its value is percent-encoded."""
    return f"~~{name}{ENCODED}~~"


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]")  # invalid in a field value


class CaseRequest(NamedTuple):
    """A request as it is sent.

    Attributes:
        site: The server that the request goes to.
        method: The request method.
        path: Percent-encoded path below the base URL; starts with a slash.
        query: Percent-encoded names and values in order; a value of None is a name without ``=``.
        headers: Names and values in order.
        body: The bytes of the body; None for no body.
    """

    site: CaseSite
    method: str
    path: str
    query: tuple[tuple[str, str | None], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None

    @property
    def target(self) -> str:
        """Path and query of the request line, below the base URL."""
        pairs = (name if value is None else f"{name}={value}" for name, value in self.query)
        return f"{self.path}?{'&'.join(pairs)}" if self.query else self.path

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables in the request, in order and without repetition."""
        texts = [self.target, *(value for _, value in self.headers)]
        names = [match[1] for text in texts if "~~" in text for match in VARIABLE.finditer(text)]
        plain = (name.removesuffix(ENCODED) for name in (*names, *self.body_variables))
        return tuple(dict.fromkeys(plain))

    @property
    def body_variables(self) -> tuple[str, ...]:
        """Names of the variables in the body, as they are written there."""
        if self.body is None or b"~~" not in self.body:
            return ()
        return tuple(match[1] for match in VARIABLE.finditer(self.body.decode("latin-1")))

    @property
    def is_sendable(self) -> bool:
        """True if all header names and values are valid in HTTP (RFC 9110, 5.1 and 5.5)."""
        return all(
            _HEADER_NAME.fullmatch(name) and not _CONTROL.search(text)
            for name, text in self.headers
        )

    @property
    def is_normalised_by_clients(self) -> bool:
        """True if an HTTP client would change the URL (dot segments, stray percent signs)."""
        path, _, query = self.target.partition("?")
        has_dots = "/./" in path or "/../" in path or path.startswith("//")
        is_odd = re.search(r"%(?![0-9A-Fa-f]{2})", self.target) is not None
        return has_dots or is_odd or quote(query, safe="%=&+/:?@!$'()*,;~-._") != query

    def filled(self, values: Mapping[str, str]) -> "CaseRequest":
        """Returns the request with variables replaced by values; variables without value stay."""
        twins = {f"{name}{ENCODED}": quote(text, safe="") for name, text in values.items()}
        known = {**twins, **values}

        def fill(text: str) -> str:
            return VARIABLE.sub(lambda match: known.get(match[1], match[0]), text)

        body = self.body
        if body is not None and b"~~" in body:
            body = fill(body.decode("latin-1")).encode("latin-1")
        return self._replace(
            path=fill(self.path),
            query=tuple((name, text and fill(text)) for name, text in self.query),
            headers=tuple((name, fill(text)) for name, text in self.headers),
            body=body,
        )


class SetUp(NamedTuple):
    """A request that is sent before a case, and whose response has the value of a variable.

    Attributes:
        request: The upload of an avatar, or a request for a code or a token.
        is_shared: Whether one such request suffices for all cases of an operation.
        variable: Name of the variable.
        member: Name of the value: a member of the response's JSON object, or a query parameter of
            the address that the response redirects to.
    """

    request: CaseRequest
    is_shared: bool
    variable: str = AVATAR_ID
    member: str = "image_id"


class Mismatch(NamedTuple):
    """Says how a response differs from the expected one: the actual and the expected one in words."""

    actual: str
    expected: str

    def __str__(self) -> str:
        """Returns both in one clause."""
        return f"{self.actual}, expected {self.expected}"


class ExpectedResponse(NamedTuple):
    """The response that the contract expects.

    Attributes:
        statuses: Expected statuses (``404``) and classes (``2XX``); any of them is right.
        because: The reason: a rule (``rule profile-unknown-404``), a pointer into the document, or a
            section of an RFC.
        location: Whether the address of a redirect must carry an error.
    """

    statuses: tuple[str, ...]
    because: str
    location: Location = ""

    def mismatch(self, status: int, location: str = "") -> Mismatch | None:
        """Returns how a response, by status and Location, differs from the expected one, if it does."""
        if str(status) not in self.statuses and f"{status // 100}XX" not in self.statuses:
            return Mismatch(f"answered {status}", " or ".join(self.statuses))
        is_redirect = status // 100 == 3  # noqa: PLR2004 - 3XX
        if is_redirect and self.location and self.location != _redirect_kind(location):
            return Mismatch(f"redirected {_redirect_kind(location)}", self.location)
        return None


def _redirect_kind(location: str) -> Location:
    return "with error" if re.search(r"[?&#]error=", location) else "without error"


_OUTCOMES: Final = {
    "valid": "is accepted",
    "invalid": "is refused",
    "open": "makes no server fail",
}
"""Kind of case to the outcome in its title."""


@dataclass(frozen=True, slots=True)
class Case:
    """One edge case.

    Attributes:
        id: Identifier, derived from operation and request, so that it is the same in every run.
        operation: The document's operationId.
        description: The deviation in plain words.
        category: The kind of deviation, such as ``boundary`` or ``unicode``.
        part: The part that deviates: ``query size``, ``body display_name``.
        source: The schema keyword or rule that the case tests.
        kind: Whether the contract accepts the request, refuses it, or leaves it open.
        request: The request.
        expected: The expected response.
        touched: All parts with keywords or rules that the case tests, for choosing a covering set.
        set_up: The request to send before the case; None without.
        plain: The plain request of the operation; None for a case made without a plan.
        step: Its position in a sequence; None for a case that is sent alone.
        outcome: Result of sending the case: ``passed: …``, ``failed: …``, ``not sent: …``.
    """

    id: str
    operation: str
    description: str
    category: str
    part: str
    source: str
    kind: CaseKind
    request: CaseRequest
    expected: ExpectedResponse
    touched: tuple[tuple[str, str], ...] = ()
    set_up: SetUp | None = None
    plain: CaseRequest | None = field(default=None, repr=False)
    step: SequenceStep | None = None
    outcome: str = ""

    @property
    def title(self) -> str:
        """The deviation and its expected outcome in words, and the identifier in parentheses."""
        outcome = "" if self.step is not None else f" {_OUTCOMES[self.kind]}"
        return f"{self.description}{outcome} ({self.id})"

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the secrets that the case and its set-up need, without repetition."""
        requests = [self.request] if self.set_up is None else [self.set_up.request, self.request]
        names = dict.fromkeys(name for request in requests for name in request.variables)
        obtained = {AVATAR_ID, *ITEMS, *([] if self.set_up is None else [self.set_up.variable])}
        return tuple(name for name in names if name not in obtained)

    @property
    def items(self) -> tuple[str, ...]:
        """Names of the variables in request and assertions that earlier steps capture."""
        asserted = () if self.step is None else (it.variable for it in self.step.assertions)
        own = () if self.step is None else {it.variable for it in self.step.captures}
        names = dict.fromkeys((*self.request.variables, *asserted))
        return tuple(name for name in names if name in ITEMS and name not in own)

    @property
    def has_failed(self) -> bool:
        """True if the case was sent and its response was not the expected one."""
        return self.outcome.startswith("failed")

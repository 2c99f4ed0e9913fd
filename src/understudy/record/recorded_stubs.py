"""Makes stubs of recorded exchanges, so that the mock answers first what the deployment answered.

The mock keeps a state of profiles, as they were at the end. So of those only what was read after the
last change is a stub, and counts until the app changes something. Of operations without a state the
recording is all that is known.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import (
    ASSOCIATED_EMAIL,
    CHANGES,
    LOOKUP,
    OWN_PROFILE,
    RESOURCE,
    key_of,
)
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.operations import Operation
from understudy.record.pseudonyms import AUTHORIZATION, SITE

_MOST_ANSWERS: Final = 100
"""The responses that one stub may have."""

_READ: Final = frozenset({LOOKUP, OWN_PROFILE, ASSOCIATED_EMAIL})
"""Operations whose response is an object that shows the state of an account."""

_OF_THE_MOCK: Final = (SITE, AUTHORIZATION)


@dataclass(frozen=True)
class RecordedStubs:
    """The exchanges of a recording, by their requests.

    Args:
        operations: Those of the document that the mock serves the recording with.
    """

    operations: Iterable[Operation]
    _exchanges: dict[str, list[Exchange]] = field(default_factory=dict)

    def add(self, exchange: Exchange) -> None:
        """Takes an exchange whose values are pseudonyms."""
        operation = exchange.operation
        if operation in _READ:
            if exchange.response.is_success and exchange.json_object:
                self._exchanges.setdefault(operation, []).append(exchange)
        elif operation in CHANGES:
            for name in _READ:
                self._exchanges.pop(name, None)
        elif exchange.site == "resource" and operation not in RESOURCE:
            self._exchanges.setdefault(operation, []).append(exchange)

    def stubs(self, slugs: Mapping[str, str]) -> list[dict[str, Any]]:
        """Returns the stubs, those that ask for more behind the others: the latest that fits answers.

        Args:
            slugs: Token to the slug of the person that it opens.
        """
        found = [stub for operation in self.operations for stub in self._of(operation, slugs)]
        return sorted(found, key=lambda stub: len(stub["when"].get("query", ())))

    def _of(self, operation: Operation, slugs: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        key = key_of(operation.method, operation.path)
        has_state = key in _READ
        alike: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}
        for exchange in self._exchanges.get(key, ()):
            token = exchange.request.token
            if exchange.request.method == operation.method and (token is None or token in slugs):
                when = _condition(operation, exchange)
                if has_state:
                    when |= _caller(exchange, slugs)
                alike.setdefault(repr(when), (when, []))[1].append(_response(exchange))
        for when, answers in alike.values():
            is_one = has_state or all(each == answers[0] for each in answers)
            yield {
                "operation": operation.operation_id,
                "when": when,
                "response": answers[-1] if is_one else answers[:_MOST_ANSWERS],
                "allow_invalid": True,
                "until_changed": has_state,
            }


def _condition(operation: Operation, exchange: Exchange) -> dict[str, Any]:
    """Returns what a request has to be like, whoever sends it, to get what this one got."""
    request = exchange.request
    when: dict[str, Any] = {}
    if exchange.values:
        names = PATH_PARAMETER.findall(operation.path)
        when["path"] = dict(zip(names, exchange.values, strict=True))
    if request.query:
        when["query"] = dict(request.query)
    if request.body and request.json is not NO_JSON:
        when["body"] = request.json
    return when


def _caller(exchange: Exchange, slugs: Mapping[str, str]) -> dict[str, Any]:
    """Returns the condition that somebody sends a request, or nobody who is signed in."""
    token = exchange.request.token
    if token is None:
        return {"header": {"authorization": {"absent": True}}}
    return {"person": slugs[token]}


def _response(exchange: Exchange) -> dict[str, Any]:
    """Returns the response of a stub: members of a profile, or the whole body of what has no state."""
    response: dict[str, Any] = {"status": exchange.status}
    if exchange.operation in _READ:
        return response | {"merge": _changes(exchange.body)}
    return response if exchange.body is NO_JSON else response | {"body": exchange.body}


def _changes(value: Any) -> Any:
    """Returns an object as a merge, in which null would remove, without addresses of the mock."""
    if isinstance(value, dict):
        kept = {name: _changes(it) for name, it in value.items() if it is not None}
        return {name: it for name, it in kept.items() if not _leads_to_the_mock(it)}
    return value


def _leads_to_the_mock(value: Any) -> bool:
    """Tells whether an address of the mock is in a value; it writes them by where it is reached."""
    if isinstance(value, str):
        return any(address in value for address in _OF_THE_MOCK)
    members = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and any(map(_leads_to_the_mock, members))

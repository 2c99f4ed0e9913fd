"""Sends errors and headers as the document in force declares them.

An API has a default error shape; if a document declares another status or schema for an operation's
errors, the mock follows the document, so that a generated client can read them. Error schemas differ in
the names of their members and agree in content: a message, a status, and a list of violations with a
place and a message each. A body is generated from the schema, and each member with a common name gets
the fact that the name stands for, if its schema accepts the value.

All declared headers are sent, with their declared names and values. Documents differ in dashes, in
``X-`` and in prefixes: ``RateLimit-Limit`` is ``X-Rate-Limit-Limit``, and ``X-Profile-Status`` is
``X-Gallery-Profile-Status``.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from understudy.errors import Headers, LimitExceeded, Problem, Violation
from understudy.exchange.masking import letters_of
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.json_bodies import json_bytes
from understudy.openapi.loader import Node
from understudy.openapi.media_types import concrete, is_json
from understudy.openapi.operations import DeclaredResponse, Operation, Parameter
from understudy.openapi.parameter_writing import text_of
from understudy.openapi.pointers import escape
from understudy.openapi.sampler import BRIEF, Sampler
from understudy.openapi.schemas import ALL, Schemas

_NOT_LETTERS: Final = re.compile("[^a-z]")


_MESSAGE_NAMES: Final = tuple(
    (
        "error message detail errordescription errormessage msg description title problem reason"
        " issue errormsg usermessage faultstring details developermessage messagetext explanation"
        " summary text"
    ).split()
)
"""Names of the member with the message, in lower-case letters, the most common first."""

_PLACE_NAMES: Final = frozenset(
    (
        "field loc path pointer parameter param name property key attribute fieldname"
        " parametername propertypath propertyname"
    ).split()
)
_CODE_NAMES: Final = frozenset(("code", "type", "errorcode"))
_STATUS_NAMES: Final = frozenset(("status", "statuscode", "httpstatus", "httpstatuscode"))
_LOCATION_NAMES: Final = frozenset(("in", "location"))

_WORDED: Final = frozenset(("enum", "const", "format", "pattern"))
"""Keywords of schemas whose texts cannot be a free message."""

_MAX_DEPTH = 3
"""Levels of nested objects that are filled."""


class _Facts(NamedTuple):
    """The facts about an error that an object of its body may contain."""

    message: str
    status: int
    code: str | None
    violation: Violation | None = None

    def named(self, name: str) -> tuple[Any, ...]:
        """Returns the possible values of a member with this name, the likeliest first."""
        name = letters_of(name)
        if name in _STATUS_NAMES:
            return self.status, str(self.status)
        if name == "title":  # RFC 9457, 4.2.1
            return (_phrase(self.status),)
        if name in _CODE_NAMES:
            return self.code or _words(self.status), self.status
        if self.violation is not None and name in _LOCATION_NAMES:
            return (self.violation.location,)
        if self.violation is not None and name in _PLACE_NAMES:
            location, path = self.violation.location, self.violation.path
            is_pointer = name == "pointer"
            steps = [escape(str(step)) if is_pointer else str(step) for step in path]
            text = "".join(f"/{step}" for step in steps) if is_pointer else ".".join(steps)
            return text, [location, *path], [location, *map(str, path)], list(path)
        return ()


def _words(status: int) -> str:
    """Returns a code for a problem without one, from its status, such as ``not_found``."""
    return _NOT_LETTERS.sub("_", _phrase(status).lower())


def _phrase(status: int) -> str:
    """Returns the reason phrase of a status, such as ``Not Found``."""
    phrases = {it.value: it.phrase for it in HTTPStatus}
    return phrases.get(status, "Error")


def has_message(value: Any, message: str) -> bool:
    """Tells whether any text in a body contains a message or a truncated one."""
    if isinstance(value, str):
        return bool(value) and (message in value or message.startswith(value))
    if isinstance(value, dict):
        return any(has_message(member, message) for member in value.values())
    return isinstance(value, list) and any(has_message(item, message) for item in value)


class ErrorBodies:
    """Generates the bodies of one error schema.

    Args:
        schemas: The document's validators.
        schema: Error schema.
        seed: Seed of generated members, for which the problem has no value.
    """

    def __init__(self, schemas: Schemas, schema: Node, seed: int) -> None:
        self._schemas = schemas
        self._schema = schema
        self._sampler = Sampler(schemas, seed, efforts=BRIEF)

    def body(self, problem: Problem, status: int) -> Any:
        """Returns a body with the problem's message; it is invalid if the schema cannot have one."""
        facts = _Facts(problem.message, status, problem.code)
        violations = problem.violations or (Violation("", (), problem.message),)
        items = [_Facts(v.message, status, problem.code, v) for v in violations]
        if "array" in self._schemas.types(self._schema):
            lists = self._lists(self._schema, items)
            return next((body for body in lists if self._accepts(self._schema, body)), [])
        first = self._filled(self._schema, facts, items)
        if has_message(first, facts.message):
            return first
        bodies = (self._filled(schema, facts, items) for schema in self._alternatives())
        telling = (body for body in bodies if has_message(body, facts.message))
        return next((body for body in telling if self._accepts(self._schema, body)), first)

    def _alternatives(self) -> Iterator[Node]:
        """Yields the alternatives of the schema; the sampler takes the first, which may lack a message."""
        schema = self._schemas.follow(self._schema)
        for keyword in ("oneOf", "anyOf"):
            for _, alternative in (schema.child(keyword) or Node("", [])).children():
                yield alternative

    def _filled(
        self, schema: Node, facts: _Facts, items: Sequence[_Facts] = (), depth: int = 0
    ) -> Any:
        """Returns a value of a schema; an object gets the facts, and a list in it the items."""
        value = self._sampler.value(schema)
        if not isinstance(value, dict):
            return value
        members = self._schemas.members(schema, ALL)
        known = {name: members[name] for name in value if name in members}
        message_name, message = self._message_member(known, facts.message)
        for name, member in known.items():
            candidates = (message,) if name == message_name else facts.named(name)
            types = self._schemas.types(member)
            lists = self._lists(member, items) if items and "array" in types else ()
            for candidate in chain(candidates, lists):
                # other parts of an allOf may restrict the member further: validate the object, too
                if self._accepts(member, candidate) and self._stays_valid(
                    schema, value, name, candidate
                ):
                    value[name] = candidate
                    break
            if "object" in types and depth < _MAX_DEPTH:
                by_place = self._by_place(member, items)
                value[name] = by_place or self._filled(member, facts, items, depth + 1)
        return value

    def _stays_valid(
        self, schema: Node, value: Mapping[str, Any], name: str, candidate: Any
    ) -> bool:
        """Tells whether a new value of a member keeps a valid object valid."""
        is_valid = self._accepts(schema, {**value, name: candidate})
        return is_valid or not self._accepts(schema, value)

    def _message_member(self, members: Mapping[str, Node], message: str) -> tuple[str | None, str]:
        """Returns the name of the member for the message, and the message, truncated to fit."""
        by_letters = {letters_of(name): name for name in reversed(list(members))}
        named = [by_letters[name] for name in _MESSAGE_NAMES if name in by_letters]
        types = frozenset[str]().union(*map(self._schemas.types, members.values()))
        is_flat = types.isdisjoint({"object", "array"})
        others = [name for name in members if self._is_free(name, members[name])] if is_flat else []
        for name in (*named, *others):
            longest = self._schemas.follow(members[name]).value.get("maxLength")
            for text in (message, message[:longest]):
                if self._accepts(members[name], text):
                    return name, text
        return None, message

    def _is_free(self, name: str, member: Node) -> bool:
        """Tells whether a member with an unknown name is a free text."""
        taken = _CODE_NAMES | _STATUS_NAMES | _PLACE_NAMES | _LOCATION_NAMES
        is_text = self._schemas.types(member) == {"string"}
        is_identifier = letters_of(name).endswith(("id", "url", "uri", "type"))
        is_worded = bool(_WORDED & set(self._schemas.follow(member).value))
        return is_text and not is_worded and not is_identifier and letters_of(name) not in taken

    def _by_place(self, schema: Node, items: Sequence[_Facts]) -> dict[str, Any] | None:
        """Returns messages by the places of the violations, if the schema is such a map; else None."""
        declared = self._schemas.follow(schema)
        if not isinstance(declared.value, dict) or "properties" in declared.value:
            return None
        messages = {
            ".".join(map(str, facts.violation.path)) or facts.violation.location: facts.message
            for facts in items
            if facts.violation is not None
        }
        if "" in messages:
            return None  # a violation of the whole request has no place
        listed = {place: [message] for place, message in messages.items()}
        maps: tuple[dict[str, Any], ...] = (listed, messages)
        return next((body for body in maps if self._accepts(schema, body)), None)

    def _lists(self, schema: Node, items: Sequence[_Facts]) -> Iterator[list[Any]]:
        """Yields all items as a list of this schema, then only the first, in case of ``maxItems``."""
        item = self._schemas.items(schema)
        if item is None:
            yield [facts.message for facts in items]
            return
        is_text = "string" in self._schemas.types(item)
        listed = [facts.message if is_text else self._filled(item, facts) for facts in items]
        yield listed
        yield listed[:1]

    def _accepts(self, schema: Node, value: Any) -> bool:
        return self._schemas.validator(schema).is_valid(value)


REASON: Final = "x-mock-refusal"
"""Header with the error message, if the declared body has no place for it."""

_LONGEST_REASON = 500


NONE_USUAL: Final[Mapping[str, DeclaredResponse]] = MappingProxyType({})

_ANY_STATUS = "default"


def usual_errors(operations: Iterable[Operation]) -> Mapping[str, DeclaredResponse]:
    """Returns the error responses that most operations of a document share, by their status.

    An operation often declares only some of its errors; the others probably look like those of other
    operations. ``default`` is the error that is declared most often, at any status.
    """
    errors = [
        (status, response)
        for operation in operations
        for status, response in operation.responses.items()
        if not status.startswith(("1", "2", "3")) and _json_schema(response)[1] is not None
    ]
    counts = Counter(response.pointer for _, response in errors)
    # the most frequent last, so that it overwrites the others of its status in the dict
    errors.sort(key=lambda it: counts[it[1].pointer])
    usual = dict(errors)
    return {**usual, _ANY_STATUS: errors[-1][1]} if errors else NONE_USUAL


class DeclaredErrors:
    """Makes the error responses of one operation as the document declares them.

    Args:
        operation: Operation, as the document declares it.
        schemas: The document's validators.
        usual: Result of ``usual_errors`` for the document, for errors that the operation lacks.
    """

    def __init__(
        self,
        operation: Operation,
        schemas: Schemas,
        usual: Mapping[str, DeclaredResponse] = NONE_USUAL,
    ) -> None:
        self._usual = usual
        self._operation = operation
        self._schemas = schemas

    def response(self, response: HandlerResponse, problem: Problem, seed: int) -> HandlerResponse:
        """Returns an error response as the document declares it.

        Args:
            response: Response in the API's default shape; kept if the document allows it.
            problem: Problem to report.
            seed: Seed of generated members.
        """
        response = response._replace(status=self._status(response.status))
        return self._shaped(response, self._operation.response(response.status), problem, seed)

    def usual_response(
        self, response: HandlerResponse, problem: Problem, seed: int
    ) -> HandlerResponse:
        """Returns an error response as most operations of the document declare it.

        For requests that match no operation; the arguments are those of ``response``.
        """
        return self._shaped(response, None, problem, seed)

    def _shaped(
        self,
        response: HandlerResponse,
        declared: DeclaredResponse | None,
        problem: Problem,
        seed: int,
    ) -> HandlerResponse:
        status = response.status
        usual = self._usual.get(str(status)) or self._usual.get(_ANY_STATUS)
        is_borrowed = declared is None or not declared.content
        media_type, schema = _json_schema(usual if is_borrowed else declared)
        if schema is None or self._is_own_shape(schema, response.body):
            return response
        try:
            body = ErrorBodies(self._schemas, schema, seed).body(problem, status)
        except LimitExceeded:  # the message matters more than the document's shape
            return response
        if not self._schemas.validator(schema).is_valid(body):
            return response
        headers = response.headers
        if not has_message(body, problem.message):
            if is_borrowed:
                return response  # the shape of another error, with no place for the message
            headers = (*headers, (REASON, problem.message[:_LONGEST_REASON]))
        return response._replace(body=body, media_type=media_type, headers=headers)

    def _status(self, status: int) -> int:
        """Returns the declared status that replaces an undeclared one for an invalid request.

        That is 422 for an undeclared 400, and 400 or 422 for an undeclared 415.
        """
        declared = self._operation.responses
        if status == HTTPStatus.BAD_REQUEST and "400" not in declared and "422" in declared:
            return HTTPStatus.UNPROCESSABLE_ENTITY
        if status == HTTPStatus.UNSUPPORTED_MEDIA_TYPE and self._operation.response(status) is None:
            return next((int(other) for other in ("400", "422") if other in declared), status)
        return status

    def _is_own_shape(self, schema: Node, body: Any) -> bool:
        """Tells whether a schema describes the API's default error shape, member by member."""
        if not self._schemas.validator(schema).is_valid(body):
            return False
        names = self._schemas.members(schema, ALL).keys()
        return not names or not isinstance(body, dict) or body.keys() <= names


def _json_schema(declared: DeclaredResponse | None) -> tuple[str, Node | None]:
    """Returns the JSON media type of a response, perhaps by a range such as ``*/*``, and its schema."""
    content = declared.content if declared else {}
    for media_type in sorted(content, key=lambda it: it.count("*")):
        if is_json(concrete(media_type)):
            return concrete(media_type), content[media_type].schema
    return "", None


_SHORTEST_ENDING: Final = 8
"""Letters of a header's name that are enough to recognise it after another prefix."""

_MEANINGFUL_BY_PRESENCE: Final = frozenset(
    (
        "allow content-disposition content-range deprecation link location retry-after set-cookie"
        " sunset warning www-authenticate"
    ).split()
)
"""Optional headers whose presence has a meaning, so that none is generated."""


def header_letters(name: str) -> str:
    """Returns a header's name without dashes and ``X-``, as two spellings share it."""
    return letters_of(name).removeprefix("x")


class _Sent(NamedTuple):
    """The declared name and values of a header of the mock.

    Attributes:
        name: Name to send, in lower case.
        letters: Letters of the declared name.
        values: Letters of each listed value to the value, as ``not_found`` may be ``not-found`` in the
            document; empty: any value is sent unchanged.
    """

    name: str
    letters: str
    values: Mapping[str, str]


class _OfStatus(NamedTuple):
    """The declared headers of the responses with one status.

    Attributes:
        declared: Letters of each declared name to the header.
        filled: Letters of the headers that are generated where the mock has none.
        samples: Letters of each declared name to the name and a generated value.
        sent: Cache: name of a header of the mock to its declared form.
    """

    declared: Mapping[str, Parameter]
    filled: frozenset[str]
    samples: Mapping[str, tuple[str, str]]
    sent: dict[str, _Sent]


class DeclaredHeaders:
    """Renames and completes the headers of one operation's responses as the document declares them.

    Args:
        operation: Operation, as the document declares it.
        schemas: The document's validators.
        other_names: Name of a header to another one, in lower case, for undeclared headers.
        fills: Whether optional headers that the mock lacks are generated, too.

    Attributes:
        is_silent: Whether the document declares no header, so that the mock's are sent unchanged.
    """

    def __init__(
        self,
        operation: Operation,
        schemas: Schemas,
        other_names: Mapping[str, str],
        *,
        fills: bool = False,
    ) -> None:
        self._operation = operation
        self._schemas = schemas
        self._other_names = other_names
        self._fills = fills
        self.is_silent = not other_names and not any(
            response.headers for response in operation.responses.values()
        )
        self._statuses: dict[int, _OfStatus] = {}

    def sent(self, status: int, headers: Headers, others: Callable[[], Headers]) -> Headers:
        """Returns the headers of a response as the document declares them.

        Args:
            status: Status of the response.
            headers: Headers of the mock.
            others: Returns further headers of the mock, for declared names that are still missing.
        """
        known = self._statuses.get(status)
        if known is None:
            known = self._statuses[status] = self._of(status)
        renamed = []
        missing = known.filled
        for name, value in headers:
            sent = known.sent.get(name)
            if sent is None:  # cached, since the names recur in every response
                sent = known.sent[name] = self._as_sent(known, name)
            values = sent.values
            renamed.append((sent.name, values.get(letters_of(value), value) if values else value))
            if sent.letters in missing:
                missing = missing - {sent.letters}
        if missing:
            renamed += self._made_up(known, missing, others())
        return tuple(renamed)

    def unknown(self, endings: Iterable[str]) -> list[str]:
        """Returns the declared headers of successes that are neither common nor end in one of these."""
        known = tuple(map(header_letters, endings))
        declared = (
            header.name
            for status, response in self._operation.responses.items()
            for header in response.headers
            if status.startswith("2")
        )
        usual = _MADE_BY_SERVER | _USUAL.keys()
        return [
            name
            for name in dict.fromkeys(declared)
            if name.lower() not in usual and not header_letters(name).endswith(known)
        ]

    def _of(self, status: int) -> _OfStatus:
        response = self._operation.response(status)
        if response is None:
            return _OfStatus({}, frozenset(), {}, {})
        made_up = sample_headers(response, self._schemas, seed=0)
        samples = {header_letters(name): (name, value) for name, value in made_up}
        declared = {header_letters(it.name): it for it in response.headers}
        filled = {
            letters
            for letters in samples
            if declared[letters].required
            or (self._fills and samples[letters][0] not in _MEANINGFUL_BY_PRESENCE)
        }
        return _OfStatus(declared, frozenset(filled), samples, {})

    def _as_sent(self, known: _OfStatus, name: str) -> _Sent:
        letters = header_letters(name)
        header = known.declared.get(letters)
        if header is None and len(letters) >= _SHORTEST_ENDING:
            similar = [declared for declared in known.declared if declared.endswith(letters)]
            header = known.declared[similar[0]] if len(similar) == 1 else None
        if header is None:
            return _Sent(self._other_names.get(name, name), letters, {})
        return _Sent(header.name.lower(), header_letters(header.name), self._listed(header))

    def _listed(self, header: Parameter) -> Mapping[str, str]:
        """Returns the values of the header's ``enum`` by their letters."""
        schema = None if header.schema is None else self._schemas.follow(header.schema).value
        listed = schema.get("enum", ()) if isinstance(schema, dict) else ()
        return {letters_of(it): it for it in listed if isinstance(it, str)}

    @staticmethod
    def _made_up(known: _OfStatus, missing: frozenset[str], others: Headers) -> Headers:
        values = {header_letters(name): value for name, value in others}
        made_up = []
        for letters in sorted(missing):
            name, sample = known.samples[letters]
            own = (value for ending, value in values.items() if letters.endswith(ending))
            made_up.append((name, next(own, sample)))
        return tuple(made_up)


# Generates the headers that a document declares for a response. A header with a common name gets a
# sensible value, if its schema accepts that; every other gets a sample of its schema, in the style of
# headers (OpenAPI 3.0.3, 4.7.21).

LOCATION = "location"

_MADE_BY_SERVER: Final = frozenset(
    (
        "connection content-encoding content-length content-type date keep-alive trailer"
        " transfer-encoding upgrade"
    ).split()
)
"""Headers that frame or describe the actual message, so that a sample would be wrong."""

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
"""Keywords of a schema that give a better value than the header's name does."""


def sample_headers(response: DeclaredResponse, schemas: Schemas, seed: int) -> Headers:
    """Returns the declared headers of a response, each with a value that its schema accepts."""
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
    """Returns a value as the text of a header field, in its style."""
    text = json_bytes(value).decode() if header.is_json else text_of(header, value, str)
    return field_value(text).decode("latin-1")


def field_value(text: str) -> bytes:
    """Returns a text as the value of a header, with ``?`` for characters that it may not contain.

    A control character would make the server drop the connection (RFC 9110, 5.5).
    """
    return "".join(c if c.isprintable() else "?" for c in text).encode("latin-1", "replace")

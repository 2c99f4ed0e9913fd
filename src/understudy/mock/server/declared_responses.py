"""Sends errors and headers as the document in force declares them.

An API has one error shape of its own; a document that declares another status or another schema for
an operation's errors is followed, so that a generated client can read them. Error schemas differ in
the names of their members and agree on what they say: a message, a status, and a list of violations
with a place and a message each. A body is made from the schema, and each member of a usual name says
what it is for, if its schema accepts that.

Headers are sent under the declared names, in the declared values, all of them. Documents differ in
dashes, in ``X-`` and in what a name begins with: ``RateLimit-Limit`` is ``X-Rate-Limit-Limit``, and
``X-Profile-Status`` is ``X-Gallery-Profile-Status``.
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
from understudy.openapi.sampler import BRIEF, Sampler
from understudy.openapi.schemas import ALL, Schemas

_NOT_LETTERS: Final = re.compile("[^a-z]")


_MESSAGE_NAMES: Final = (
    *("error", "message", "detail", "errordescription", "errormessage", "msg", "description"),
    *("title", "problem", "reason", "issue", "errormsg", "usermessage", "faultstring", "details"),
    *("developermessage", "messagetext", "explanation", "summary", "text"),
)
"""Names of the member that says what is wrong, in lower-case letters, the most usual first."""

_PLACE_NAMES: Final = frozenset(
    (
        *("field", "loc", "path", "pointer", "parameter", "param", "name", "property", "key"),
        *("attribute", "fieldname", "parametername", "propertypath", "propertyname"),
    )
)
_CODE_NAMES: Final = frozenset(("code", "type", "errorcode"))
_STATUS_NAMES: Final = frozenset(("status", "statuscode", "httpstatus", "httpstatuscode"))
_LOCATION_NAMES: Final = frozenset(("in", "location"))

_WORDED: Final = frozenset(("enum", "const", "format", "pattern"))
"""Keywords of texts that cannot say what is wrong."""

_MAX_DEPTH = 3
"""Levels of objects within one another that are filled."""


class _Facts(NamedTuple):
    """The facts that an object of an error body may contain."""

    message: str
    status: int
    code: str | None
    violation: Violation | None = None

    def named(self, name: str) -> tuple[Any, ...]:
        """Returns what a member of this name may say, the likeliest first."""
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
            text = (
                "".join(f"/{it}" for it in path) if name == "pointer" else ".".join(map(str, path))
            )
            return text, [location, *path], [location, *map(str, path)], list(path)
        return ()


def _words(status: int) -> str:
    """Returns a code for a status that has none of its own, such as ``not_found``."""
    return _NOT_LETTERS.sub("_", _phrase(status).lower())


def _phrase(status: int) -> str:
    """Returns the reason phrase of a status, such as ``Not Found``."""
    phrases = {it.value: it.phrase for it in HTTPStatus}
    return phrases.get(status, "Error")


def has_message(value: Any, message: str) -> bool:
    """Tells whether any text in a body has a message, or as much of it as fits."""
    if isinstance(value, str):
        return bool(value) and (message in value or message.startswith(value))
    if isinstance(value, dict):
        return any(has_message(it, message) for it in value.values())
    return isinstance(value, list) and any(has_message(it, message) for it in value)


class ErrorBodies:
    """Makes the bodies of one error schema.

    Args:
        schemas: The document's validators.
        schema: The error schema.
        seed: Seed of members that nothing is known of.
    """

    def __init__(self, schemas: Schemas, schema: Node, seed: int) -> None:
        self._schemas = schemas
        self._schema = schema
        self._sampler = Sampler(schemas, seed, efforts=BRIEF)

    def body(self, problem: Problem, status: int) -> Any:
        """Returns a body that says what was wrong; not valid where the schema allows none."""
        facts = _Facts(problem.message, status, problem.code)
        violations = problem.violations or (Violation("", (), problem.message),)
        items = [_Facts(it.message, status, problem.code, it) for it in violations]
        if "array" in self._schemas.types(self._schema):
            lists = self._lists(self._schema, items)
            return next((it for it in lists if self._accepts(self._schema, it)), [])
        body = self._filled(self._schema, facts, items)
        if has_message(body, facts.message):
            return body
        others = (self._filled(it, facts, items) for it in self._alternatives())
        fitting = (it for it in others if has_message(it, facts.message))
        return next((it for it in fitting if self._accepts(self._schema, it)), body)

    def _alternatives(self) -> Iterator[Node]:
        """Yields the alternatives of the schema, of which the first need not have a message."""
        schema = self._schemas.follow(self._schema)
        for keyword in ("oneOf", "anyOf"):
            for _, alternative in (schema.child(keyword) or Node("", [])).children():
                yield alternative

    def _filled(
        self, schema: Node, facts: _Facts, items: Sequence[_Facts] = (), depth: int = 0
    ) -> Any:
        """Returns a value of a schema; an object says the facts, and the items where it has a list."""
        value = self._sampler.value(schema)
        if not isinstance(value, dict):
            return value
        members = self._schemas.members(schema, ALL)
        known = {name: members[name] for name in value if name in members}
        bearer, text = self._bearer(known, facts.message)
        for name, member in known.items():
            candidates = (text,) if name == bearer else facts.named(name)
            types = self._schemas.types(member)
            lists = self._lists(member, items) if items and "array" in types else ()
            for candidate in chain(candidates, lists):
                # a schema may say more of a member than the part of it that names the member
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
        """Tells whether an object that is valid is so with another value of a member."""
        is_valid = self._accepts(schema, {**value, name: candidate})
        return is_valid or not self._accepts(schema, value)

    def _bearer(self, members: Mapping[str, Node], message: str) -> tuple[str | None, str]:
        """Returns the member that says what is wrong, and the message as far as it takes it."""
        by_letters = {letters_of(name): name for name in reversed(list(members))}
        named = [by_letters[name] for name in _MESSAGE_NAMES if name in by_letters]
        is_flat = not any(self._schemas.types(it) & {"object", "array"} for it in members.values())
        others = [name for name in members if self._is_free(name, members[name])] if is_flat else []
        for name in (*named, *others):
            longest = self._schemas.follow(members[name]).value.get("maxLength")
            for text in (message, message[:longest]):
                if self._accepts(members[name], text):
                    return name, text
        return None, message

    def _is_free(self, name: str, member: Node) -> bool:
        """Tells whether a member of an unusual name is a text that may say anything."""
        taken = _CODE_NAMES | _STATUS_NAMES | _PLACE_NAMES | _LOCATION_NAMES
        is_text = self._schemas.types(member) == {"string"}
        is_identifier = letters_of(name).endswith(("id", "url", "uri", "type"))
        is_worded = bool(_WORDED & set(self._schemas.follow(member).value))
        return is_text and not is_worded and not is_identifier and letters_of(name) not in taken

    def _by_place(self, schema: Node, items: Sequence[_Facts]) -> dict[str, Any] | None:
        """Returns messages by the place that they are about, for a schema of such a map; else None."""
        declared = self._schemas.follow(schema)
        if not isinstance(declared.value, dict) or "properties" in declared.value:
            return None
        placed = {
            ".".join(map(str, it.violation.path)) or it.violation.location: it.message
            for it in items
            if it.violation is not None
        }
        maps: tuple[dict[str, Any], ...] = ({name: [it] for name, it in placed.items()}, placed)
        fitting = (it for it in maps if "" not in it and self._accepts(schema, it))
        return next(fitting, None)

    def _lists(self, schema: Node, items: Sequence[_Facts]) -> Iterator[list[Any]]:
        """Yields all items as a list of this schema, and the first alone, in case it has a bound."""
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
"""Header with what is wrong, where the body that the document declares cannot say it."""

_LONGEST_REASON = 500
_BAD_REQUEST = 400
_UNSUPPORTED_MEDIA_TYPE = 415
_UNPROCESSABLE = 422


NONE_USUAL: Final[Mapping[str, DeclaredResponse]] = MappingProxyType({})

_ANY_STATUS = "default"


def usual_errors(operations: Iterable[Operation]) -> Mapping[str, DeclaredResponse]:
    """Returns the errors that most operations of a document share, by their status.

    An operation often declares only some of the errors that it has; the others look like those of its
    neighbours. ``default`` is the error that is declared most often, whatever its status.
    """
    errors = [
        (status, response)
        for operation in operations
        for status, response in operation.responses.items()
        if not status.startswith(("1", "2", "3")) and _json_schema(response)[1] is not None
    ]
    counts = Counter(response.pointer for _, response in errors)
    # the most frequent one last, as the last one of a status counts
    errors.sort(key=lambda it: counts[it[1].pointer])
    usual = dict(errors)
    return {**usual, _ANY_STATUS: errors[-1][1]} if errors else NONE_USUAL


class DeclaredErrors:
    """The errors that the document declares for one operation.

    Args:
        operation: What the document says of it.
        schemas: The document's validators.
        usual: What ``usual_errors`` returns for the document, for errors that are not declared here.
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
            response: In the API's own shape; kept where the document has nothing against it.
            problem: What was wrong.
            seed: Of what is generated to fill the document's shape.
        """
        response = response._replace(status=self._status(response.status))
        return self._shaped(response, self._operation.response(response.status), problem, seed)

    def usual_response(
        self, response: HandlerResponse, problem: Problem, seed: int
    ) -> HandlerResponse:
        """Returns an error response as the operations of the document usually declare it.

        For requests that lead to none of them; the arguments are those of ``response``.
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
        except LimitExceeded:  # what is wrong is worth more than the document's shape
            return response
        if not self._schemas.validator(schema).is_valid(body):
            return response
        headers = response.headers
        if not has_message(body, problem.message):
            if is_borrowed:
                return response  # a shape that was meant for something else
            headers = (*headers, (REASON, problem.message[:_LONGEST_REASON]))
        return response._replace(body=body, media_type=media_type, headers=headers)

    def _status(self, status: int) -> int:
        """Returns the status by which the document declares that a request is invalid.

        That is 422 for a 400 that is not declared, and 400 or 422 for a 415 that is not.
        """
        declared = self._operation.responses
        if status == _BAD_REQUEST and "400" not in declared and str(_UNPROCESSABLE) in declared:
            return _UNPROCESSABLE
        if status == _UNSUPPORTED_MEDIA_TYPE and self._operation.response(status) is None:
            others = (_BAD_REQUEST, _UNPROCESSABLE)
            return next((other for other in others if str(other) in declared), status)
        return status

    def _is_own_shape(self, schema: Node, body: Any) -> bool:
        """Tells whether a schema describes the API's own error shape, member by member."""
        if not self._schemas.validator(schema).is_valid(body):
            return False
        names = self._schemas.members(schema, ALL).keys()
        return not names or not isinstance(body, dict) or body.keys() <= names


def _json_schema(declared: DeclaredResponse | None) -> tuple[str, Node | None]:
    """Returns the JSON media type of a declared response, or of a range such as ``*/*``, and its schema."""
    content = declared.content if declared else {}
    for media_type in sorted(content, key=lambda it: it.count("*")):
        if is_json(concrete(media_type)):
            return concrete(media_type), content[media_type].schema
    return "", None


_SHORTEST_ENDING: Final = 8
"""Letters of a name that are enough to recognise it behind another beginning."""

_MEANINGFUL_BY_PRESENCE: Final = frozenset(
    {
        *("allow", "content-disposition", "content-range", "deprecation", "link", "location"),
        *("retry-after", "set-cookie", "sunset", "warning", "www-authenticate"),
    }
)
"""Optional headers that say something by being there, so that none is made up."""


def header_letters(name: str) -> str:
    """Returns what two spellings of a header's name have in common."""
    return letters_of(name).removeprefix("x")


class _Sent(NamedTuple):
    """A header of the mock as it is sent.

    Attributes:
        name: The name, in lower case.
        letters: The letters of the declared name.
        values: The letters of each value that the document lists to the value, as ``not_found`` may be
            ``not-found`` there; empty: any value is sent as it is.
    """

    name: str
    letters: str
    values: Mapping[str, str]


class _OfStatus(NamedTuple):
    """The headers of the responses of one status.

    Attributes:
        declared: The letters of each declared name, to the header.
        filled: The letters of those that are made up where the mock has none.
        samples: The letters of each to its name and a made-up value.
        sent: The name of a header of the mock, to how it is sent.
    """

    declared: Mapping[str, Parameter]
    filled: frozenset[str]
    samples: Mapping[str, tuple[str, str]]
    sent: dict[str, _Sent]


class DeclaredHeaders:
    """The headers that a document declares for the responses of one operation.

    Args:
        operation: What the document says of it.
        schemas: The document's validators.
        other_names: Names of headers, in lower case, where the document declares none.
        fills: Whether optional headers that the mock does not have are made up too.
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
        self._is_silent = not other_names and not any(
            response.headers for response in operation.responses.values()
        )
        self._statuses: dict[int, _OfStatus] = {}

    def sent(self, status: int, headers: Headers, others: Callable[[], Headers]) -> Headers:
        """Returns the headers of a response as the document declares them.

        Args:
            status: The status of the response.
            headers: Those of the mock.
            others: Returns further ones of the mock, sent where they are declared and none else.
        """
        if self._is_silent:
            return headers
        known = self._statuses.get(status)
        if known is None:
            known = self._statuses[status] = self._of(status)
        renamed = []
        missing = known.filled
        for name, value in headers:
            sent = known.sent.get(name)
            if sent is None:  # a few names, over and over
                sent = known.sent[name] = self._as_sent(known, name)
            values = sent.values
            renamed.append((sent.name, values.get(letters_of(value), value) if values else value))
            if sent.letters in missing:
                missing = missing - {sent.letters}
        if missing:
            renamed += self._made_up(known, missing, others())
        return tuple(renamed)

    def unknown(self, endings: Iterable[str]) -> list[str]:
        """Returns the declared headers of successes that are of no usual name, and have none of these ends."""
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
            alike = [it for it in known.declared if it.endswith(letters)]
            header = known.declared[alike[0]] if len(alike) == 1 else None
        if header is None:
            return _Sent(self._other_names.get(name, name), letters, {})
        return _Sent(header.name.lower(), header_letters(header.name), self._listed(header))

    def _listed(self, header: Parameter) -> Mapping[str, str]:
        """Returns the letters of each value that the document lists, to the value."""
        schema = None if header.schema is None else self._schemas.follow(header.schema).value
        listed = schema.get("enum", ()) if isinstance(schema, dict) else ()
        return {letters_of(it): it for it in listed if isinstance(it, str)}

    @staticmethod
    def _made_up(known: _OfStatus, missing: frozenset[str], others: Headers) -> Headers:
        ours = {header_letters(name): value for name, value in others}
        made_up = []
        for letters in sorted(missing):
            name, value = known.samples[letters]
            own = (value for ending, value in ours.items() if letters.endswith(ending))
            made_up.append((name, next(own, value)))
        return tuple(made_up)


# Makes the headers that a document declares for a response. A header of a usual name has a value
# that fits its purpose, if its schema accepts that; every other one has a sample of its schema,
# in the style that headers have (OpenAPI 3.0.3, 4.7.21).

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
    """Returns a value as the text of a header field, in its style."""
    text = json_bytes(value).decode() if header.is_json else text_of(header, value, str)
    return field_value(text).decode("latin-1")


def field_value(text: str) -> bytes:
    """Returns a text as the value of a header: without what a field value may not hold.

    A control character would make the server drop the connection (RFC 9110, 5.5).
    """
    return "".join(c if c.isprintable() else "?" for c in text).encode("latin-1", "replace")

"""Generated cases: Schemathesis makes requests, the gateway sends them, the evaluator judges them.

Schemathesis gets a WSGI application instead of a network, so that its start-up probes and its
authentication checks go through the gateway too; it cannot reach the deployment by itself. Its
engine is not public: only this module knows it, and pyproject pins the minor version.
"""

import copy
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial
from http import HTTPStatus
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

import schemathesis
from hypothesis import strategies as st
from schemathesis import Response, checks
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.engine import events, from_schema
from schemathesis.engine.core import EventStream
from schemathesis.engine.recorder import ScenarioRecorder

from understudy.exchange.messages import UNCHECKED_CREDENTIAL, Exchange, Request, headers_of
from understudy.verify.gateway import Gateway
from understudy.verify.history import made_up_hash
from understudy.verify.permits import BudgetSpent, NotPermitted, OutOfTime, Unreachable
from understudy.verify.pictures import picture
from understudy.verify.run import Phase, Run

IDENTIFIERS: Final = frozenset({"profileIdentifier", "sha256_hash"})
EMAIL_HASHES: Final = frozenset({"selected_email_hash", "email_hash"})

TEXTS: Final = IDENTIFIERS | EMAIL_HASHES | {"imageHash", "imageId"}
"""Names of the parameters that identifiers are added to."""


def with_known_people(raw: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Returns the document with identifiers of known people added to its parameters."""
    target = run.deployment.target
    known = target.known
    people = [*filter(None, (known.slug, known.other_slug)), *known.people, *known.own_hashes]
    values = dict.fromkeys(IDENTIFIERS, people)
    hashes = [*known.own_hashes, made_up_hash(7)]
    values |= dict.fromkeys(EMAIL_HASHES, hashes)
    values |= dict.fromkeys(("imageHash", "imageId"), sorted(run.gateway.made)[:5])
    document = copy.deepcopy(dict(raw))
    document["servers"] = [{"url": target.base_url}]
    for item in filter(lambda each: isinstance(each, dict), document.get("paths", {}).values()):
        for holder in [item, *(part for part in item.values() if isinstance(part, dict))]:
            for parameter in holder.get("parameters", []):
                _add_values(parameter, values)
    for parameter in document.get("components", {}).get("parameters", {}).values():
        _add_values(parameter, values)
    return document


def _add_values(parameter: dict[str, Any], values: Mapping[str, list[str]]) -> None:
    known = values.get(parameter.get("name", ""))
    if known and "schema" in parameter:
        parameter["schema"] = {"anyOf": [{"type": "string", "enum": known}, parameter["schema"]]}


Start = Callable[..., Any]


_POLL: Final = 0.1
"""Seconds between two checks whether the run is over, while Schemathesis sends no event."""

SENT: Final = "x-understudy-exchange"
"""Response header with the exchange's number, which Schemathesis's events hand on."""

AS_OWNER: Final = "generated as owner"
AS_ANONYMOUS: Final = "generated as anonymous"
"""The senders, for reports."""

OF_ONE_EXCHANGE: Final = (
    "negative_data_rejection",
    "positive_data_acceptance",
    "ignored_auth",
    "unsupported_method",
)
"""Schemathesis's checks that compare a response with how its request was made."""

TRUSTED: Final = (*OF_ONE_EXCHANGE, "use_after_free", "ensure_resource_availability")
"""Schemathesis's checks whose results are recorded; the evaluator itself judges single responses.

For another service only those of one exchange are: the rules of collections judge its items, and do
not mistake a list below a deleted item for the item.
"""

_BREACH: Final = re.compile(r"parameter `(\w+)`|- \w+: violates `\w+`(?: at /properties/(\w+))?")
"""Finds the invalid parameters in a message of Schemathesis; the second form lists several."""

_MORE_PARAMETERS: Final = re.compile(r"- (?:query|header|cookie): violates `additionalProperties`")
"""Finds undeclared parameters in such a message; by themselves they are no reason for a refusal."""

_MORE_MEMBERS: Final = "in body - object with unexpected properties"
"""The end of such a message about a body whose members are valid but for undeclared ones."""

for _form, _type in (("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif")):
    # without a generator of pictures, uploads would be arbitrary bytes, which a service refuses
    schemathesis.openapi.media_type(_type, st.just(picture(_form)))


def generated(cases: int) -> Phase:
    """Returns the phase that sends this many generated cases for each operation.

    They are sent as the owner and then without credentials; without a token, only the latter.
    """

    def phase(run: Run) -> None:
        owner = run.deployment.target.identities().get("owner")
        _Generation(run, None if owner is None else owner[1], cases).carry_out()

    return phase


class _OwnersCase(NamedTuple):
    """A case that was sent as the owner."""

    exchange: Exchange
    case: schemathesis.Case[Any]
    response: Response


class _Generation:
    """One pass of Schemathesis with the owner's credential, if the target gives it.

    Args:
        run: The run.
        token: The owner's token; None for anonymous requests only.
        cases: Cases of each operation.
    """

    def __init__(self, run: Run, token: str | None, cases: int) -> None:
        self._run = run
        self._gateway: Gateway = run.gateway
        self._token = token
        self._source = AS_ANONYMOUS if token is None else AS_OWNER
        self._cases = cases
        self._stopped: Exception | None = None
        self._owners: list[_OwnersCase] = []

    def carry_out(self) -> None:
        """Sends all cases, as far as the budget allows.

        Raises:
            BudgetSpent: The requests are used up.
            OutOfTime: The time is used up.
            Unreachable: The deployment did not respond, too often in a row.
        """
        self._generate()
        self._source = AS_ANONYMOUS
        for case in self._owners:
            self._repeat(case)
            self._raise_if_stopped()

    def _generate(self) -> None:
        target = self._run.deployment.target
        document = with_known_people(self._run.document.raw, self._run)
        loaded = schemathesis.openapi.from_dict(document, config=self._configuration())
        sendable = loaded.exclude(path_regex="//")  # its client would send `//` as `/`
        schema = sendable.include(method="GET") if target.writes == "observe" else sendable
        schema.app = self._application
        schema.hook(filter_query)
        stream = from_schema(schema).execute()
        for event in _read_ahead(stream, partial(self._gateway.budget.expect_left, 0)):
            if self._stopped is not None:
                stream.stop()
            elif isinstance(event, events.ScenarioFinished):
                self._take(event.recorder)
        self._raise_if_stopped()

    def _raise_if_stopped(self) -> None:
        if self._stopped is not None:
            raise self._stopped

    def _configuration(self) -> SchemathesisConfig:
        options = self._run.options
        headers = self._gateway.places.headers(self._token) if self._token else {}
        is_reading = self._run.deployment.target.writes == "observe"
        accepted = ["2xx", "3xx", "400", "401", "403", "404", "429"]
        if not self._run.has_interface:  # the state of a resource may forbid a valid request
            accepted += ["409", "410", "412", "422"]
        return SchemathesisConfig.from_dict(
            {
                "seed": options.seed,
                "headers": {"User-Agent": "understudy-verify", **headers},
                "workers": options.workers,
                "cache": {"enabled": False},
                "suppress-health-check": ["too_slow"],  # a slow machine breaks no rule
                "generation": {
                    "database": "none",
                    "max-examples": self._cases,
                    # a finding shows the first request: shrinking would send hundreds for none
                    "no-shrink": True,
                },
                "phases": {
                    "coverage": {"unexpected-methods": []} if is_reading else {},
                    # URLs in responses are not followed: one like http://[ ends the whole phase.
                    "stateful": {"inference": {"algorithms": ["dependency-analysis"]}},
                },
                "checks": {
                    # an unknown identifier is refused although it fits the schema
                    "positive_data_acceptance": {"expected-statuses": accepted}
                },
            }
        )

    def _application(self, environ: Mapping[str, Any], start: Start) -> Iterable[bytes]:
        """Sends a request by the gateway, the only network that Schemathesis has."""
        request = _request_of(environ, self._run.deployment.target.base_url)
        if self._token is not None and self._gateway.is_outside_headers(request):
            request = self._gateway.with_token(request, self._token)
        exchange = self._sent(request)
        if exchange is None:
            return _unsent(start)
        headers = [(n, t) for n, t in exchange.response.headers if n not in {"content-encoding"}]
        start(f"{exchange.status} -", [*headers, (SENT, str(exchange.number))])
        return [exchange.response.body]

    def _sent(self, request: Request) -> Exchange | None:
        """Sends a request, and returns the exchange; None if it was not sent or not answered."""
        try:
            exchange = self._gateway.send(request, self._source)
        except (BudgetSpent, OutOfTime) as refusal:
            self._stopped = refusal
            return None
        except NotPermitted:
            return None
        except Unreachable as refusal:
            try:
                self._run.lose(refusal)
            except Unreachable as last:
                self._stopped = last
            return None
        self._run.lost = 0
        return exchange

    def _take(self, recorder: ScenarioRecorder) -> None:
        """Records the results of Schemathesis's checks, where the request was really sent."""
        for case_id, interaction in recorder.interactions.items():
            response = interaction.response
            number = response.headers.get(SENT) if response else None
            if response is None or not number:
                continue
            exchange = self._run.exchanges[_index(self._run, int(number[0]))]
            for node in recorder.checks.get(case_id, ()):
                failure = node.failure_info.failure if node.failure_info else None
                self._note(exchange, node.name, failure)
            if self._token is not None and exchange.identity.name == "owner":
                case = recorder.cases[case_id].value
                self._owners.append(_OwnersCase(exchange, case, response))

    def _repeat(self, owners: _OwnersCase) -> None:
        """Repeats a case of the owner without credentials, since generating another costs more.

        Schemathesis's checks of one exchange judge the response.
        """
        request = self._gateway.without_token(owners.exchange.request)
        exchange = self._sent(request)
        if exchange is None:
            return
        prepared = owners.response.request.copy()
        for name in dict(owners.exchange.request.headers).keys() - dict(request.headers).keys():
            prepared.headers.pop(name, None)
        response = Response(
            exchange.status,
            {name: [text] for name, text in exchange.response.headers},
            exchange.response.body,
            prepared,
            exchange.elapsed_ms / 1000,
            verify=True,
        )
        # One call for all first: each call reads the configuration, and most responses pass.
        has_failure = bool(_failures(owners.case, response, OF_ONE_EXCHANGE))
        for name in OF_ONE_EXCHANGE:
            failures = _failures(owners.case, response, (name,)) if has_failure else ()
            for failure in failures or (None,):
                self._note(exchange, name, failure)

    def _note(self, exchange: Exchange, name: str, failure: Failure | None) -> None:
        """Records the failure that a check of Schemathesis found, or None if it passed."""
        actual = f"{name}: {failure.title}: {failure.message}" if failure else None
        is_newer = self._run.evaluator.departures is not None
        is_about_tokens = name == "ignored_auth" and (is_newer or not self._run.has_interface)
        if is_about_tokens and (
            exchange.response.header(UNCHECKED_CREDENTIAL)
            or exchange.identity.kind in {"oauth", "api_key"}  # beside the one that is not valid
            or self._gateway.is_outside_headers(exchange.request)
        ):
            return
        if not self._run.has_interface and exchange.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return  # a server error is a finding by itself
        if actual is not None and not self._run.has_interface and self._is_doubtful(exchange, name):
            return
        trusted = TRUSTED if self._run.has_interface else OF_ONE_EXCHANGE
        if name not in trusted or (actual is not None and is_false_alarm(actual)):
            return
        is_open = self._run.has_interface and is_undecided(actual or "", exchange.request)
        self._run.report(self._run.evaluator.generated(exchange, actual, is_undecided=is_open))

    def _is_doubtful(self, exchange: Exchange, name: str) -> bool:
        """Tells whether a check of Schemathesis may have failed though the document allows it.

        Its invalid values may be valid once they are written into a form or a URL, by another
        alternative of their schema, or for a service with longer integers. A path for an undeclared
        method may match the template of another path, which declares the method.
        """
        allows = self._run.evaluator.history.allows
        if name == "negative_data_rejection":
            return allows is not None and allows(exchange)
        return name == "unsupported_method" and bool(exchange.operation)


def _read_ahead(
    stream: EventStream, expect_time: Callable[[], None]
) -> Iterator[events.EngineEvent]:
    """Yields the events of a stream, which a separate thread reads.

    Schemathesis can take minutes to make one case of a large schema, without an event. Once the run
    is over or interrupted, the thread is abandoned: the gateway sends nothing for it.

    Args:
        stream: The stream.
        expect_time: Raises an error once the run is over.
    """
    read: SimpleQueue[events.EngineEvent | BaseException | None] = SimpleQueue()

    def read_all() -> None:
        try:
            for event in stream:
                read.put(event)
            read.put(None)
        except BaseException as error:  # raised again where the events are awaited
            read.put(error)

    threading.Thread(target=read_all, name="generated cases", daemon=True).start()
    try:
        while True:
            try:
                event = read.get(timeout=_POLL)
            except Empty:
                expect_time()
                continue
            if event is None:
                return
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        stream.stop()


def _failures(
    case: schemathesis.Case[Any], response: Response, names: Iterable[str]
) -> tuple[Failure, ...]:
    """Returns the failures that these checks of Schemathesis find in a response."""
    try:
        case.validate_response(response, checks=[getattr(checks, name) for name in names])
    except FailureGroup as group:
        return tuple(group.exceptions)
    return ()


def is_false_alarm(actual: str) -> bool:
    """Returns True if a failure only says that a string was accepted as a string.

    With known identifiers mixed in, Schemathesis sends a list where only strings are declared, and
    expects a refusal; in a URL it is a string like any other.
    """
    return _is_only_of(TEXTS, actual)


def is_undecided(actual: str, request: Request) -> bool:
    """Returns True if a failure only says that something was accepted which the interface leaves open.

    These are query parameters that are empty or repeated, and unknown members of an update. Rules
    that are assumptions judge what a service does with them.
    """
    times = Counter(name for name, _ in request.pairs)
    names = {name for name, value in request.pairs if not value or times[name] > 1}
    return actual.endswith(_MORE_MEMBERS) or _is_only_of(names, actual)


def _is_only_of(names: Set[str], actual: str) -> bool:
    """Tells whether a failure says that invalid values of these parameters alone were accepted."""
    breaches = _BREACH.finditer(_MORE_PARAMETERS.sub("", actual))
    named = {breach[1] or breach[2] for breach in breaches}
    return actual.startswith("negative_data_rejection") and bool(named) and named <= names


def _index(run: Run, number: int) -> int:
    """Returns the index of an exchange; some numbers are missing, as they got no response."""
    place = min(number, len(run.exchanges)) - 1
    while run.exchanges[place].number > number:
        place -= 1
    return place


def filter_query(_context: Any, query: Any) -> bool:
    """Drops an empty object where null is valid: in a query both are ``select_avatar=``."""
    return not query or query.get("select_avatar") not in ({}, [], "")


def _unsent(start: Start) -> list[bytes]:
    start("403 -", [("content-type", "application/json")])
    return [b'{"error": "not sent"}']


def _request_of(environ: Mapping[str, Any], base_url: str) -> Request:
    parts = urlsplit(base_url)
    raw = str(environ.get("REQUEST_URI") or environ["PATH_INFO"]).partition("?")[0]
    path = quote(raw.encode("latin-1"), safe="/%:@!$&'()*+,;=~")
    query = quote(environ.get("QUERY_STRING", "").encode("latin-1"), safe="/%:@!$'()*+,;=~?&")
    url = f"{parts.scheme}://{parts.netloc}{path}{'?' + query if query else ''}"
    headers = [
        (name.removeprefix("HTTP_").replace("_", "-"), text)
        for name, text in environ.items()
        if name.startswith("HTTP_") or (name in {"CONTENT_TYPE", "CONTENT_LENGTH"} and text)
    ]
    named = [(n, t) for n, t in headers_of(headers) if n != "host"]
    return Request(
        environ["REQUEST_METHOD"],
        url,
        (*named, ("host", parts.netloc)),
        environ["wsgi.input"].read(),
    )

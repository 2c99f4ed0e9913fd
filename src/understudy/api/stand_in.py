"""Lets a mock respond to some requests of a recorded app, or where the deployment does not.

The mock is given the people behind a token, hash or slug as the deployment shows them. It computes
hashes from addresses, and of an address the deployment shows the hash alone: so its people have
made-up addresses, and hashes are translated in what it gets and sends.
"""

import os
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Final

import httpx

from understudy.api.asgi_exchange import exchanged
from understudy.api.stand_in_people import StandInPeople
from understudy.api.stand_in_sign_in import StandInSignIn
from understudy.errors import StartupError, nearest
from understudy.exchange.messages import Exchange, Request, Response
from understudy.interface.facts import choices_of, load_facts
from understudy.interface.operations import (
    AVATAR_CHANGES,
    LIST_AVATARS,
    LOOKUP,
    ME,
    OWN_PROFILE,
    QR_CODE,
    SET_AVATAR,
    Place,
    Routes,
    key_of,
)
from understudy.mock.app import Mock
from understudy.mock.settings import Settings
from understudy.openapi.loader import Document
from understudy.openapi.operations import operations
from understudy.record.header_fields import end_to_end, lowered
from understudy.record.messages import ProxiedRequest, ProxiedResponse
from understudy.record.servers import ProxiedServer
from understudy.record.traffic_judge import texts_of
from understudy.record.upstream import NoUpstreamResponse, Upstream, parts_of
from understudy.verify.catalogue import catalogue
from understudy.verify.clock import machine_time
from understudy.verify.deployment import Deployment

_PICTURES: Final = ("/avatar/", "/image/", "/icons/")
_AVATAR: Final = re.compile(r"/avatar/([0-9a-f]{32}|[0-9a-f]{64})")
_PLACEHOLDER: Final = "slug: placeholder\nabout: Nobody.\nemails: [{email: nobody@example.com}]\n"
_OF_PROXY: Final = frozenset({b"host", b"origin", b"referer", b"accept-encoding", b"expect"})
_WITHOUT_LIMITS: Final = {"rate-limits": "off"}
"""The requests of an hour are the deployment's to count."""


@dataclass(frozen=True, slots=True)
class StandInOptions:
    """The options of a mock that responds in place of a deployment.

    Attributes:
        operations: Ids of the operations that it responds to.
        is_fallback: True if it responds where the deployment does not.
        announce: Called with a line where it did so.
    """

    operations: Sequence[str] = ()
    is_fallback: bool = False
    announce: Callable[[str], None] = lambda _line: None


class StandIn:
    """A mock that responds in place of a deployment.

    Args:
        deployment: The deployment.
        document: The document in force.
        routes: Finds the operation of a request.
        server: The deployment's resource API.
        upstream: Reads people from it.
        options: What the mock responds to.

    Attributes:
        counts: The number of its responses, by ``mock`` and ``fallback``.

    Raises:
        StartupError: There is no such operation, or the mock cannot start.
    """

    def __init__(
        self,
        deployment: Deployment,
        document: Document,
        routes: Routes,
        server: ProxiedServer,
        upstream: Upstream,
        options: StandInOptions,
    ) -> None:
        self.is_fallback = options.is_fallback
        self.counts = {"mock": 0, "fallback": 0}
        self._announce = options.announce
        self._operations = _keys(document, options.operations)
        self._deployment, self._routes = deployment, routes
        self._server, self._upstream = server, upstream
        self._mock = _mock(deployment)
        self._people = StandInPeople(self._mock.world, deployment.target)
        self._sign_in = StandInSignIn(self._mock.world)
        self._lock = Lock()
        self.settled: Callable[[], Awaitable[None]] | None = None

    def observe(self, exchange: Exchange) -> None:
        """Reads people from an exchange that passes."""
        with self._lock:
            self._people.seen.add(exchange)
            if exchange.operation == SET_AVATAR and exchange.response.is_success:
                sent = exchange.request.json
                self._people.see_selection(
                    str(sent.get("email_hash")) if isinstance(sent, dict) else ""
                )

    async def responds_to(self, request: ProxiedRequest) -> bool:
        """Tells whether the mock responds to a request, and the deployment does not get it."""
        place = self._routes.find(request.method, request.url)
        if request.server.site == "authorization":
            is_own = await self._sign_in.responds_to(request, place.operation)
        else:
            is_own = place.operation in self._operations
            is_own = is_own or self._sign_in.has_issued(_token(request))
        return is_own or (self._people.has_uploads and await self._has_part_of(request, place))

    async def _has_part_of(self, request: ProxiedRequest, place: Place) -> bool:
        """Tells whether a request is about an avatar that was uploaded to the mock."""
        match = _AVATAR.fullmatch(request.path)
        name = match[1] if match else place.values[0] if place.operation in AVATAR_CHANGES else None
        if name is None and place.operation != LIST_AVATARS:
            return False
        await self._catch_up()
        if name is not None:
            return self._people.has_upload(name)
        return self._people.owns_upload(_token(request))

    async def _catch_up(self) -> None:
        """Tells the mock what has passed so far."""
        if self.settled is not None:
            await self.settled()
        with self._lock:
            self._people.introduce()

    async def respond(
        self, request: ProxiedRequest, failure: NoUpstreamResponse | None = None
    ) -> ProxiedResponse | None:
        """Returns the mock's response; None where it has no part in what is requested."""
        place = self._routes.find(request.method, request.url)
        if not request.captured.is_whole or not self._has_part(request, place, failure):
            return None
        sent = Request(request.method, request.url, texts_of(lowered(request.fields)))
        if failure is None and not self._sign_in.has_issued(sent.token):
            await self._read_people(place, sent)
        await self._catch_up()
        kind = "mock" if failure is None else "fallback"
        self.counts[kind] += 1
        if failure is not None:
            operation = place.operation or "a page or picture"
            self._announce(f"{operation}: {failure}, so the mock responded")
        site = self._mock.resource
        if request.server.site == "authorization":
            self._sign_in.admit(request, place.operation)
            site = self._mock.authorization
        response = await exchanged(site, self._request(request, place))
        fields = [
            (name, self._people.translated_back(value))
            for name, value in end_to_end(response.headers.raw)
        ]
        result = ProxiedResponse(
            response.status_code, [*fields, (b"x-mock-responder", kind.encode())]
        )
        result.captured.add(self._people.translated_back(response.read()))
        return result

    def _has_part(
        self, request: ProxiedRequest, place: Place, failure: NoUpstreamResponse | None
    ) -> bool:
        """Tells whether the mock can respond to a request at all."""
        if request.server.site == "authorization":
            return failure is None or self._sign_in.can_begin(request, place.operation)
        return bool(place.operation) or request.path.startswith(_PICTURES)

    def _request(self, request: ProxiedRequest, place: Place) -> httpx.Request:
        """Returns a request as the mock gets it: at its own base path, with its people's hashes."""
        below = request.path
        if place.operation:
            is_resource = request.server.site == "resource"
            below = (self._mock.base_path if is_resource else "") + place.path
        query = request.target.partition(b"?")[2]
        target = below.encode("latin-1") + (b"?" + query if query else b"")
        origin = request.server.proxied_origin(request.host)
        fields = [
            (name, value) for name, value in end_to_end(request.fields) if name not in _OF_PROXY
        ]
        url = httpx.URL(origin).copy_with(raw_path=self._people.translated(target))
        body = self._people.translated(request.captured.content)
        return httpx.Request(request.method, url, headers=fields, content=body)

    async def _read_people(self, place: Place, sent: Request) -> None:
        """Reads the people that a request is about from the deployment, unless they are known."""
        if self.settled is not None:
            await self.settled()
        token = sent.token
        if place.operation in ME and token is not None and not self._people.knows_token(token):
            await self._read("/me/profile", OWN_PROFILE, sent)
            await self._read("/me/avatars", LIST_AVATARS, sent)
        if place.operation in {LOOKUP, QR_CODE} and not self._people.knows(place.values[0]):
            segment = place.path.rpartition("/")[2]
            await self._read(f"/profiles/{segment}", LOOKUP, sent, place.values)

    async def _read(
        self, path: str, operation: str, sent: Request, values: tuple[str, ...] = ()
    ) -> None:
        url = f"{self._server.url}{path}"
        authorization = sent.header("authorization")
        fields = [
            (b"host", self._server.origin.partition("://")[2].encode()),
            *([(b"authorization", authorization.encode("latin-1"))] if authorization else []),
        ]
        target = f"{self._server.path}{path}".encode("latin-1")
        answer = ProxiedResponse(0, [])
        try:
            received = await self._upstream.send(self._server, "GET", target, fields)
            answer = ProxiedResponse(received.status_code, lowered(received.headers.raw))
            async for part in parts_of(received):
                answer.captured.add(part)
        except NoUpstreamResponse:
            return
        request = Request("GET", url, texts_of(fields))
        response = Response(answer.status, texts_of(answer.fields), answer.captured.content)
        identity = self._deployment.target.identify(sent.token)
        self.observe(
            Exchange(
                *(0, "stand-in", identity, request, response, machine_time(), operation),
                *("resource", path, values),
            )
        )


def _token(request: ProxiedRequest) -> str | None:
    return Request("GET", "/", texts_of(request.fields)).token


def _keys(document: Document, names: Sequence[str]) -> frozenset[str]:
    """Returns the keys of operations by their ids.

    Raises:
        StartupError: There is no such operation.
    """
    known = {each.operation_id: key_of(each.method, each.path) for each in operations(document)}
    for name in names:
        if name not in known:
            hint = nearest(name, list(known)) or f"; there are {', '.join(known)}."
            msg = f"--mock: the document has no operation '{name}'{hint}"
            raise StartupError(msg)
    return frozenset(known[name] for name in names)


def _mock(deployment: Deployment) -> Mock:
    """Returns a mock that knows nobody, under the document and the facts of a deployment."""
    target = deployment.target
    choices = dict(_WITHOUT_LIMITS)
    if target.facts is not None:
        rules = catalogue().values()
        choices |= choices_of(load_facts(Path(target.facts), rules), rules)
    document = deployment.document
    with TemporaryDirectory(prefix="understudy-") as directory:
        people = Path(directory) / "people"
        people.mkdir()
        (people / "placeholder.yaml").write_text(_PLACEHOLDER)  # a mock needs a person
        return Mock(
            Settings(
                fixtures=Path(directory),
                choices=choices,
                document=None if document is None else document.path,
                overlays=tuple(map(Path, target.overlays)),
                vocabulary=None if target.vocabulary is None else Path(target.vocabulary),
                tokens=None if document is None else "known",
                journal=0,
                seed=int.from_bytes(os.urandom(4)),
            )
        )

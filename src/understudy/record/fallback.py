"""Lets a mock respond in place of a deployment that is not available during a recording.

The mock is given people and tokens as the deployment has shown them. It computes hashes from e-mail
addresses, but the deployment shows only the hashes. So its people get invented addresses, and the
hashes in requests and responses are translated.
"""

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, Final

import httpx

from understudy.api.asgi_exchange import exchanged
from understudy.errors import FixtureError
from understudy.exchange.messages import Exchange
from understudy.interface.facts import choices_of, load_facts
from understudy.interface.operations import Place, Routes
from understudy.interface.recognition import interface_operations
from understudy.mock.app import Mock
from understudy.mock.fixtures.record_checks import check_person, claims, converted
from understudy.mock.server.worlds import World
from understudy.mock.settings import Settings
from understudy.mock.store.people import IMAGES, PEOPLE, Image, Person
from understudy.mock.store.tokens import TOKENS, Token
from understudy.mock.store.vocabulary import vocabulary_of
from understudy.record.messages import ProxiedRequest, ProxiedResponse
from understudy.record.pseudonyms import Pseudonyms
from understudy.record.recorded_fixtures import RecordedFixtures
from understudy.record.seen_people import SeenPeople, SeenToken
from understudy.record.servers import end_to_end
from understudy.record.upstream import NoUpstreamResponse
from understudy.verify.catalogue import catalogue
from understudy.verify.clock import machine_time
from understudy.verify.deployment import Deployment
from understudy.verify.target import Target

_HASH: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_MEDIA_TYPES: Final = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif"}
_PLAIN: Final = ("display_name", "location", "description", "job_title", "company")


class FallbackPeople:
    """Adds the people and tokens of observed exchanges to a mock.

    Attributes:
        is_new: True if exchanges were observed since ``introduce`` was last called.
    """

    def __init__(self, world: World, target: Target) -> None:
        self._world = world
        self._target = target
        self._names = Pseudonyms(os.urandom(32), target, machine_time())
        self._introduced: Mapping[str, Mapping[str, Any]] = {}
        self._own: dict[bytes, bytes] = {}
        self._theirs: dict[bytes, bytes] = {}
        self._seen = SeenPeople()
        self.is_new = False

    def observe(self, exchange: Exchange) -> None:
        """Reads people and tokens from an exchange with the deployment."""
        self._seen.add(exchange)
        self.is_new = True

    def translated(self, content: bytes) -> bytes:
        """Returns a part of a request with the deployment's hashes replaced by the mock's."""
        return _HASH.sub(lambda match: self._own.get(match[0], match[0]), content)

    def translated_back(self, content: bytes) -> bytes:
        """Returns a part of a response with the mock's hashes replaced by the deployment's."""
        return _HASH.sub(lambda match: self._theirs.get(match[0], match[0]), content)

    def introduce(self) -> None:
        """Adds new people and tokens to the mock, and updates those that have changed."""
        self.is_new = False
        seen = SeenPeople(profiles=self._seen.profiles, tokens=self._seen.tokens)
        of_accounts = (hashed for each in seen.accounts() for hashed in (each.hash, *each.hashes))
        for hashed in dict.fromkeys((*seen.profiles, *of_accounts)):
            self._name(hashed)
        fixtures = RecordedFixtures(seen, self._names, {}, self._target)
        persons = fixtures.persons()
        for path, content in fixtures.images.items():
            name = path.partition("/")[2]
            media_type = _MEDIA_TYPES[name.rpartition(".")[2]]
            self._world.put(IMAGES, name, Image(content, media_type))
        for slug, members in persons.items():
            if (
                self._introduced.get(slug) != members
            ):  # keep changes that the mock made in an outage
                self._put(members)
        for token, used in seen.tokens.items():
            self._admit(token, used, fixtures.slug_of(used.account) if used.account else None)
        self._introduced = persons

    def _name(self, hashed: str) -> None:
        """Invents an e-mail address for a hash of the deployment, and links the two hashes."""
        if not hashed or hashed.encode() in self._own:
            return
        own = self._names.hash(hashed)
        if own in self._names.emails:
            self._names.emails[hashed] = self._names.emails[own]
            self._own[hashed.encode()] = own.encode()
            self._theirs[own.encode()] = hashed.encode()

    def _put(self, members: Mapping[str, Any]) -> None:
        """Adds a person to the mock."""
        person = self._person(members)
        self._world.put(PEOPLE, person.slug, person)
        for collection, key, _ in claims(person):
            self._world.put(collection, key, person.slug)

    def _person(self, members: Mapping[str, Any]) -> Person:
        """Returns a person; an invalid profile is reduced to its plain texts."""
        try:
            person = converted("the person", members, Person)
            check_person("the person", person, dict(self._world.items(IMAGES)))
        except FixtureError:
            profile = members.get("profile", {})
            plain = {name: profile[name] for name in _PLAIN if name in profile}
            return converted("the person", {**members, "profile": plain}, Person)
        return person

    def _admit(self, token: str, seen: SeenToken, slug: str | None) -> None:
        """Adds a token to the mock: an OAuth token, or an API key if its account is not known."""
        if slug is None:
            person = next(iter(self._world.keys(PEOPLE)))
            self._world.put(TOKENS, token, Token(token, person, "api_key"))
            return
        words = vocabulary_of(self._world).words
        scopes = tuple(words.get(scope, scope) for scope in seen.granted)
        self._world.put(TOKENS, token, Token(token, slug, scopes=scopes))


_PICTURES: Final = ("/avatar/", "/image/", "/icons/")
_PLACEHOLDER: Final = "slug: placeholder\nabout: Nobody.\nemails: [{email: nobody@example.com}]\n"
_OF_PROXY: Final = frozenset({b"host", b"origin", b"referer", b"accept-encoding", b"expect"})
_WITHOUT_LIMITS: Final = {"rate-limits": "off"}
"""Options of the mock: only the deployment limits rates."""


class Fallback:
    """A mock that responds when the deployment does not.

    Attributes:
        count: The number of responses of the mock.
        settled: Waits until all exchanges so far were observed.

    Raises:
        StartupError: The mock cannot start.
    """

    def __init__(
        self, deployment: Deployment, routes: Routes, announce: Callable[[str], object]
    ) -> None:
        self.count = 0
        self._announce, self._routes = announce, routes
        self._mock = _mock(deployment)
        self._people = FallbackPeople(self._mock.world, deployment.target)
        self._lock = Lock()
        self.settled: Callable[[], Awaitable[None]] | None = None

    def observe(self, exchange: Exchange) -> None:
        """Reads people and tokens from an exchange with the deployment."""
        with self._lock:
            self._people.observe(exchange)

    async def respond(
        self, request: ProxiedRequest, failure: NoUpstreamResponse
    ) -> ProxiedResponse | None:
        """Returns the mock's response; None for requests that the mock does not serve."""
        place = self._routes.find(request.method, request.url)
        is_operation = bool(place.operation) and place.site == "resource"
        has_part = is_operation or request.path.startswith(_PICTURES)
        if not (request.captured.is_whole and has_part):
            return None
        if self.settled is not None:
            await self.settled()
        with self._lock:
            if self._people.is_new:
                self._people.introduce()
        self.count += 1
        self._announce(f"{place.title or 'a picture'}: {failure}, so the mock responded")
        response = await exchanged(self._mock.resource, self._request(request, place))
        fields = [
            (name, self._people.translated_back(value))
            for name, value in end_to_end(response.headers.raw)
        ]
        result = ProxiedResponse(
            response.status_code, [*fields, (b"x-mock-responder", b"fallback")]
        )
        result.captured.add(self._people.translated_back(response.read()))
        return result

    def _request(self, request: ProxiedRequest, place: Place) -> httpx.Request:
        """Returns a request translated for the mock: with its base path and hashes."""
        below = request.path
        if place.operation:
            below = self._mock.base_path + place.path
        query = request.target.partition(b"?")[2]
        target = below.encode("latin-1") + (b"?" + query if query else b"")
        origin = request.server.proxied_origin(request.host)
        fields = [
            (name, value) for name, value in end_to_end(request.fields) if name not in _OF_PROXY
        ]
        url = httpx.URL(origin).copy_with(raw_path=self._people.translated(target))
        body = self._people.translated(request.captured.content)
        return httpx.Request(request.method, url, headers=fields, content=body)


def _mock(deployment: Deployment) -> Mock:
    """Returns a mock without real people, under the document and the facts of a deployment."""
    target = deployment.target
    choices = dict(_WITHOUT_LIMITS)
    if target.facts is not None:
        rules = catalogue().values()
        choices |= choices_of(load_facts(Path(target.facts), rules), rules)
    document = deployment.document
    with TemporaryDirectory(prefix="understudy-") as directory:
        people = Path(directory) / "people"
        people.mkdir()
        (people / "placeholder.yaml").write_text(_PLACEHOLDER)  # fixtures need at least one person
        return Mock(
            Settings(
                fixtures=Path(directory),
                choices=choices,
                document=None if document is None else document.path,
                overlays=tuple(map(Path, target.overlays)),
                vocabulary=None if target.vocabulary is None else Path(target.vocabulary),
                # the tokens of another service are nobody's, so any is valid
                tokens="known" if document is not None and interface_operations(document) else None,
                journal=0,
                seed=int.from_bytes(os.urandom(4)),
            )
        )

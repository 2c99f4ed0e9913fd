"""Lets a mock respond to a recorded app where the deployment does not.

The mock is given the people behind a token, hash or slug as the deployment shows them. It computes
hashes from addresses, and of an address the deployment shows the hash alone: so its people have
made-up addresses, and hashes are translated in what it gets and sends.
"""

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, Final
from urllib.parse import parse_qs

import httpx

from understudy.api.asgi_exchange import exchanged
from understudy.errors import FixtureError
from understudy.exchange.messages import Exchange, Request
from understudy.interface.facts import choices_of, load_facts
from understudy.interface.operations import (
    AUTHORIZE,
    TOKEN,
    TOKEN_INFO,
    Place,
    Routes,
)
from understudy.mock.app import Mock
from understudy.mock.fixtures.conversion import converted
from understudy.mock.fixtures.record_checks import check_person
from understudy.mock.server.worlds import World
from understudy.mock.settings import Settings
from understudy.mock.store.applications import APPLICATIONS, CODES, COOKIE, SESSIONS, Application
from understudy.mock.store.people import (
    IMAGES,
    PEOPLE,
    SLUGS_BY_HASH,
    SLUGS_BY_IMAGE_ID,
    Image,
    Person,
)
from understudy.mock.store.tokens import TOKENS, Token
from understudy.mock.store.vocabulary import vocabulary_of
from understudy.record.messages import ProxiedRequest, ProxiedResponse
from understudy.record.pseudonyms import Pseudonyms
from understudy.record.recorded_fixtures import RecordedFixtures
from understudy.record.seen_people import SeenAccount, SeenPeople, SeenToken
from understudy.record.servers import end_to_end, field_value
from understudy.record.traffic_judge import texts_of
from understudy.record.upstream import NoUpstreamResponse
from understudy.verify.catalogue import catalogue
from understudy.verify.clock import machine_time
from understudy.verify.deployment import Deployment
from understudy.verify.target import Target, email_hash

_HASH: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_MEDIA_TYPES: Final = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif"}
_PLAIN: Final = ("display_name", "location", "description", "job_title", "company")


_AvatarsOf = tuple[Mapping[str, Mapping[str, Any]], Mapping[str, str], tuple[str, ...]]
"""The avatars of an account, those selected, and the hashes of its other addresses."""


def _avatars_of(account: SeenAccount) -> _AvatarsOf:
    return dict(account.avatars), dict(account.selected), tuple(account.hashes)


class FallbackPeople:
    """The people that a mock knows of a deployment: those that have passed.

    Args:
        world: The world of the mock.
        target: The deployment.

    Attributes:
        seen: The people as traffic shows them.
    """

    def __init__(self, world: World, target: Target) -> None:
        self._world = world
        self._target = target
        self._names = Pseudonyms(os.urandom(32), target, machine_time())
        self._introduced: dict[str, Mapping[str, Any]] = {}
        self._accounts: dict[str, _AvatarsOf] = {}
        self._own: dict[bytes, bytes] = {}
        self._theirs: dict[bytes, bytes] = {}
        self.seen = SeenPeople()

    def knows_token(self, token: str) -> bool:
        """Tells whether the account of a token was read."""
        seen = self.seen.tokens.get(token)
        record = self._world.get(TOKENS, token)
        is_read = seen is not None and seen.account is not None and bool(seen.account.hash)
        return is_read and record is not None and record.kind == "oauth"

    def translated(self, content: bytes) -> bytes:
        """Returns what a client sends with the hashes of the mock's people."""
        return _HASH.sub(lambda match: self._own.get(match[0], match[0]), content)

    def translated_back(self, content: bytes) -> bytes:
        """Returns what the mock sends with the hashes of the deployment's people."""
        return _HASH.sub(lambda match: self._theirs.get(match[0], match[0]), content)

    def introduce(self) -> None:
        """Puts people and tokens into the mock that are new, or that the deployment shows otherwise."""
        tokens = {
            token: seen
            for token, seen in self.seen.tokens.items()
            if self._world.get(TOKENS, token) is None
            or (seen.account is not None and not self.knows_token(token))
            or (seen.account is not None and self._has_changed(seen.account))
        }
        owners = {id(seen.account): seen.account for seen in tokens.values() if seen.account}
        changed = {
            hashed: profile
            for hashed, profile in self.seen.profiles.items()
            if self._introduced.get(hashed) != profile
            or hashed in {account.hash for account in owners.values()}
        }
        for account in owners.values():
            for hashed in (account.hash, *account.hashes):
                self._name(hashed)
        for hashed in changed:
            self._name(hashed)
        fixtures = RecordedFixtures(
            SeenPeople(profiles=changed, tokens=tokens), self._names, {}, self._target
        )
        persons = fixtures.persons()
        for path, content in fixtures.images.items():
            name = path.partition("/")[2]
            media_type = _MEDIA_TYPES[name.rpartition(".")[2]]
            self._world.put(IMAGES, name, Image(content, media_type))
        for members in persons.values():
            self._put(members)
        for token, seen in tokens.items():
            slug = fixtures.slug_of(seen.account) if seen.account else None
            self._admit(token, seen, slug)
        self._introduced |= {hashed: dict(profile) for hashed, profile in changed.items()}
        self._accounts |= {each.hash: _avatars_of(each) for each in owners.values()}

    def _has_changed(self, account: SeenAccount) -> bool:
        """Returns True if an account's avatars have changed since the mock was given them."""
        return bool(account.hash) and self._accounts.get(account.hash) != _avatars_of(account)

    def _name(self, hashed: str) -> None:
        """Gives an address of which only the hash is known a made-up one."""
        if not hashed or hashed.encode() in self._own:
            return
        own = self._names.hash(hashed)
        if own in self._names.emails:
            self._names.emails[hashed] = self._names.emails[own]
            self._own[hashed.encode()] = own.encode()
            self._theirs[own.encode()] = hashed.encode()

    def _put(self, members: Mapping[str, Any]) -> None:
        """Puts a person into the mock, as the deployment shows them."""
        person = self._person(members)
        self._world.put(PEOPLE, person.slug, person)
        for email in person.emails:
            self._world.put(SLUGS_BY_HASH, email_hash(email.email), person.slug)
        for avatar in person.avatars:
            self._world.put(SLUGS_BY_IMAGE_ID, avatar.image_id, person.slug)

    def _person(self, members: Mapping[str, Any]) -> Person:
        """Returns a person; one whose profile no fixture may have keeps the plain texts of it."""
        try:
            person = converted("the person", members, Person)
            check_person("the person", person, dict(self._world.items(IMAGES)))
        except FixtureError:
            profile = members.get("profile", {})
            plain = {name: profile[name] for name in _PLAIN if name in profile}
            return converted("the person", {**members, "profile": plain}, Person)
        return person

    def _admit(self, token: str, seen: SeenToken, slug: str | None) -> None:
        """Puts a token into the mock: of an account, or an API key where the account is not known."""
        person = self._slug_in_world(seen.account, slug)
        if person is None:
            person = next(iter(self._world.keys(PEOPLE)))
            self._world.put(TOKENS, token, Token(token, person, "api_key"))
            return
        words = vocabulary_of(self._world).words
        scopes = tuple(words.get(scope, scope) for scope in seen.granted)
        self._world.put(TOKENS, token, Token(token, person, scopes=scopes))

    def _slug_in_world(self, account: SeenAccount | None, slug: str | None) -> str | None:
        """Returns the slug of an account's person, who may have been known by the hash before."""
        own = self._own.get(account.hash.encode()) if account is not None else None
        known = None if own is None else self._world.get(SLUGS_BY_HASH, own.decode())
        return known or slug


_PAGES: Final = re.compile(r"/(sign-in|consent|static/.+|avatar/[0-9a-f]+)")
_SESSION: Final = re.compile(rf"(?:^|;\s*){COOKIE}=([^;]+)")


class FallbackSignIn:
    """The sign-in at a mock while the deployment's authorization server does not respond.

    Codes and tokens go back to who issued them: a code of the mock is exchanged at the mock, and a
    token of the mock is used there, also once the deployment responds again.

    Args:
        world: The world of the mock.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    def has_issued(self, token: str | None) -> bool:
        """Tells whether the mock has issued a token; those of the deployment have no application."""
        record = None if token is None else self._world.get(TOKENS, token)
        return record is not None and record.client_id is not None

    async def responds_to(self, request: ProxiedRequest, operation: str | None) -> bool:
        """Tells whether a request continues what was begun at the mock."""
        if operation == TOKEN:
            if self._is_unused:
                return False
            await request.receive_small_form()
            form = parse_qs(request.captured.content.decode("latin-1"))
            (code,) = form.get("code", [""])[:1]
            return self._world.get(CODES, code) is not None
        if operation == TOKEN_INFO:
            return self.has_issued(_query(request).get("token"))
        if operation == AUTHORIZE or _PAGES.fullmatch(request.path) is None:
            return False
        session = _SESSION.search(field_value(request.fields, b"cookie"))
        return session is not None and self._world.get(SESSIONS, session[1]) is not None

    def can_begin(self, request: ProxiedRequest, operation: str | None) -> bool:
        """Tells whether the mock can show a page, where the deployment does not."""
        return operation == AUTHORIZE or _PAGES.fullmatch(request.path) is not None

    def admit(self, request: ProxiedRequest, operation: str | None) -> None:
        """Takes an application as it presents itself: only the deployment knows which there are."""
        if operation == AUTHORIZE:
            query = _query(request)
            self._put(query.get("client_id"), redirect=query.get("redirect_uri"))
        elif operation == TOKEN:
            form = parse_qs(request.captured.content.decode("latin-1"))
            secret = form.get("client_secret", [None])[0]
            self._put(form.get("client_id", [None])[0], secret=secret)

    def _put(
        self, client: str | None, *, redirect: str | None = None, secret: str | None = None
    ) -> None:
        if client is None:
            return
        known = self._world.get(APPLICATIONS, client)
        redirects = () if known is None else known.redirect_uris
        if redirect is not None and redirect not in redirects:
            redirects = (*redirects, redirect)
        owner = next(iter(self._world.keys(PEOPLE)))
        kept = "" if known is None else known.client_secret
        application = Application(client, secret or kept, client, owner, redirects)
        self._world.put(APPLICATIONS, client, application)

    @property
    def _is_unused(self) -> bool:
        return next(iter(self._world.keys(CODES)), None) is None


def _query(request: ProxiedRequest) -> dict[str, str]:
    query = request.target.partition(b"?")[2].decode("latin-1")
    return {name: values[0] for name, values in parse_qs(query).items()}


_PICTURES: Final = ("/avatar/", "/image/", "/icons/")
_PLACEHOLDER: Final = "slug: placeholder\nabout: Nobody.\nemails: [{email: nobody@example.com}]\n"
_OF_PROXY: Final = frozenset({b"host", b"origin", b"referer", b"accept-encoding", b"expect"})
_WITHOUT_LIMITS: Final = {"rate-limits": "off"}
"""The requests of an hour are the deployment's to count."""


class Fallback:
    """A mock that responds where a deployment does not.

    Args:
        deployment: The deployment.
        routes: Finds the operation of a request.
        announce: Called with a line where it responds.

    Attributes:
        counts: The number of its responses: ``fallback`` where the deployment had none, ``mock``
            where they continue what was begun at the mock.
        settled: Waits until what has passed was observed.

    Raises:
        StartupError: The mock cannot start.
    """

    def __init__(
        self, deployment: Deployment, routes: Routes, announce: Callable[[str], object]
    ) -> None:
        self.counts = {"mock": 0, "fallback": 0}
        self._announce, self._routes = announce, routes
        self._mock = _mock(deployment)
        self._people = FallbackPeople(self._mock.world, deployment.target)
        self._sign_in = FallbackSignIn(self._mock.world)
        self._lock = Lock()
        self.settled: Callable[[], Awaitable[None]] | None = None

    def observe(self, exchange: Exchange) -> None:
        """Reads people from an exchange that passes."""
        with self._lock:
            self._people.seen.add(exchange)

    async def responds_to(self, request: ProxiedRequest) -> bool:
        """Tells whether a request continues what was begun at the mock, and so is the mock's own."""
        if request.server.site == "authorization":
            place = self._routes.find(request.method, request.url)
            return await self._sign_in.responds_to(request, place.operation)
        return self._sign_in.has_issued(_token(request))

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


def _token(request: ProxiedRequest) -> str | None:
    return Request("GET", "/", texts_of(request.fields)).token


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

"""Keeps the people of a deployment in the world of a mock that responds in its place."""

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from understudy.api.stand_in_merging import merged_person, unselected
from understudy.errors import FixtureError
from understudy.mock.fixtures.conversion import converted
from understudy.mock.fixtures.record_checks import check_person
from understudy.mock.server.worlds import World
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
from understudy.record.pseudonyms import Pseudonyms
from understudy.record.recorded_fixtures import RecordedFixtures
from understudy.record.seen_people import SeenAccount, SeenPeople, SeenToken
from understudy.verify.clock import machine_time
from understudy.verify.target import Target, email_hash

_HASH: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_MEDIA_TYPES: Final = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif"}
_PLAIN: Final = ("display_name", "location", "description", "job_title", "company")


_AvatarsOf = tuple[Mapping[str, Mapping[str, Any]], Mapping[str, str], tuple[str, ...]]
"""The avatars of an account, those selected, and the hashes of its other addresses."""


def _avatars_of(account: SeenAccount) -> _AvatarsOf:
    return dict(account.avatars), dict(account.selected), tuple(account.hashes)


class StandInPeople:
    """The people that a mock knows of a deployment.

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
        self._shown: dict[str, Person] = {}
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

    def knows(self, identifier: str) -> bool:
        """Tells whether the profile of a hash or a slug was read."""
        own = self._own.get(identifier.lower().encode("utf-8", "replace"))
        by_hash = own is not None and self._world.get(SLUGS_BY_HASH, own.decode()) is not None
        return by_hash or self._world.get(PEOPLE, identifier) is not None

    @property
    def has_uploads(self) -> bool:
        """True if a picture was uploaded to the mock: its key is the avatar's identifier."""
        return any("." not in name for name in self._world.keys(IMAGES))

    def owns_upload(self, token: str | None) -> bool:
        """Tells whether a token's account has an avatar that was uploaded to the mock.

        That is open for a token whose account was not read yet.
        """
        record = None if token is None else self._world.get(TOKENS, token)
        if record is None or record.kind != "oauth":
            return token is not None
        person = self._world.get(PEOPLE, record.person)
        return person is not None and any(
            self._world.get(IMAGES, each.image_id) is not None for each in person.avatars
        )

    def see_selection(self, hashed: str) -> None:
        """Notes that an avatar was selected for an address at the deployment, be it the same again."""
        address = self._names.emails.get(hashed)
        for primary, person in self._shown.items():
            if address is not None and any(each.email == address for each in person.emails):
                self._shown[primary] = unselected(person, address)
                self._accounts.pop(primary, None)

    def has_upload(self, name: str) -> bool:
        """Tells whether a picture was uploaded to the mock: by its identifier, or selected by a hash."""
        if self._world.get(IMAGES, name) is not None:
            return True
        hashed = self._own.get(name.encode())
        slug = None if hashed is None else self._world.get(SLUGS_BY_HASH, hashed.decode())
        person = None if slug is None else self._world.get(PEOPLE, slug)
        if person is None or hashed is None:
            return False
        chosen = {
            each.avatar for each in person.emails if email_hash(each.email) == hashed.decode()
        }
        return any(each and self._world.get(IMAGES, each) is not None for each in chosen)

    def translated(self, content: bytes) -> bytes:
        """Returns what a client sends with the hashes of the mock's people."""
        return _HASH.sub(lambda match: self._own.get(match[0], match[0]), content)

    def translated_back(self, content: bytes) -> bytes:
        """Returns what the mock sends with the hashes of the deployment's people."""
        return _HASH.sub(lambda match: self._theirs.get(match[0], match[0]), content)

    def introduce(self) -> None:
        """Puts people and tokens that are new into the mock; what it changed itself stays."""
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
        """Puts a person into the mock; of one known before, what the deployment has changed since."""
        shown = self._person(members)
        primary = email_hash(shown.emails[0].email)
        known_slug = self._world.get(SLUGS_BY_HASH, primary)
        known = self._world.get(PEOPLE, known_slug or shown.slug)
        person = shown
        if known is not None:
            person = merged_person(known, shown, self._shown.get(self._hash_of(primary), known))
        self._shown[self._hash_of(primary)] = shown
        self._world.put(PEOPLE, person.slug, person)
        for email in person.emails:
            self._world.put(SLUGS_BY_HASH, email_hash(email.email), person.slug)
        for avatar in person.avatars:
            self._world.put(SLUGS_BY_IMAGE_ID, avatar.image_id, person.slug)

    def _hash_of(self, own: str) -> str:
        """Returns the deployment's hash of an address, which has another one in the mock."""
        return self._theirs.get(own.encode(), own.encode()).decode()

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

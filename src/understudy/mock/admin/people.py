"""Handlers of the admin API for people, and for the tokens and sessions that replace a sign-in.

People have the format of fixture files.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

import msgspec

from understudy.errors import BadRequest, Conflict, FixtureError, NotFound, nearest
from understudy.interface.vocabulary import Vocabulary
from understudy.mock.fixtures.listing import person_members, token_members
from understudy.mock.fixtures.loading import person_fixture
from understudy.mock.fixtures.record_checks import WorldRecords, check_person, claims, converted
from understudy.mock.server.call import Call, HandlerResponse, Handlers, attachment
from understudy.mock.server.clock import written
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import (
    COOKIE,
    USED_SCOPES,
    begin_session,
    cookie_path,
    set_cookie,
)
from understudy.mock.store.people import (
    IMAGES,
    PEOPLE,
    Person,
    expect_person,
    is_changed,
    named_person,
    with_password,
)
from understudy.mock.store.tokens import TOKENS, Token
from understudy.mock.store.vocabulary import vocabulary_of


def list_people(
    call: Call, *, search: str = "", limit: int = 100, offset: int = 0
) -> HandlerResponse:
    """Responds to ``GET /people``: lists people whose slug, name, address or purpose has a text."""
    matching = (person for _, person in call.world.items(PEOPLE) if _contains(person, search))
    page = list(islice(matching, offset, offset + limit))
    total = call.world.count(PEOPLE) if not search else None
    return HandlerResponse({"people": [_listed(call, person) for person in page], "total": total})


def create_person(call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``POST /people``.

    Raises:
        BadRequest: The person is not a valid fixture.
        Conflict: The slug, an address or an avatar belongs to somebody else.
    """
    person = _checked(call.world, body)
    if call.world.get(PEOPLE, person.slug) is not None:
        msg = f"slug: there is a person {person.slug!r} already; choose another."
        raise Conflict(msg)
    _store(call.world, person, None)
    return HandlerResponse(msgspec.to_builtins(person), 201)


def get_person(call: Call, slug: str) -> HandlerResponse:
    """Responds to ``GET /people/{slug}``.

    Raises:
        NotFound: There is no such person.
    """
    return HandlerResponse(msgspec.to_builtins(named_person(call.world, slug)))


def replace_person(call: Call, slug: str, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``PUT /people/{slug}``.

    Raises:
        NotFound: There is no such person.
        BadRequest: The person is not a valid fixture, or has another slug.
        Conflict: An address or an avatar belongs to somebody else.
    """
    before = named_person(call.world, slug)
    person = _checked(call.world, body)
    if person.slug != slug:
        msg = f"slug: {person.slug!r} is not {slug!r}; a person keeps the slug."
        raise BadRequest(msg)
    _store(call.world, person, before)
    return HandlerResponse(msgspec.to_builtins(person))


def get_fixture(call: Call, slug: str) -> HandlerResponse:
    """Responds to ``GET /people/{slug}/fixture``: returns the person as a file for ``--fixtures``.

    Raises:
        NotFound: There is no such person.
    """
    content = person_fixture(call.world, named_person(call.world, slug))
    return attachment(content, f"{slug}.yaml", "application/yaml")


def _contains(person: Person, search: str) -> bool:
    wanted = search.lower()
    texts = (person.slug, person.profile.display_name, person.about)
    return any(wanted in text.lower() for text in (*texts, *(e.email for e in person.emails)))


def _listed(call: Call, person: Person) -> dict[str, Any]:
    origin = "changed" if is_changed(call.world, person.slug) else "fixture"
    return {
        **person_members(person),
        "visibility": person.visibility,
        "avatars": len(person.avatars),
        "origin": origin if person.slug in call.world.baseline[PEOPLE.name] else "added",
    }


def _checked(world: World, body: Mapping[str, Any]) -> Person:
    try:
        person = converted("The person", body, Person)
        check_person("The person", person, WorldRecords(world, IMAGES))
    except FixtureError as error:
        raise BadRequest(str(error)) from error
    return with_password(person)


def _store(world: World, person: Person, before: Person | None) -> None:
    """Stores a person with the indexes by address and avatar; a conflict changes nothing.

    Raises:
        Conflict: An address or an avatar belongs to somebody else.
    """
    wanted = list(claims(person))
    for collection, key, what in wanted:
        other = world.get(collection, key)
        if other not in {None, person.slug}:
            msg = f"{what} belongs to {other!r}; choose another."
            raise Conflict(msg)
    if before is not None:
        kept = {(collection.name, key) for collection, key, _ in wanted}
        for collection, key, _ in claims(before):
            if (collection.name, key) not in kept:
                world.remove(collection, key)
    world.put(PEOPLE, person.slug, person)
    for collection, key, _ in wanted:
        if world.get(collection, key) != person.slug:
            world.put(collection, key, person.slug)


_DIGITS = 40
"""Length of a token, in hexadecimal digits."""


def create_token(call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``POST /tokens``.

    Raises:
        BadRequest: There is no such person or scope.
    """
    world, person = call.world, body["person"]
    expect_person(world, person)
    kind = body.get("kind", "oauth")
    lasts = body.get("expires_in")
    end = None if lasts is None else written(world.clock.now() + timedelta(seconds=lasts))
    token = Token(
        token=world.mark + world.identifiers.hexadecimal(_DIGITS),
        person=person,
        kind=kind,
        scopes=() if kind == "api_key" else _scopes(body.get("scopes"), vocabulary_of(world)),
        expires=end,
        about="Made by a test.",
    )
    world.put(TOKENS, token.token, token)
    return HandlerResponse(token_members(token), 201)


def delete_token(call: Call, *, token: str) -> HandlerResponse:
    """Revokes a token (``DELETE /tokens``).

    Raises:
        NotFound: There is no such token.
    """
    if call.world.get(TOKENS, token) is None:
        msg = "There is no such token in this world."
        raise NotFound(msg)
    call.world.remove(TOKENS, token)
    call.world.remove(USED_SCOPES, token)
    return HandlerResponse(status=204)


def _scopes(scopes: Sequence[str] | None, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Returns the scopes of a token in the deployment's words; every scope for None."""
    known = vocabulary.scope_names
    if scopes is None:
        return known
    words = tuple(vocabulary.words.get(scope, scope) for scope in scopes)
    for word in words:
        if word not in known:
            hint = nearest(word, known) or f"; there are {', '.join(known)}."
            msg = f"scopes: there is no {word!r}{hint}"
            raise BadRequest(msg)
    return words


def create_session(call: Call, *, body: Mapping[str, str]) -> HandlerResponse:
    """Responds to ``POST /sessions``: returns the session's cookie in a header and in the body.

    Browsers send a cookie to every port of its host (RFC 6265, 8.5), so a cookie that the resource
    API's address sets is also sent to the authorization server on the same host.

    Raises:
        BadRequest: There is no such person.
    """
    world, person = call.world, body["person"]
    expect_person(world, person)
    session = begin_session(world, person)
    url = call.authorization_url
    about = {
        "person": person,
        "auth_url": url,
        "cookie": {"name": COOKIE, "value": session.key, "path": cookie_path(url)},
    }
    return HandlerResponse(about, 201, headers=(("set-cookie", set_cookie(session, url)),))


HANDLERS: Handlers = {
    ("GET", "/people"): list_people,
    ("POST", "/people"): create_person,
    ("GET", "/people/{slug}"): get_person,
    ("PUT", "/people/{slug}"): replace_person,
    ("GET", "/people/{slug}/fixture"): get_fixture,
    ("POST", "/tokens"): create_token,
    ("DELETE", "/tokens"): delete_token,
    ("POST", "/sessions"): create_session,
}

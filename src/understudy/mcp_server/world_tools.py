"""Tools that make a world and steer it: people, tokens, clock, faults."""

from contextlib import ExitStack
from typing import Annotated, Any

from pydantic import Field

from understudy.mcp_server.messages import (
    CreatedWorld,
    IssuedToken,
    KnownPeople,
    KnownPerson,
    SetFaults,
    WorldClock,
)
from understudy.mcp_server.session_worlds import ToolContext, session_of, world_of
from understudy.testing.world import JsonObject, MockWorld

LISTED_PEOPLE = 20
"""People in a result; a world may have thousands."""

World = Annotated[
    str | None, Field(description="Name of the world; null for the world of this session.")
]


def create_world(
    ctx: ToolContext,
    people: Annotated[
        list[str] | None, Field(description="Slugs of the people to keep; null for all.")
    ] = None,
    seed: Annotated[
        int | None, Field(description="Same seed and requests, same identifiers and responses.")
    ] = None,
    choices: Annotated[
        dict[str, str] | None,
        Field(description="Other readings of the contract: switch to option, rate-limits=off."),
    ] = None,
) -> CreatedWorld:
    """Creates a fresh world: people, tokens, clock, faults and journal of its own.

    It replaces the world of this session, and ends with it. Point the application under test at base_url.
    """
    options = {"people": people, "seed": seed, "choices": choices}
    given = {name: option for name, option in options.items() if option is not None}
    world = ctx.request_context.lifespan_context.create(session_of(ctx), **given)
    return CreatedWorld(
        world=world.name,
        base_url=world.base_url,
        auth_url=world.auth_url,
        header=world.header,
        people=[person["slug"] for person in world.people[:LISTED_PEOPLE]],
        people_count=len(world.people),
    )


def list_people(
    ctx: ToolContext,
    slug: Annotated[
        str | None, Field(description="Only this person; null for the first 20.")
    ] = None,
    world: World = None,
) -> KnownPeople:
    """Lists people with their tokens, user names and passwords, and OAuth applications."""
    chosen = world_of(ctx, world)
    people = [person for person in chosen.people if slug in {None, person["slug"]}]
    return KnownPeople(
        people=[_person(person, chosen) for person in people[:LISTED_PEOPLE]],
        count=len(chosen.people),
        applications=chosen.applications,
    )


def _person(person: JsonObject, world: MockWorld) -> KnownPerson:
    email = next((it for it in person["emails"] if it["primary"]), person["emails"][0])
    tokens = [token for token in world.tokens if token["person"] == person["slug"]]
    return KnownPerson(
        slug=person["slug"],
        display_name=person["display_name"],
        email=email["email"],
        hash=email["hash"],
        about=person["about"] or "",
        username=person.get("username"),
        password=person.get("password"),
        tokens=[f"{it['token']} ({it['kind']}: {' '.join(it['scopes'])})" for it in tokens],
    )


def issue_token(
    ctx: ToolContext,
    person: Annotated[str, Field(description="Slug of the person; list_people lists them.")],
    scopes: Annotated[list[str] | None, Field(description="Scopes to grant; null for all.")] = None,
    expires_in: Annotated[
        int | None, Field(description="Lifetime in seconds of the world's time; null for none.")
    ] = None,
    kind: Annotated[str, Field(description="oauth or api_key.")] = "oauth",
    world: World = None,
) -> IssuedToken:
    """Issues a bearer token for a person, without a sign-in."""
    body: dict[str, Any] = {"person": person, "kind": kind}
    optional = {"scopes": scopes, "expires_in": expires_in}
    body |= {name: option for name, option in optional.items() if option is not None}
    issued = world_of(ctx, world).admin.call("POST", "/tokens", json=body)
    return IssuedToken(
        token=issued["token"],
        person=issued["person"],
        scopes=issued["scopes"],
        expires=issued.get("expires"),
    )


def set_clock(
    ctx: ToolContext,
    now: Annotated[
        str | None, Field(description="The time to show, in ISO 8601 with an offset.")
    ] = None,
    advance_seconds: Annotated[float, Field(description="Seconds to move forward.")] = 0,
    frozen: Annotated[
        bool | None, Field(description="Whether the clock stands still; null leaves it.")
    ] = None,
    world: World = None,
) -> WorldClock:
    """Moves or stops the world's clock, so that tokens expire and rate limits renew. Without arguments it only reads it."""
    admin = world_of(ctx, world).admin
    settings = {"now": now, "frozen": frozen}
    changes = {name: value for name, value in settings.items() if value is not None}
    if changes:
        admin.call("PUT", "/clock", json=changes)
    if advance_seconds:
        admin.call("POST", "/clock/advance", json={"seconds": advance_seconds})
    clock = admin.call("GET", "/clock")
    return WorldClock(now=clock["now"], frozen=clock["frozen"])


def set_faults(
    ctx: ToolContext,
    faults: Annotated[
        list[dict[str, Any]],
        Field(
            description="The faults that there are then; an empty list lifts all. Members, each optional: operation"
            " (operationId), person, times, share (0 to 1), delay (as {type: fixed, milliseconds: 500}), status, effect (reset, truncate, slow,"
            " malformed-json, wrong-content-type, missing-field, null-field, wrong-type, extra-field, stale-field,"
            " fail-after), field, seconds."
        ),
    ],
    world: World = None,
) -> SetFaults:
    """Replaces the injected failures of the world: statuses, delays, broken connections and bodies."""
    admin = world_of(ctx, world).admin
    earlier = [fault["id"] for fault in admin.call("GET", "/faults")]
    with ExitStack() as undoing:  # where one of them cannot be, the faults stay what they were
        for fault in faults:
            made = admin.call("POST", "/faults", json=fault)
            undoing.callback(admin.call, "DELETE", f"/faults/{made['id']}")
        undoing.pop_all()
    for name in earlier:
        admin.call("DELETE", f"/faults/{name}")
    return SetFaults(faults=admin.call("GET", "/faults"))

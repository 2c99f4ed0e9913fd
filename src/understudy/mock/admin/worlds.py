"""Handlers of the admin API for worlds and their snapshots (``openapi/admin.yaml``)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from understudy.errors import BadRequest, StartupError
from understudy.interface.rules import bundled_choices
from understudy.mock.admin.context import AdminContext, AdminHandlers
from understudy.mock.fixtures.listing import listing, with_people_only
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.clock import written
from understudy.mock.server.worlds import COOKIE, WORLD_HEADER, Snapshot, World


def list_worlds(
    admin: AdminContext, call: Call, *, limit: int = 100, after: int = -1
) -> HandlerResponse:
    """Responds to ``GET /worlds``: returns a page, with a link to the next page (RFC 8288)."""
    page = admin.worlds.page(after, limit)
    listed = [_as_json(admin, call, world) for world in page.worlds]
    if page.last is None:
        return HandlerResponse(listed)
    following = f"{call.site_url}/__admin/worlds?limit={limit}&after={page.last}"
    return HandlerResponse(listed, headers=(("link", f'<{following}>; rel="next"'),))


def create_world(
    admin: AdminContext, call: Call, *, body: Mapping[str, Any] | None = None
) -> HandlerResponse:
    """Responds to ``POST /worlds``.

    Raises:
        BadRequest: The name, a person or a choice is invalid.
        NotFound: There is no such snapshot or world to fork.
        Conflict: There is a world of that name.
    """
    wanted = body or {}
    idle = wanted.get("idle_seconds")
    world = admin.worlds.create(
        wanted.get("name"),
        _start(admin, wanted),
        idle=None if idle is None else timedelta(seconds=idle),
    )
    return HandlerResponse({**_as_json(admin, call, world), **_inhabitants(admin, world)}, 201)


def _start(admin: AdminContext, wanted: Mapping[str, Any]) -> Snapshot:
    """Returns the initial state of a new world."""
    people = wanted.get("people")
    start = _model(admin, wanted)
    if people is not None:
        start = start._replace(baseline=with_people_only(start.baseline, people))
    if "seed" in wanted:
        start = start._replace(seed=wanted["seed"], issued=0)
    texts = [f"{name}={option}" for name, option in wanted.get("choices", {}).items()]
    try:
        return start._replace(choices={**start.choices, **bundled_choices(texts)})
    except StartupError as error:
        msg = f"choices: {error}"
        raise BadRequest(msg) from error


def _model(admin: AdminContext, wanted: Mapping[str, Any]) -> Snapshot:
    """Returns the state that a new world copies: of a world, a snapshot, or the fixtures."""
    models = [name for name in ("snapshot", "fork", "people") if name in wanted]
    if len(models) > 1:
        msg = f"{models[1]}: a {models[0]} has its own people; leave one of the two out."
        raise BadRequest(msg)
    if "fork" in wanted:
        return admin.worlds.get(wanted["fork"]).snapshot()
    if "snapshot" in wanted:
        return admin.worlds.snapshot(wanted["snapshot"])
    return admin.worlds.default.beginning


def get_world(admin: AdminContext, call: Call, name: str) -> HandlerResponse:
    """Responds to ``GET /worlds/{name}``.

    Raises:
        NotFound: There is no such world.
    """
    world = admin.worlds.get(name)
    return HandlerResponse({**_as_json(admin, call, world), **_inhabitants(admin, world)})


def delete_world(admin: AdminContext, _call: Call, name: str) -> HandlerResponse:
    """Responds to ``DELETE /worlds/{name}``.

    Raises:
        NotFound: There is no such world.
        BadRequest: The default world cannot be deleted.
    """
    admin.worlds.remove(name)
    return HandlerResponse(status=204)


def reset(admin: AdminContext, call: Call) -> HandlerResponse:
    """Responds to ``POST /reset``: restores the world's initial state and empties its journal."""
    call.world.become(call.world.beginning)
    call.world.journal.forget()
    return HandlerResponse(_as_json(admin, call, call.world))


def list_snapshots(admin: AdminContext, _call: Call) -> HandlerResponse:
    """Responds to ``GET /snapshots``."""
    snapshots = admin.worlds.snapshots.items()
    return HandlerResponse([_snapshot_as_json(name, snapshot) for name, snapshot in snapshots])


def create_snapshot(admin: AdminContext, call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``POST /snapshots``: saves the world's state, and replaces an older snapshot."""
    snapshot = call.world.snapshot()
    admin.worlds.keep_snapshot(body["name"], snapshot)
    return HandlerResponse(_snapshot_as_json(body["name"], snapshot), 201)


def delete_snapshot(admin: AdminContext, _call: Call, name: str) -> HandlerResponse:
    """Responds to ``DELETE /snapshots/{name}``.

    Raises:
        NotFound: There is no such snapshot.
    """
    admin.worlds.drop_snapshot(name)
    return HandlerResponse(status=204)


def restore_snapshot(admin: AdminContext, call: Call, name: str) -> HandlerResponse:
    """Responds to ``POST /snapshots/{name}/restore``: restores the saved state.

    Raises:
        NotFound: There is no such snapshot.
    """
    call.world.become(admin.worlds.snapshot(name))
    return HandlerResponse(_as_json(admin, call, call.world))


def _as_json(admin: AdminContext, call: Call, world: World) -> dict[str, Any]:
    site = call.site_url.removesuffix(call.world.prefix) + world.prefix
    sign_in = call.authorization_url.removesuffix(call.world.prefix) + world.prefix
    return {
        "name": world.name,
        "base_url": site + admin.base_path,
        "auth_url": sign_in,
        "admin_url": f"{site}/__admin",
        "header": {WORLD_HEADER.decode().title(): world.name},
        "cookie": f"{COOKIE}={world.name}",
        "seed": world.identifiers.seed,
        "now": written(world.clock.now()),
        "requests": world.journal.total,
        "faults": sum(it.stub is None for it in world.faults.values()),
        "changes": world.changed(),
        "idle_seconds": None if world.idle is None else world.idle.total_seconds(),
    }


def _snapshot_as_json(name: str, snapshot: Snapshot) -> dict[str, Any]:
    changes = sum(len(records) for records in snapshot.overlay.values())
    return {"name": name, "seed": snapshot.seed, "changes": changes}


def _inhabitants(admin: AdminContext, world: World) -> dict[str, Any]:
    """Returns the first people, tokens and applications of a world; all could take megabytes.

    Tokens are left out for another service, which accepts any: they would be those of this service.
    """
    listed = listing(world, world.clock.now(), limit=100)
    return listed if admin.apis[0].needs_tokens else {**listed, "tokens": []}


ADMIN_HANDLERS: AdminHandlers = {
    ("GET", "/worlds"): list_worlds,
    ("POST", "/worlds"): create_world,
    ("GET", "/worlds/{name}"): get_world,
    ("DELETE", "/worlds/{name}"): delete_world,
    ("POST", "/reset"): reset,
    ("GET", "/snapshots"): list_snapshots,
    ("POST", "/snapshots"): create_snapshot,
    ("DELETE", "/snapshots/{name}"): delete_snapshot,
    ("POST", "/snapshots/{name}/restore"): restore_snapshot,
}

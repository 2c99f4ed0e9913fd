"""Creates, lists, resets, saves and deletes worlds (``openapi/admin.yaml``)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from understudy.errors import BadRequest, StartupError
from understudy.mock.fixtures.listing import listing, with_people_only
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.clock import written
from understudy.mock.server.handlers import Handlers
from understudy.mock.server.preferences import Choose
from understudy.mock.server.world_selection import Worlds
from understudy.mock.server.worlds import COOKIE, WORLD_HEADER, Snapshot, World


class WorldsAdmin:
    """The handlers that need to know of every world.

    Args:
        worlds: All of them.
        base_path: Of the resource API.
        choose: Reads ``switch=option`` texts.
    """

    def __init__(self, worlds: Worlds, base_path: str, choose: Choose) -> None:
        self._worlds = worlds
        self._base_path = base_path
        self._choose = choose

    @property
    def handlers(self) -> Handlers:
        """Method and path to handler."""
        return {
            ("GET", "/worlds"): self.list_worlds,
            ("POST", "/worlds"): self.create_world,
            ("GET", "/worlds/{name}"): self.get_world,
            ("DELETE", "/worlds/{name}"): self.delete_world,
            ("POST", "/reset"): self.reset,
            ("GET", "/snapshots"): self.list_snapshots,
            ("POST", "/snapshots"): self.create_snapshot,
            ("DELETE", "/snapshots/{name}"): self.delete_snapshot,
            ("POST", "/snapshots/{name}/restore"): self.restore_snapshot,
        }

    def list_worlds(self, call: Call, *, limit: int = 100, after: int = -1) -> HandlerResponse:
        """Responds to ``GET /worlds``: a page, and a link to the next one (RFC 8288)."""
        page = self._worlds.page(after, limit)
        listed = [self._as_json(call, world) for world in page.worlds]
        if page.last is None:
            return HandlerResponse(listed)
        following = f"{call.site_url}/__admin/worlds?limit={limit}&after={page.last}"
        return HandlerResponse(listed, headers=(("link", f'<{following}>; rel="next"'),))

    def create_world(self, call: Call, *, body: Mapping[str, Any] | None = None) -> HandlerResponse:
        """Responds to ``POST /worlds``.

        Raises:
            BadRequest: The name, a person or a choice is not as it must be.
            NotFound: There is no such snapshot.
            Conflict: There is a world of that name.
        """
        wanted = body or {}
        idle = wanted.get("idle_seconds")
        world = self._worlds.create(
            wanted.get("name"),
            self._start(wanted),
            idle=None if idle is None else timedelta(seconds=idle),
        )
        return HandlerResponse({**self._as_json(call, world), **_inhabitants(world)}, 201)

    def _start(self, wanted: Mapping[str, Any]) -> Snapshot:
        """Returns what a new world is to begin with."""
        people = wanted.get("people")
        start = self._model(wanted)
        if people is not None:
            start = start._replace(baseline=with_people_only(start.baseline, people))
        if "seed" in wanted:
            start = start._replace(seed=wanted["seed"], issued=0)
        texts = [f"{name}={option}" for name, option in wanted.get("choices", {}).items()]
        try:
            return start._replace(choices={**start.choices, **self._choose(texts)})
        except StartupError as error:
            msg = f"choices: {error}"
            raise BadRequest(msg) from error

    def _model(self, wanted: Mapping[str, Any]) -> Snapshot:
        """Returns the state that a new world is made after."""
        models = [name for name in ("snapshot", "fork", "people") if name in wanted]
        if len(models) > 1:
            msg = f"{models[1]}: a {models[0]} has its own people; leave one of the two out."
            raise BadRequest(msg)
        if "fork" in wanted:
            return self._worlds.get(wanted["fork"]).snapshot()
        if "snapshot" in wanted:
            return self._worlds.snapshot(wanted["snapshot"])
        return self._worlds.beginning()

    def get_world(self, call: Call, name: str) -> HandlerResponse:
        """Responds to ``GET /worlds/{name}``.

        Raises:
            NotFound: There is no such world.
        """
        world = self._worlds.get(name)
        return HandlerResponse({**self._as_json(call, world), **_inhabitants(world)})

    def delete_world(self, _call: Call, name: str) -> HandlerResponse:
        """Responds to ``DELETE /worlds/{name}``.

        Raises:
            NotFound: There is no such world.
            BadRequest: It is the default one.
        """
        self._worlds.remove(name)
        return HandlerResponse(status=204)

    def reset(self, call: Call) -> HandlerResponse:
        """Responds to ``POST /reset``: the world is as it began, its journal empty."""
        call.world.become(self._worlds.beginning(call.world.name))
        call.world.journal.forget()
        return HandlerResponse(self._as_json(call, call.world))

    def list_snapshots(self, _call: Call) -> HandlerResponse:
        """Responds to ``GET /snapshots``."""
        return HandlerResponse([_kept(name, kept) for name, kept in self._worlds.snapshots.items()])

    def create_snapshot(self, call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
        """Responds to ``POST /snapshots``: keeps what the world is now; an older one is replaced."""
        kept = call.world.snapshot()
        self._worlds.keep_snapshot(body["name"], kept)
        return HandlerResponse(_kept(body["name"], kept), 201)

    def delete_snapshot(self, _call: Call, name: str) -> HandlerResponse:
        """Responds to ``DELETE /snapshots/{name}``.

        Raises:
            NotFound: There is no such snapshot.
        """
        self._worlds.drop_snapshot(name)
        return HandlerResponse(status=204)

    def restore_snapshot(self, call: Call, name: str) -> HandlerResponse:
        """Responds to ``POST /snapshots/{name}/restore``: the world becomes what was kept.

        Raises:
            NotFound: There is no such snapshot.
        """
        call.world.become(self._worlds.snapshot(name))
        return HandlerResponse(self._as_json(call, call.world))

    def _as_json(self, call: Call, world: World) -> dict[str, Any]:
        idle = self._worlds.idle(world)
        site = call.site_url.removesuffix(call.world.prefix) + world.prefix
        sign_in = call.authorization_url.removesuffix(call.world.prefix) + world.prefix
        return {
            "name": world.name,
            "base_url": site + self._base_path,
            "auth_url": sign_in,
            "admin_url": f"{site}/__admin",
            "header": {WORLD_HEADER.decode().title(): world.name},
            "cookie": f"{COOKIE}={world.name}",
            "seed": world.identifiers.seed,
            "now": written(world.clock.now()),
            "requests": world.journal.total,
            "faults": len(world.faults),
            "changes": world.changed(),
            "idle_seconds": None if idle is None else idle.total_seconds(),
        }


def _kept(name: str, kept: Snapshot) -> dict[str, Any]:
    changes = sum(len(records) for records in kept.overlay.values())
    return {"name": name, "seed": kept.seed, "changes": changes}


def _inhabitants(world: World) -> dict[str, Any]:
    """Returns the first people, tokens and applications of a world; a crowd would be megabytes."""
    return listing(world, world.clock.now(), limit=100)

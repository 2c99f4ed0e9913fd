"""Saves a world before one of its requests as a capsule, and opens one (``openapi/admin.yaml``)."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import orjson

from understudy.errors import BadRequest, Conflict, NotFound
from understudy.mock.admin.capsule_files import Capsule, CapsuleSettings, each_text, pack, unpack
from understudy.mock.admin.capsule_journal import recorded, restored
from understudy.mock.admin.capsule_secrets import SecretReferences, SecretResolver
from understudy.mock.admin.exporting import in_worker
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.clock import FIRST, LAST, ClockSetting, machine_time, written
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.handlers import Handlers
from understudy.mock.server.journaling import state_before
from understudy.mock.server.windows import Windows
from understudy.mock.server.worlds import Baseline, Snapshot, World
from understudy.mock.store.collections import COLLECTIONS

_TYPES = {collection.name: collection.type for collection in COLLECTIONS}


class CapsulesAdmin:
    """The handlers of capsules.

    Args:
        document: The document in force.
        served: Every operation of the mock.
    """

    def __init__(self, document: Mapping[str, Any], served: Sequence[Endpoint]) -> None:
        self._document = document
        self._endpoints = {endpoint.operation.operation_id: endpoint for endpoint in served}
        self._digests: dict[str, tuple[object, str]] = {}

    @property
    def handlers(self) -> Handlers:
        """Method and path to handler."""
        return {("GET", "/capsule"): self.get_capsule, ("POST", "/capsule"): self.open_capsule}

    async def get_capsule(self, call: Call, *, request: int | None = None) -> HandlerResponse:
        """Responds to ``GET /capsule``.

        Raises:
            NotFound: The journal does not remember the request.
            Conflict: The history does not reach back so far.
            LimitExceeded: It takes too long.
        """
        world = call.world
        if request is not None and world.journal.get(request) is None:
            msg = f"The journal of this world does not remember a request {request}."
            raise NotFound(msg)
        contexts = tuple(world.journal)
        copy, now = world.copy(), world.clock.now()
        if request is not None:
            copy.become(state_before(world, request))
            now = contexts[request - world.journal.total - 1].started
        total, issued = world.journal.total, world.identifiers.count
        packed = await in_worker(
            lambda: pack(self._capsule(copy, now, (request, total, issued), contexts))
        )
        name = f"{world.name}-{request}" if request else world.name
        headers = (("content-disposition", f'attachment; filename="{name}.capsule.zip"'),)
        return HandlerResponse(packed, 200, "application/zip", headers)

    def _capsule(
        self,
        world: World,
        now: datetime,
        numbers: tuple[int | None, int, int],
        contexts: Sequence[Any],
    ) -> Capsule:
        references = SecretReferences(world, contexts, numbers[2])
        changes: dict[str, dict[str, Any]] = {}
        for collection, key, record in world.changes():
            shown = None if record is None else orjson.loads(msgspec.json.encode(record))
            records = changes.setdefault(collection, {})
            records[references.hidden(key)] = each_text(shown, references.hidden)
        return Capsule(
            format="understudy-capsule-1",
            world=world.name,
            request=numbers[0],
            baseline=self._digest("baseline", world.baseline),
            document=self._digest("document", self._document),
            now=now,
            settings=CapsuleSettings(
                world.identifiers.seed,
                world.identifiers.count,
                dict(world.choices),
                world.limits,
                world.faults,
                dict(world.windows),
            ),
            changes=changes,
            total=numbers[1],
            journal=[recorded(context, references) for context in contexts],
        )

    async def open_capsule(self, call: Call, *, body: bytes) -> HandlerResponse:
        """Responds to ``POST /capsule``.

        Raises:
            BadRequest: The body is not a capsule.
            Conflict: It was made of another world, other fixtures or another document.
            LimitExceeded: It holds too much, or takes too long.
        """
        world = call.world
        capsule = unpack(body)
        if capsule.world != world.name:
            msg = (
                f"The capsule was made of the world {capsule.world!r}, and this is {world.name!r}; "
                "open it in a world of the same name."
            )
            raise Conflict(msg, headers=(("x-mock-world", capsule.world),))
        baseline = await in_worker(lambda: self._digest("baseline", world.baseline))
        _expect_same("fixtures", capsule.baseline, baseline, "--fixtures")
        document = self._digest("document", self._document)
        _expect_same("document", capsule.document, document, "--document")
        resolver = SecretResolver(world.baseline, capsule.settings.seed, world.mark)
        try:
            snapshot = await in_worker(lambda: _state(capsule, world.baseline, resolver))
            contexts = restored(capsule.journal, world, self._endpoints, resolver)
        except (ValueError, TypeError) as error:
            msg = f"The capsule cannot be opened: {error}."
            raise BadRequest(msg) from error
        world.become(snapshot)
        world.journal.resume(max(capsule.total - len(contexts), 0))
        for context in contexts:
            world.journal.add(context)
        world.history.lose()
        about = {"world": world.name, "request": capsule.request, "requests": len(contexts)}
        return HandlerResponse({**about, "now": written(world.clock.now())})

    def _digest(self, name: str, value: Any) -> str:
        """Returns the digest of fixtures or of a document, which is computed once."""
        known = self._digests.get(name)
        if known is None or known[0] is not value:
            known = (value, _baseline_digest(value) if name == "baseline" else _json_digest(value))
            self._digests[name] = known
        return known[1]


def _expect_same(what: str, expected: str, actual: str, option: str) -> None:
    if expected != actual:
        msg = (
            f"The capsule was made with another {what} (digest {expected[:12]}; this mock has "
            f"{actual[:12]}); start the mock with the same {option}."
        )
        raise Conflict(msg)


def _json_digest(document: Any) -> str:
    return hashlib.sha256(
        orjson.dumps(document, option=orjson.OPT_SORT_KEYS, default=str)
    ).hexdigest()


def _baseline_digest(baseline: Baseline) -> str:
    digest = hashlib.sha256()
    encoder = msgspec.msgpack.Encoder(order="deterministic")
    for name in sorted(baseline):
        for key, record in baseline[name].items():
            digest.update(encoder.encode((name, key, record)))
    return digest.hexdigest()


def _state(capsule: Capsule, baseline: Baseline, resolver: SecretResolver) -> Snapshot:
    """Returns the state of a capsule.

    Raises:
        ValueError: A record or a reference is invalid.
    """
    overlay: dict[str, dict[str, Any]] = {}
    for collection, members in capsule.changes.items():
        kind = collection.partition(" ")[0]
        if kind not in _TYPES:
            msg = f"there is no collection {collection!r}"
            raise ValueError(msg)
        for key, record in members.items():
            text = orjson.dumps(each_text(record, resolver.revealed))
            value = None if record is None else msgspec.json.decode(text, type=_TYPES[kind])
            overlay.setdefault(collection, {})[resolver.revealed(key)] = value
    settings = capsule.settings
    now = min(max(FIRST, capsule.now), LAST)
    return Snapshot(
        baseline=baseline,
        overlay=overlay,
        clock=ClockSetting(machine_time(), now, 0.0),
        seed=settings.seed,
        issued=settings.issued,
        choices=settings.choices,
        windows=Windows(settings.windows),
        limits=settings.limits,
        faults=settings.faults,
    )

"""Reports what a test suite used of the contract: operations, statuses and identities."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from understudy.mock.admin.exercised_picture import picture
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.handlers import Handlers
from understudy.mock.server.journal import Exercised
from understudy.mock.server.world_selection import Worlds


class Declared(NamedTuple):
    """The statuses and identities that a document declares for one operation.

    Attributes:
        operation: operationId.
        statuses: As the document writes them: ``200``, ``4XX``, ``default``.
        identities: Who may call it.
    """

    operation: str
    statuses: tuple[str, ...]
    identities: tuple[str, ...]


class ExercisedAdmin:
    """The handler of the report.

    Args:
        worlds: All the worlds of the mock.
        declared: Every operation of the resource API and the authorization server.
    """

    def __init__(self, worlds: Worlds, declared: Sequence[Declared]) -> None:
        self._worlds = worlds
        self._declared = declared

    @property
    def handlers(self) -> Handlers:
        """Method and path to handler."""
        return {
            ("GET", "/exercised"): self.get_exercised,
            ("GET", "/exercised/picture"): self.get_picture,
        }

    async def get_exercised(
        self, call: Call, *, worlds: str = "this", threshold: float | None = None
    ) -> HandlerResponse:
        """Responds to ``GET /exercised``; of every declared part, whether it was seen."""
        content = await self._report(call, worlds)
        if threshold is not None:
            share = content["exercised"] / max(content["declared"], 1)
            content["reached"] = share >= threshold
        return HandlerResponse(content)

    async def get_picture(self, call: Call, *, worlds: str = "this") -> HandlerResponse:
        """Responds to ``GET /exercised/picture``: the same report, drawn."""
        drawn = picture(await self._report(call, worlds)).encode()
        headers = (("content-disposition", 'attachment; filename="exercised.svg"'),)
        return HandlerResponse(drawn, media_type="image/svg+xml", headers=headers)

    async def _report(self, call: Call, worlds: str) -> dict[str, Any]:
        is_one = worlds == "this"
        seen = call.world.journal.exercised if is_one else await self._worlds.exercised()
        operations = [_operation(declared, seen) for declared in self._declared]
        parts = [used for operation in operations for used in operation["parts"].values()]
        share = sum(parts) / len(parts) if parts else 0.0
        return {
            "share": round(share, 4),
            "exercised": sum(parts),
            "declared": len(parts),
            "operations": operations,
        }


def _operation(declared: Declared, seen: dict[Exercised, int]) -> dict[str, Any]:
    exercised = [
        (part, count) for part, count in seen.items() if part.operation == declared.operation
    ]
    identities = {part.identity for part, _ in exercised}
    return {
        "operation": declared.operation,
        "requests": sum(count for _, count in exercised),
        "parts": {
            **{f"status {text}": _is_seen(text, declared, exercised) for text in declared.statuses},
            **{f"as {name}": name in identities for name in declared.identities},
        },
        "seen": [
            {"status": part.status, "identity": part.identity, "count": count}
            for part, count in sorted(exercised)
        ],
    }


def _is_seen(text: str, declared: Declared, exercised: list[tuple[Exercised, int]]) -> bool:
    statuses = {str(part.status) for part, _ in exercised}
    if text == "default":
        named = {other for other in declared.statuses if other != "default"}
        return any(s not in named and f"{s[0]}XX" not in named for s in statuses)
    if text.endswith("XX"):
        return any(status[0] == text[0] for status in statuses)
    return text in statuses

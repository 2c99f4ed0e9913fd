"""Reports and draws the parts of the contract that a test suite used: statuses and identities."""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape

from understudy.mock.admin.context import AdminContext, AdminHandlers, of_service
from understudy.mock.server.call import Call, HandlerResponse, attachment
from understudy.mock.server.endpoint import Endpoint, endpoints
from understudy.mock.server.journal import Exercised

_WIDTH, _ROW, _LEFT, _TOP = 720, 22, 210, 52
"""Pixels: the whole width, the height of a row, where the cells begin, and the first row."""

_CELL, _GAP = 14, 3
"""Pixels: the size of a cell, and the space to the next one."""

_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1c2430}"
    ".t{font-weight:600;font-size:15px}.p{fill:#ffffff}.y{fill:#1a7f4b}.n{fill:#d5dae1}"
    "@media(prefers-color-scheme:dark)"
    "{text{fill:#e6e9ee}.p{fill:#151a21}.y{fill:#3fb97a}.n{fill:#3a424e}}"
)


def picture(report: Any) -> str:
    """Draws a report of ``GET /exercised`` as SVG: a row for each operation, a cell for each part."""
    operations = report["operations"]
    height = _TOP + _ROW * len(operations) + 12
    share = (
        f"{report['share']:.0%} of the contract exercised: "
        f"{report['exercised']} of {report['declared']} parts"
    )
    rows = [line for place, it in enumerate(operations) for line in _row(place, it)]
    size = f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
            f"<title>{escape(share)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="p" width="{_WIDTH}" height="{height}" rx="6"/>',
            f'<text class="t" x="16" y="30">{escape(share)}</text>',
            *rows,
            "</svg>\n",
        ]
    )


def _row(place: int, operation: Any) -> Iterator[str]:
    top = _TOP + place * _ROW
    name = escape(operation["operation"])
    yield f'<text x="16" y="{top + 12}">{name}</text>'
    for number, (part, is_used) in enumerate(operation["parts"].items()):
        left = _LEFT + number * (_CELL + _GAP)
        state, kind = ("exercised", "y") if is_used else ("never", "n")
        yield (
            f'<rect class="{kind}" x="{left}" y="{top}" width="{_CELL}" height="{_CELL}" rx="3">'
            f"<title>{name}: {escape(part)}, {state}</title></rect>"
        )


_IDENTITIES: Mapping[str, tuple[str, ...]] = {
    "unread": ("anonymous",),
    "optional": ("anonymous", "api_key", "oauth"),
    "required": ("oauth",),
}
"""The identities that may call an operation, by its need for a token."""


async def get_exercised(
    admin: AdminContext, call: Call, *, worlds: str = "this", threshold: float | None = None
) -> HandlerResponse:
    """Responds to ``GET /exercised``: tells of every declared part whether it was used."""
    content = await _report(admin, call, worlds)
    if threshold is not None:
        share = content["exercised"] / max(content["declared"], 1)
        content["reached"] = share >= threshold
    return HandlerResponse(content)


async def get_picture(admin: AdminContext, call: Call, *, worlds: str = "this") -> HandlerResponse:
    """Responds to ``GET /exercised/picture``: draws the report of ``GET /exercised``."""
    drawn = picture(await _report(admin, call, worlds)).encode()
    return attachment(drawn, "exercised.svg", "image/svg+xml")


async def _report(admin: AdminContext, call: Call, worlds: str) -> dict[str, Any]:
    is_one = worlds == "this"
    seen = call.world.journal.exercised if is_one else await admin.worlds.exercised()
    operations = [_operation(endpoint, seen) for endpoint in _declared(admin)]
    parts = [used for operation in operations for used in operation["parts"].values()]
    share = sum(parts) / len(parts) if parts else 0.0
    return {
        "share": round(share, 4),
        "exercised": sum(parts),
        "declared": len(parts),
        "operations": operations,
    }


def _declared(admin: AdminContext) -> Iterable[Endpoint]:
    """Returns the operations of the resource API, and those that issue tokens if any needs one."""
    own = endpoints(admin.apis[0])
    has_tokens = any(it.access.token != "unread" for it in own)
    return of_service(admin.endpoints) if has_tokens else own


def _operation(endpoint: Endpoint, seen: dict[Exercised, int]) -> dict[str, Any]:
    name, declared = endpoint.operation.operation_id, endpoint.operation.responses
    exercised = [(part, count) for part, count in seen.items() if part.operation == name]
    statuses = {str(part.status) for part, _ in exercised}
    identities = {part.identity for part, _ in exercised}
    needs_user = endpoint.access.scopes is not None
    callers = ("oauth",) if needs_user else _IDENTITIES[endpoint.access.token]
    return {
        "operation": name,
        "requests": sum(count for _, count in exercised),
        "parts": {
            **{f"status {text}": _is_seen(text, declared, statuses) for text in declared},
            **{f"as {caller}": caller in identities for caller in callers},
        },
        "seen": [
            {"status": part.status, "identity": part.identity, "count": count}
            for part, count in sorted(exercised)
        ],
    }


def _is_seen(text: str, declared: Container[str], statuses: set[str]) -> bool:
    if text == "default":
        return any(s not in declared and f"{s[0]}XX" not in declared for s in statuses)
    if text.endswith("XX"):
        return any(status[0] == text[0] for status in statuses)
    return text in statuses


ADMIN_HANDLERS: AdminHandlers = {
    ("GET", "/exercised"): get_exercised,
    ("GET", "/exercised/picture"): get_picture,
}

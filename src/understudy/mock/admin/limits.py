"""Handlers of the admin API for switches and rate limits, and for the rules and documents in force."""

from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins

from understudy.errors import BadRequest, NotFound, StartupError, nearest
from understudy.interface.rules import Rule, Switch, bundled_choices, bundled_rules
from understudy.mock.admin.context import AdminContext, AdminHandlers
from understudy.mock.admin.explaining import rules_of
from understudy.mock.server.call import Call, HandlerResponse, Handlers
from understudy.mock.server.clock import written
from understudy.mock.server.security import ANONYMOUS
from understudy.mock.server.windows import WINDOW, Window
from understudy.mock.server.worlds import World
from understudy.mock.store.people import PEOPLE


def list_choices(call: Call) -> HandlerResponse:
    """Responds to ``GET /choices``: lists every switch with the option in force in this world."""
    chosen = call.world.choices
    return HandlerResponse(
        [
            _choice(rule.switch, chosen.get(rule.switch.name, rule.switch.default), rule)
            for rule in bundled_rules()
            if rule.switch is not None
        ]
    )


def change_choices(call: Call, *, body: Mapping[str, str]) -> HandlerResponse:
    """Responds to ``PATCH /choices``.

    Raises:
        BadRequest: There is no such switch or option.
    """
    try:
        chosen = bundled_choices([f"{name}={option}" for name, option in body.items()])
    except StartupError as error:
        raise BadRequest(str(error)) from error
    call.world.choices = {**call.world.choices, **chosen}
    call.world.note_change()
    return list_choices(call)


def _choice(switch: Switch, option: str, rule: Rule) -> dict[str, Any]:
    listed = {
        "name": switch.name,
        "option": option,
        "default": switch.default,
        "options": dict(switch.options),
        "rule": rule.id,
        "statement": rule.statement,
        "section": rule.section,
        "status": rule.status,
        "why": rule.why,
    }
    if switch.error is not None:
        return {**listed, "error": to_builtins(switch.error)}
    return listed if switch.range is None else {**listed, "range": to_builtins(switch.range)}


def list_limits(call: Call) -> HandlerResponse:
    """Responds to ``GET /limits``: lists callers with requests this hour or a changed limit."""
    names = dict.fromkeys([*call.world.limits, *call.world.windows])
    return HandlerResponse([_as_json(call.world, name) for name in names])


def put_limit(call: Call, principal: str, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``PUT /limits/{principal}``: changes a limit, or sets how much of it is used.

    Raises:
        NotFound: There is no such person.
    """
    world = call.world
    _expect_principal(world, principal)
    if "limit" in body:
        world.limits[principal] = body["limit"]
    if "used" in body:
        for name in _windows(call, principal):
            dropped = world.windows.keep(name, Window(world.clock.now(), body["used"]))
            world.note_windows((name, *dropped))
    world.note_change()
    return HandlerResponse(_as_json(world, principal))


def delete_limit(call: Call, principal: str) -> HandlerResponse:
    """Responds to ``DELETE /limits/{principal}``: restores the interface's limit, with none used.

    Raises:
        NotFound: There is no such person.
    """
    _expect_principal(call.world, principal)
    call.world.limits.pop(principal, None)
    for name in _windows(call, principal):
        call.world.windows.pop(name, None)
        call.world.note_windows((name,))
    call.world.note_change()
    return HandlerResponse(status=204)


def _windows(call: Call, principal: str) -> list[str]:
    """Returns the names of a principal's windows; anonymous clients have one for each address."""
    if principal != ANONYMOUS:
        return [principal]
    seen = [name for name in call.world.windows if name.startswith("address ")]
    return list(dict.fromkeys([*seen, f"address {call.client}"]))


def _expect_principal(world: World, principal: str) -> None:
    if principal == ANONYMOUS or principal.startswith("address "):
        return
    if world.get(PEOPLE, principal) is not None:
        return
    known = [ANONYMOUS, *world.keys(PEOPLE)]
    hint = nearest(principal, known) or f"; name a person by slug, or {ANONYMOUS}."
    msg = f"There is no {principal!r} to limit{hint}"
    raise NotFound(msg)


def _as_json(world: World, name: str) -> dict[str, Any]:
    window = world.windows.get(name)
    is_open = window is not None and not window.is_closed(world.clock.now())
    return {
        "principal": name,
        "limit": world.limits.get(name),
        "used": window.used if window and is_open else 0,
        "reset": written(window.opened + WINDOW) if window and is_open else None,
    }


HANDLERS: Handlers = {
    ("GET", "/choices"): list_choices,
    ("PATCH", "/choices"): change_choices,
    ("GET", "/limits"): list_limits,
    ("PUT", "/limits/{principal}"): put_limit,
    ("DELETE", "/limits/{principal}"): delete_limit,
}


def list_rules(admin: AdminContext, _call: Call) -> HandlerResponse:
    """Responds to ``GET /rules``: lists the rules, each with the operations that uphold it."""
    holding: dict[str, list[str]] = {}
    for name, endpoint in admin.endpoints.items():
        for rule in rules_of(endpoint.binding.handler):
            holding.setdefault(rule, []).append(name)
    members = ("id", "statement", "section", "status", "source")
    return HandlerResponse(
        [
            {
                **{name: getattr(rule, name) for name in members},
                "operations": holding.get(rule.id, []),
            }
            for rule in bundled_rules()
        ]
    )


def list_documents(admin: AdminContext, _call: Call) -> HandlerResponse:
    """Responds to ``GET /documents``."""
    sites = ("resource", *("authorization" for _ in admin.apis[1:]))
    return HandlerResponse(
        [
            {"site": site, "base_path": api.base_path, "document": api.document.raw}
            for site, api in zip(sites, admin.apis, strict=True)
        ]
    )


def list_facts(admin: AdminContext, _call: Call) -> HandlerResponse:
    """Responds to ``GET /facts``: returns the facts files of ``serve --facts``."""
    return HandlerResponse(to_builtins(list(admin.facts)))


ADMIN_HANDLERS: AdminHandlers = {
    ("GET", "/rules"): list_rules,
    ("GET", "/documents"): list_documents,
    ("GET", "/facts"): list_facts,
}

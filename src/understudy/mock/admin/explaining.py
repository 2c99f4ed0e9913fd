"""Explains a response: operation, person, rules, switches, fault and fixture."""

from functools import lru_cache
from http import HTTPStatus
from types import CodeType, FunctionType, ModuleType
from typing import Any

from understudy.exchange.masking import masked_breach
from understudy.interface.rules import bundled_rules
from understudy.mock.server.request_context import RequestContext
from understudy.mock.store.hashing import is_hash
from understudy.mock.store.people import PEOPLE, SLUGS_BY_HASH, is_changed

_DEPTH = 3
"""Levels of calls below a handler that are searched for rules; deeper functions serve all handlers."""


def explain(context: RequestContext) -> dict[str, Any]:
    """Returns the parts of the mock that decided a response, as JSON."""
    ids = _rules_in(context)
    content: dict[str, Any] = {
        "operation": _operation(context),
        "world": context.world.name,
        "identity": context.identity,
        "inference": _inference(context),
        "person": context.principal.person if context.principal else None,
        "scopes": sorted(context.principal.scopes) if context.principal else [],
        "about": _about(context),
        "rules": _as_json(ids),
        "switches": _in_force(context, ids),
        "fault": context.fault,
        "notes": context.notes,
    }
    if context.refusal is not None:
        problem = context.refusal.problem
        breach = problem.breach
        content["refusal"] = {
            "status": context.status,
            "code": problem.code,
            "message": problem.message,
            "breach": breach and masked_breach(breach, context.secret_names),
        }
    return content


def switches_at_work(context: RequestContext) -> list[str]:
    """Returns the switches that are not at their default and whose rules the operation upholds."""
    if not context.choices:
        return []
    ids = _rules_in(context)
    in_force = _in_force(context, ())
    return [f"{it['name']}={it['option']}" for it in in_force if it["rule"] in ids]


def _as_json(ids: tuple[str, ...]) -> list[dict[str, str]]:
    rules = {rule.id: rule for rule in bundled_rules()}
    known = [rules[name] for name in ids if name in rules]
    return [{"id": r.id, "statement": r.statement, "section": r.section} for r in known]


def _in_force(context: RequestContext, ids: tuple[str, ...]) -> list[dict[str, str]]:
    """Returns the switches of some rules, and all that are not at their default."""
    turned = context.choices
    return [
        {
            "name": switch.name,
            "option": turned.get(switch.name, switch.default),
            "rule": rule.id,
        }
        for rule in bundled_rules()
        if (switch := rule.switch) is not None
        and (rule.id in ids or turned.get(switch.name, switch.default) != switch.default)
    ]


def _operation(context: RequestContext) -> dict[str, str] | None:
    if context.endpoint is None:
        return None
    operation = context.endpoint.operation
    return {
        "id": operation.operation_id,
        "method": operation.method,
        "path": context.endpoint.api.base_path + operation.path,
        "document": operation.pointer,
    }


def _inference(context: RequestContext) -> dict[str, Any] | None:
    """Returns how the mock inferred the operation's state from the document; None without state."""
    handler = context.endpoint.document_handler if context.endpoint else None
    return None if handler is None else dict(handler.inference)


def _about(context: RequestContext) -> dict[str, Any] | None:
    """Returns the person whose data an exchange used, and the fixture file of that person."""
    world = context.world
    texts = [text.lower() for text in context.path_arguments.values()]
    slugs = [world.get(SLUGS_BY_HASH, text) if is_hash(text) else text for text in texts]
    person = context.principal.person if context.principal else None
    for slug in (*slugs, person):
        if slug is not None and world.get(PEOPLE, slug) is not None:
            return {
                "person": slug,
                "fixture": f"people/{slug}.yaml" if slug in world.baseline[PEOPLE.name] else None,
                "changed": is_changed(world, slug),
            }
    return None


def _rules_in(context: RequestContext) -> tuple[str, ...]:
    """Returns the rules that decided a response: those of its refusal, else those of its handler."""
    handler = context.endpoint.binding.handler if context.endpoint else None
    if context.refusal is None:
        return rules_of(handler)
    marks = (
        getattr(handler, "upholds", ())
        if context.refusal.problem.status == HTTPStatus.FORBIDDEN
        else ()
    )
    of_scopes = (rule for rule in marks if rule.startswith("scope-"))
    return (*context.refusal.rules, *of_scopes)


@lru_cache(maxsize=512)  # a handler's code never changes, and walking it takes a while
def rules_of(handler: object) -> tuple[str, ...]:
    """Returns the rules that a handler and the functions below it uphold.

    The functions are found by the global names in their code, as the calls are not run.
    """
    if not isinstance(handler, FunctionType):
        return ()
    marks: dict[str, None] = {}
    _collect(handler, marks, set(), _DEPTH)
    return tuple(marks)


def _collect(
    function: FunctionType, marks: dict[str, None], seen: set[CodeType], depth: int
) -> None:
    if function.__code__ in seen or not function.__module__.startswith("understudy."):
        return
    seen.add(function.__code__)
    marks.update(dict.fromkeys(getattr(function, "upholds", ())))
    if depth == 0:
        return
    modules = [v for v in function.__globals__.values() if isinstance(v, ModuleType)]
    for name in function.__code__.co_names:
        named = function.__globals__.get(name)
        candidates = [named, *(vars(module).get(name) for module in modules)]
        for candidate in candidates:
            if isinstance(candidate, FunctionType):
                _collect(candidate, marks, seen, depth - 1)

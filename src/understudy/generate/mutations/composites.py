"""Turns of query parameters that are lists or objects: of each item, and of each member."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from understudy.generate.drafts import Draft, encoded
from understudy.generate.edges import edges
from understudy.generate.mutations.changes import Apply
from understudy.generate.mutations.mutation import Mutation
from understudy.generate.mutations.operation_context import OperationContext, name_of
from understudy.generate.styles import query_pairs, written
from understudy.openapi.loader import Node
from understudy.openapi.operations import Parameter


def lists(
    scene: OperationContext, parameter: Parameter, slot: str, schema: Node
) -> Iterator[Mutation]:
    """Yields the edges of a list, and those of an item in the shortest one."""
    takes = scene.values.schemas.validator(schema).is_valid
    items = scene.values.schemas.items_schema(schema)
    found = [choice for choice in edges(scene.values, schema) if isinstance(choice.value, list)]
    base = scene.values.sample(schema)
    others = base[1:] if isinstance(base, list) else []
    for item in () if items is None else edges(scene.values, items, is_text=True):
        is_text = isinstance(item.value, str) and "," not in item.value and item.value.strip()
        is_valid = takes([item.value, *others])
        if (is_text or isinstance(item.value, int)) and is_valid == item.is_valid:
            found.append(item._replace(value=[item.value, *others]))
    for choice in found:
        if choice.value and all(isinstance(item, str | int) for item in choice.value):
            apply = _with_pairs(parameter, choice.value)
            yield scene.turn(slot, choice._replace(is_option=False), apply, schema.pointer)


def _with_pairs(parameter: Parameter, value: Any) -> Apply:
    pairs = query_pairs(parameter, value)
    held = {encoded(parameter.name), *(name for name, _ in pairs)}

    def apply(draft: Draft) -> Draft:
        others = tuple(pair for pair in draft.query if pair[0] not in held)
        return draft._replace(query=(*others, *pairs))

    return apply


def members(
    scene: OperationContext, parameter: Parameter, slot: str, schema: Node
) -> Iterator[Mutation]:
    """Yields the edges of the members of an object that is written as ``name[member]=value``."""
    takes = scene.values.schemas.validator(schema).is_valid
    base = scene.values.sample(schema)
    if not isinstance(base, dict):
        return
    for name, member in scene.values.members(schema).items():
        here, where = f"{slot}[{name}]", encoded(f"{parameter.name}[{name}]")
        for choice in edges(scene.values, member, is_text=True):
            text, is_valid = written(choice.value), takes({**base, name: choice.value})
            if text and is_valid == choice.is_valid and not isinstance(choice.value, list | dict):
                apply = partial(_with_pair, where, encoded(text))
                yield scene.turn(here, choice, apply, member.pointer)
        is_needed = name in scene.values.schemas.required_names(schema)
        make = scene.refused if is_needed else scene.accepted_turn
        what = f"{name_of(here)} left out"
        if len(base) > 1 or not is_needed:
            apply = partial(_with_pair, where, None)
            yield make(here, "required", what, "required", f"{schema.pointer}/required", apply)


def _with_pair(name: str, text: str | None, draft: Draft) -> Draft:
    return draft.with_query(name) if text is None else draft.with_query(name, text)

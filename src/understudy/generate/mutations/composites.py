"""Mutations of query parameters that are arrays or objects: of their items and members."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from understudy.generate.drafts import Draft
from understudy.generate.edges import edges
from understudy.generate.mutations.draft_changes import DraftChange
from understudy.generate.mutations.mutation import Mutation
from understudy.generate.mutations.operation_context import OperationContext, name_of
from understudy.openapi.declared_parameters import Parameter
from understudy.openapi.loader import Node
from understudy.openapi.parameter_writing import encoded, query_pairs, written


def lists(
    context: OperationContext, parameter: Parameter, part: str, schema: Node
) -> Iterator[Mutation]:
    """Yields the mutations of an array, and of an item in the shortest array."""
    is_accepted = context.values.schemas.validator(schema).is_valid
    items = context.values.schemas.items_schema(schema)
    candidates = [edge for edge in edges(context.values, schema) if isinstance(edge.value, list)]
    base = context.values.sample(schema)
    others = base[1:] if isinstance(base, list) else []
    for item in () if items is None else edges(context.values, items, is_text=True):
        is_text = isinstance(item.value, str) and "," not in item.value and item.value.strip()
        is_valid = is_accepted([item.value, *others])
        if (is_text or isinstance(item.value, int)) and is_valid == item.is_valid:
            candidates.append(item._replace(value=[item.value, *others]))
    for edge in candidates:
        if edge.value and all(isinstance(item, str | int) for item in edge.value):
            apply = _with_pairs(parameter, edge.value)
            yield context.edge_mutation(part, edge._replace(is_option=False), apply, schema.pointer)


def _with_pairs(parameter: Parameter, value: Any) -> DraftChange:
    pairs = query_pairs(parameter, value)
    names = {encoded(parameter.name), *(name for name, _ in pairs)}

    def apply(draft: Draft) -> Draft:
        others = tuple(pair for pair in draft.query if pair[0] not in names)
        return draft._replace(query=(*others, *pairs))

    return apply


def members(
    context: OperationContext, parameter: Parameter, part: str, schema: Node
) -> Iterator[Mutation]:
    """Yields the mutations of the members of an object written as ``name[member]=value``."""
    is_accepted = context.values.schemas.validator(schema).is_valid
    base = context.values.sample(schema)
    if not isinstance(base, dict):
        return
    for name, member in context.values.members(schema).items():
        here, where = f"{part}[{name}]", encoded(f"{parameter.name}[{name}]")
        for edge in edges(context.values, member, is_text=True):
            text, is_valid = written(edge.value), is_accepted({**base, name: edge.value})
            if text and is_valid == edge.is_valid and not isinstance(edge.value, list | dict):
                apply = partial(_with_pair, where, encoded(text))
                yield context.edge_mutation(here, edge, apply, member.pointer)
        is_needed = name in context.values.schemas.required_names(schema)
        make = context.refused if is_needed else context.accepted
        what = f"{name_of(here)} left out"
        if len(base) > 1 or not is_needed:
            apply = partial(_with_pair, where, None)
            yield make(here, "required", what, "required", f"{schema.pointer}/required", apply)


def _with_pair(name: str, text: str | None, draft: Draft) -> Draft:
    return draft.with_query(name) if text is None else draft.with_query(name, text)

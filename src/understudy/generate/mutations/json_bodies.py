"""Mutations of JSON bodies: of each member, and of the whole body."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from understudy.generate import texts
from understudy.generate.drafts import Draft, JsonLiteral, dumps
from understudy.generate.edges import EdgeValue, edges
from understudy.generate.mutations import draft_changes, json_writing
from understudy.generate.mutations.mutation import BODY, Generator, Mutation
from understudy.generate.mutations.operation_context import OperationContext
from understudy.generate.values import MAX_DEPTH
from understudy.openapi.loader import Node
from understudy.openapi.parameter_writing import encoded

Path = tuple[str | int, ...]

_JSON_TEXT = "RFC 8259"


def mutations(context: OperationContext, schema: Node) -> Iterator[Mutation]:
    """Yields the mutations of a JSON body."""
    yield from _members(context, schema, schema, ())
    yield from _whole(context, schema)
    yield from _single_members(context, schema)
    yield from json_writing.mutations(context, schema)


def generators(context: OperationContext, schema: Node, *, is_form: bool) -> Iterator[Generator]:
    """Yields generators of further values for the members that take any text."""
    for name, member in context.values.members(schema).items():
        keywords = context.values.keywords(member)
        is_text = keywords.get("type") == "string"
        is_free = is_text and not {"enum", "const", "format"} & set(keywords)
        if is_free and f"{BODY} {name}" not in context.handled_elsewhere:
            yield _drawn_text(context, schema, member, name, is_form=is_form)
            if not is_form:
                yield _drawn_type(context, schema, name)


def _drawn_text(
    context: OperationContext, schema: Node, member: Node, name: str, *, is_form: bool
) -> Generator:
    pointer = member.pointer

    def draw(chance: Any) -> Mutation:
        text = texts.drawn(chance)
        is_valid = _accepts(context, schema, (name,), text) if not is_form else True
        edge = EdgeValue(text, texts.spelled(text), "type", "unicode", is_valid)
        apply = (
            draft_changes.form(name, encoded(text))
            if is_form
            else draft_changes.member((name,), text)
        )
        return context.edge_mutation(f"{BODY} {name}", edge, apply, pointer)

    return draw


def _drawn_type(context: OperationContext, schema: Node, name: str) -> Generator:
    def draw(chance: Any) -> Mutation:
        value: Any = chance.choice(
            (
                chance.randrange(-(2**40), 2**40),
                [texts.drawn(chance, 8)],
                {texts.drawn(chance, 8): texts.drawn(chance, 8)},
                chance.randrange(1000) / 8,
            )
        )
        is_valid = _accepts(context, schema, (name,), value)
        edge = EdgeValue(value, _in_words(value), "type", "type", is_valid)
        pointer = f"{schema.pointer}/properties/{name}"
        return context.edge_mutation(
            f"{BODY} {name}", edge, draft_changes.member((name,), value), pointer
        )

    return draw


def _in_words(value: Any) -> str:
    kinds = {int: f"the number {value}", float: f"the number {value}", list: "a list of one text"}
    return kinds.get(type(value), "an object with one text")


def _members(context: OperationContext, root: Node, schema: Node, path: Path) -> Iterator[Mutation]:
    schemas = context.values.schemas
    required = set(schemas.required_names(schema))
    for name, member in context.values.members(schema).items():
        here = (*path, name)
        part = _part_name(here)
        if part in context.handled_elsewhere:
            continue
        for edge in edges(context.values, member):
            checked = edge._replace(is_valid=_accepts(context, root, here, edge.value))
            yield context.edge_mutation(
                part, checked, draft_changes.member(here, edge.value), member.pointer
            )
        yield from _number_literals(context, member, here)
        yield _left_out(context, root, here, is_required=name in required)
        is_object = "object" in schemas.types(member) or context.values.members(member)
        if is_object and len(here) < MAX_DEPTH:
            for mutation in _members(_with_member(context, member, here), root, member, here):
                yield mutation._replace(
                    apply=partial(_within, context.values.sample(member), here, mutation)
                )
    yield from _additional(context, root, path)


def _with_member(context: OperationContext, member: Node, path: Path) -> OperationContext:
    """Returns the context with an object in the place whose members are mutated."""
    sample = context.values.sample(member)
    return replace(context, plain=_with_object(context.plain, path, sample))


def _with_object(draft: Draft, path: Path, value: Any) -> Draft:
    """Returns the draft with a value in a place, unless an object is there already."""
    current = draft.json
    for step in path:
        current = current.get(step) if isinstance(current, dict) else None
    return draft if isinstance(current, dict) else draft.with_json(path, value)


def _within(value: Any, path: Path, mutation: Mutation, draft: Draft) -> Draft:
    return mutation.apply(_with_object(draft, path, value))


def _part_name(path: Path) -> str:
    return f"{BODY} {'.'.join(map(str, path))}"


def _accepts(context: OperationContext, root: Node, path: Path, value: Any) -> bool:
    draft = context.plain.with_json(path, value)
    return bool(context.values.schemas.validator(root).is_valid(draft.json))


def _number_literals(context: OperationContext, member: Node, path: Path) -> Iterator[Mutation]:
    if not {"integer", "number"} & context.values.schemas.types(member):
        return
    for what, text in texts.LEXEMES.items():
        apply = draft_changes.member(path, JsonLiteral(text))
        description = f"{'.'.join(map(str, path))}: {what}, {text}"
        yield context.left_open(
            _part_name(path), "number", description, "type", f"{_JSON_TEXT}, 6", apply
        )


def _left_out(context: OperationContext, root: Node, path: Path, *, is_required: bool) -> Mutation:
    part, pointer = _part_name(path), f"{root.pointer}/required"
    what = f"{'.'.join(map(str, path))} left out"

    def apply(draft: Draft) -> Draft:
        return draft.without_json(path)

    is_valid = context.values.schemas.validator(root).is_valid(apply(context.plain).json)
    make = context.accepted if is_valid else context.refused
    mutation = make(part, "required", what, "required", pointer, apply)
    return mutation._replace(is_option=is_valid and not is_required)


def _additional(context: OperationContext, root: Node, path: Path) -> Iterator[Mutation]:
    where = "" if not path else f" of {'.'.join(map(str, path))}"
    of_the_interface = (("hash", "a member that only answers have, hash"),)
    for name, what in (
        ("understudy_extra", "a member that is not declared"),
        ("__proto__", "a member named __proto__"),
        ("", "a member without a name"),
        *(of_the_interface if context.is_interface_operation else ()),
    ):
        here = (*path, name)
        part, pointer = _part_name(here), f"{root.pointer}/additionalProperties"
        is_valid = _accepts(context, root, here, "a")
        make = context.accepted if is_valid else context.refused
        description = f"body: {what}{where}"
        yield make(
            part,
            "additional",
            description,
            "additionalProperties",
            pointer,
            draft_changes.member(here, "a"),
        )


def _whole(context: OperationContext, schema: Node) -> Iterator[Mutation]:
    is_accepted = context.values.schemas.validator(schema).is_valid
    values: dict[str, Any] = {
        "an empty object": {},
        "null": None,
        "a list": [],
        "a list around the object": [context.plain.json],
        "a text": "text",
        "a number": 7,
        "false": False,
        "JSON within a JSON text": dumps(context.plain.json),
    }
    for what, value in values.items():
        make = context.accepted if is_accepted(value) else context.refused
        yield make(
            BODY,
            "body",
            f"body: {what}",
            "type",
            f"{schema.pointer}/type",
            draft_changes.member((), value),
        )
    for what, content in texts.BAD_JSON.items():
        yield context.refused(
            BODY,
            "json",
            f"body: no JSON, {what}",
            "json-bodies",
            f"{_JSON_TEXT}, 2",
            draft_changes.raw(content),
        )
    for depth in (500, 20_000):
        content = b"[" * depth + b"]" * depth
        make = context.left_open if is_accepted([]) else context.refused
        what = f"body: {depth:,} lists within each other"
        yield make(BODY, "json", what, "type", f"{schema.pointer}/type", draft_changes.raw(content))
    yield no_body(context)


def _single_members(context: OperationContext, schema: Node) -> Iterator[Mutation]:
    """Yields bodies of one member, like those of partial updates."""
    is_accepted = context.values.schemas.validator(schema).is_valid
    for name, member in context.values.members(schema).items():
        if f"{BODY} {name}" in context.semantics:
            continue  # the sample need not be one that means something
        for what, value in (("", context.values.sample(member)), (", empty", ""), (", null", None)):
            if is_accepted({name: value}):
                apply = draft_changes.member((), {name: value})
                because = f"{schema.pointer}/required"
                description = f"body: {name} alone{what}"
                yield context.accepted(BODY, "alone", description, "required", because, apply)


def no_body(context: OperationContext) -> Mutation:
    """Returns the mutation that sends no body at all."""
    pointer = f"{context.operation.pointer}/requestBody/required"
    body = context.operation.request_body
    make = context.refused if body is not None and body.required else context.accepted
    return make(BODY, "empty", "body: none at all", "required", pointer, Draft.without_body)

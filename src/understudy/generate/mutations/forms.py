"""Turns of URL-encoded forms: the edges of each field, repetition, and how it is written."""

from collections.abc import Iterator

from understudy.generate.drafts import Draft, encoded
from understudy.generate.edges import edges
from understudy.generate.mutations import changes
from understudy.generate.mutations.bodies import BODY, WRITING, no_body
from understudy.generate.mutations.changes import Apply
from understudy.generate.mutations.mutation import Mutation
from understudy.generate.mutations.operation_context import OperationContext
from understudy.generate.styles import written
from understudy.openapi.loader import Node


def turns(scene: OperationContext, schema: Node) -> Iterator[Mutation]:
    """Yields the turns of a URL-encoded form."""
    schemas = scene.values.schemas
    pointer = scene.values.schemas.follow(schema).pointer
    for name in dict.fromkeys(schemas.property_names(schema)):
        slot = f"{BODY} {name}"
        if slot in scene.unread:
            continue
        member = schemas.property_schema(schema, name)
        for choice in () if member is None else edges(scene.values, member, is_text=True):
            if not isinstance(choice.value, list | dict):
                text = encoded(written(choice.value))
                where = pointer if member is None else member.pointer
                yield scene.turn(slot, choice, changes.form(name, text), where)
        yield scene.twice(slot, f"{name}: given twice", pointer, _repeated(name))
    yield from _form_writing(scene)


def _repeated(name: str) -> Apply:
    def apply(draft: Draft) -> Draft:
        held = next((t for n, t in draft.form or () if n == encoded(name)), None) or "a"
        return draft.with_form(encoded(name), held, held)

    return apply


def _form_writing(scene: OperationContext) -> Iterator[Mutation]:
    pointer = f"{scene.operation.pointer}/requestBody"
    yield scene.accepted_turn(
        WRITING,
        "order",
        "form: fields in reverse order",
        "order",
        pointer,
        lambda d: d._replace(form=tuple(reversed(d.form or ()))),
    )
    for what, pair in (
        ("an unknown field", ("understudy_extra", "1")),
        ("an unknown field without an equals sign", ("understudy_extra", None)),
        ("an unknown field that is empty", ("understudy_extra", "")),
        ("an unknown field under an index", ("extra%5B0%5D", "1")),
    ):
        yield scene.accepted_turn(
            "body understudy_extra",
            "additional",
            f"form: {what}",
            "additionalProperties",
            pointer,
            changes.more_form(*pair),
        )
    yield scene.left_open(
        WRITING,
        "encoding",
        "form: an ampersand at both ends",
        "writing",
        pointer,
        changes.rewritten(lambda body: b"&" + body + b"&"),
    )
    yield scene.left_open(
        WRITING,
        "encoding",
        "form: semicolons between the fields",
        "writing",
        pointer,
        changes.rewritten(lambda body: body.replace(b"&", b";")),
    )
    yield scene.left_open(
        WRITING,
        "encoding",
        "form: a line end behind it",
        "writing",
        pointer,
        changes.rewritten(lambda body: body + b"\r\n"),
    )
    yield no_body(scene)

"""Mutations of URL-encoded forms: edges of each field, repeated fields, and how a form is written."""

from collections.abc import Iterator

from understudy.generate.drafts import Draft
from understudy.generate.edges import edges
from understudy.generate.mutations import draft_changes
from understudy.generate.mutations.draft_changes import DraftChange
from understudy.generate.mutations.json_bodies import no_body
from understudy.generate.mutations.mutation import BODY, WRITING, Mutation
from understudy.generate.mutations.operation_context import OperationContext
from understudy.openapi.loader import Node
from understudy.openapi.parameter_writing import encoded, written


def mutations(context: OperationContext, schema: Node) -> Iterator[Mutation]:
    """Yields the mutations of a URL-encoded form."""
    schemas = context.values.schemas
    pointer = context.values.schemas.follow(schema).pointer
    for name in dict.fromkeys(schemas.property_names(schema)):
        part = f"{BODY} {name}"
        if part in context.handled_elsewhere:
            continue
        member = schemas.property_schema(schema, name)
        for edge in () if member is None else edges(context.values, member, is_text=True):
            if not isinstance(edge.value, list | dict):
                text = encoded(written(edge.value))
                where = pointer if member is None else member.pointer
                yield context.edge_mutation(part, edge, draft_changes.form(name, text), where)
        yield context.repeated(part, f"{name}: given twice", pointer, _repeated(name))
    yield from _form_writing(context, takes_more=context.values.takes_more(schema))


def _repeated(name: str) -> DraftChange:
    def apply(draft: Draft) -> Draft:
        text = next((t for n, t in draft.form or () if n == encoded(name)), None) or "a"
        return draft.with_form(encoded(name), text, text)

    return apply


def _form_writing(context: OperationContext, *, takes_more: bool) -> Iterator[Mutation]:
    with_more = context.accepted if takes_more else context.left_open
    pointer = f"{context.operation.pointer}/requestBody"
    yield context.accepted(
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
        yield with_more(
            "body understudy_extra",
            "additional",
            f"form: {what}",
            "additionalProperties",
            pointer,
            draft_changes.more_form(*pair),
        )
    yield context.left_open(
        WRITING,
        "encoding",
        "form: an ampersand at both ends",
        "writing",
        pointer,
        draft_changes.rewritten(lambda body: b"&" + body + b"&"),
    )
    yield context.left_open(
        WRITING,
        "encoding",
        "form: semicolons between the fields",
        "writing",
        pointer,
        draft_changes.rewritten(lambda body: body.replace(b"&", b";")),
    )
    yield context.left_open(
        WRITING,
        "encoding",
        "form: a line end behind it",
        "writing",
        pointer,
        draft_changes.rewritten(lambda body: body + b"\r\n"),
    )
    yield no_body(context)

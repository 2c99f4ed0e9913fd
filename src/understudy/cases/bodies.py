"""Mutations of JSON bodies and URL-encoded forms: of each member, the whole, and the encoding."""

import gzip
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from understudy.cases import drafts, texts
from understudy.cases.drafts import Draft, DraftChange, JsonLiteral, dumps
from understudy.cases.edges import MAX_DEPTH, EdgeValue, edges
from understudy.cases.model import CaseKind
from understudy.cases.mutations import (
    BODY,
    OPEN,
    WRITING,
    Generator,
    Mutation,
    OperationContext,
    kind_of,
)
from understudy.openapi.loader import Node
from understudy.openapi.parameter_writing import encoded, written
from understudy.openapi.schemas import ALL

JSON_RFC = "RFC 8259"


def writing_mutations(context: OperationContext, schema: Node) -> Iterator[Mutation]:
    """Yields other encodings of a JSON body: escapes, white space, byte order marks, gzip."""
    on = context.on(WRITING, "json", "json-bodies", JSON_RFC)
    name = next(iter(context.values.schemas.members(schema, ALL)), None)
    zipped = "body: gzip, as Content-Encoding says"
    for kind, ways in _WAYS.items():
        yield from on.each(
            kind, {f"body: {what}": drafts.rewritten(it) for what, it in ways.items()}
        )
    yield context.on(WRITING, "encoding", "content-encoding", "RFC 9110, 8.4").left_open(
        zipped, lambda d: drafts.rewritten(_zipped)(d).with_headers("Content-Encoding", "gzip")
    )
    if name is None:
        return
    first = b'{"' + name.encode() + b'": "first", '
    texts_ = {f"{name} twice in one object": partial(_replaced_once, b"{", first)}
    for half in ("d83d", "de00"):
        what = f"{name} with half of a surrogate pair, \\u{half}"
        texts_[what] = partial(_replaced_once, b'": "', b'": "\\u' + half.encode())
    yield from on.each(
        "open", {f"body: {what}": drafts.rewritten(it) for what, it in texts_.items()}
    )


def _replaced_once(old: bytes, new: bytes, body: bytes) -> bytes:
    return body.replace(old, new, 1)


def _escaped(body: bytes) -> bytes:
    units = body.decode().encode("utf-16-be")
    codes = [int.from_bytes(units[n : n + 2]) for n in range(0, len(units), 2)]
    return "".join(chr(code) if code < 0x80 else f"\\u{code:04x}" for code in codes).encode()  # noqa: PLR2004 - ASCII


def _zipped(body: bytes) -> bytes:
    """Returns a body as gzip, stored uncompressed so that every zlib and Python gives the same bytes."""
    zipped = gzip.compress(body, compresslevel=0, mtime=0)
    return zipped[:9] + b"\xff" + zipped[10:]  # byte 9 is the operating system: 255, unknown


_WAYS: Mapping[CaseKind, Mapping[str, Callable[[bytes], bytes]]] = {
    "valid": {
        "spaces and line ends around the JSON": lambda body: b"\r\n\t " + body + b"\n ",
        "every letter outside ASCII escaped": _escaped,
    },
    "open": {
        "a byte order mark before the JSON": lambda body: b"\xef\xbb\xbf" + body,
        "UTF-16 instead of UTF-8": lambda body: body.decode().encode("utf-16"),
        "a NUL byte behind the JSON": lambda body: body + b"\x00",
        "gzip, as Content-Encoding does not say": _zipped,
    },
}
"""Outcome to encodings of a JSON body, each a description and the function that applies it."""

Path = tuple[str | int, ...]


def json_mutations(context: OperationContext, schema: Node) -> Iterator[Mutation]:
    """Yields the mutations of a JSON body."""
    yield from _members(context, schema, schema, ())
    yield from _whole(context, schema)
    yield from _single_members(context, schema)
    yield from writing_mutations(context, schema)


def json_generators(
    context: OperationContext, schema: Node, *, is_form: bool
) -> Iterator[Generator]:
    """Yields generators of random values for members without ``enum``, ``const`` or ``format``."""
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
        apply = drafts.form(name, encoded(text)) if is_form else drafts.member((name,), text)
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
        return context.edge_mutation(f"{BODY} {name}", edge, drafts.member((name,), value), pointer)

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
        is_servers = schemas.is_flagged(member, "readOnly")  # a service may well ignore it
        for edge in edges(context.values, member):
            checked = edge._replace(is_valid=_accepts(context, root, here, edge.value))
            apply = drafts.member(here, edge.value)
            mutation = context.edge_mutation(part, checked, apply, member.pointer)
            yield mutation._replace(kind="open", statuses=OPEN) if is_servers else mutation
        yield from _number_literals(context, member, here)
        yield _left_out(context, root, here, is_required=name in required)
        is_object = "object" in schemas.types(member) or context.values.members(member)
        if is_object and len(here) < MAX_DEPTH:
            sample = context.values.sample(member)
            inside = replace(context, plain=_with_object(context.plain, here, sample))
            for mutation in _members(inside, root, member, here):
                yield mutation._replace(apply=partial(_within, sample, here, mutation))
    yield from _additional(context, root, path)


def _with_object(draft: Draft, path: Path, value: Any) -> Draft:
    """Returns the draft with a value at a path, unless an object is there already."""
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
        apply = drafts.member(path, JsonLiteral(text))
        description = f"{'.'.join(map(str, path))}: {what}, {text}"
        yield context.on(_part_name(path), "number", "type", f"{JSON_RFC}, 6").left_open(
            description, apply
        )


def _left_out(context: OperationContext, root: Node, path: Path, *, is_required: bool) -> Mutation:
    part, pointer = _part_name(path), f"{root.pointer}/required"
    what = f"{'.'.join(map(str, path))} left out"

    without = context.plain.without_json(path)
    is_valid = context.values.schemas.validator(root).is_valid(without.json)
    mutation = context.on(part, "required", "required", pointer).made(
        kind_of(is_valid), what, lambda draft: draft.without_json(path)
    )
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
        description = f"body: {what}{where}"
        yield context.on(part, "additional", "additionalProperties", pointer).made(
            kind_of(is_valid), description, drafts.member(here, "a")
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
        yield context.on(BODY, "body", "type", f"{schema.pointer}/type").made(
            kind_of(is_accepted(value)), f"body: {what}", drafts.member((), value)
        )
    for what, content in texts.BAD_JSON.items():
        yield context.on(BODY, "json", "json-bodies", f"{JSON_RFC}, 2").refused(
            f"body: no JSON, {what}", drafts.raw(content)
        )
    for depth in (500, 20_000):
        content = b"[" * depth + b"]" * depth
        kind: CaseKind = "open" if is_accepted([]) else "invalid"
        what = f"body: {depth:,} lists within each other"
        yield context.on(BODY, "json", "type", f"{schema.pointer}/type").made(
            kind, what, drafts.raw(content)
        )
    yield no_body(context)


def _single_members(context: OperationContext, schema: Node) -> Iterator[Mutation]:
    """Yields bodies with a single member, like those of partial updates."""
    is_accepted = context.values.schemas.validator(schema).is_valid
    for name, member in context.values.members(schema).items():
        if f"{BODY} {name}" in context.semantics:
            continue  # a sample value need not exist at the deployment, so the outcome is unknown
        for what, value in (("", context.values.sample(member)), (", empty", ""), (", null", None)):
            if is_accepted({name: value}):
                apply = drafts.member((), {name: value})
                because = f"{schema.pointer}/required"
                description = f"body: {name} alone{what}"
                yield context.on(BODY, "alone", "required", because).accepted(description, apply)


def no_body(context: OperationContext) -> Mutation:
    """Returns the mutation that sends no body at all."""
    pointer = f"{context.operation.pointer}/requestBody/required"
    body = context.operation.request_body
    is_optional = body is None or not body.required
    return context.on(BODY, "empty", "required", pointer).made(
        kind_of(is_optional), "body: none at all", Draft.without_body
    )


def form_mutations(context: OperationContext, schema: Node) -> Iterator[Mutation]:
    """Yields the mutations of a URL-encoded form."""
    schemas = context.values.schemas
    pointer = context.values.schemas.follow(schema).pointer
    for name, member in schemas.members(schema, ALL).items():
        part = f"{BODY} {name}"
        if part in context.handled_elsewhere:
            continue
        where = schemas.follow(member).pointer
        for edge in edges(context.values, member, is_text=True):
            if not isinstance(edge.value, list | dict):
                text = encoded(written(edge.value))
                yield context.edge_mutation(part, edge, drafts.form(name, text), where)
        yield context.repeated(part, f"{name}: given twice", pointer, _repeated(name))
    yield from _form_writing(context, takes_more=context.values.takes_more(schema))


def _repeated(name: str) -> DraftChange:
    def apply(draft: Draft) -> Draft:
        text = next((t for n, t in draft.form or () if n == encoded(name)), None) or "a"
        return draft.with_form(encoded(name), text, text)

    return apply


def _form_writing(context: OperationContext, *, takes_more: bool) -> Iterator[Mutation]:
    with_more: CaseKind = "valid" if takes_more else "open"
    pointer = f"{context.operation.pointer}/requestBody"
    yield context.on(WRITING, "order", "order", pointer).accepted(
        "form: fields in reverse order", lambda d: d._replace(form=tuple(reversed(d.form or ())))
    )
    more = context.on("body understudy_extra", "additional", "additionalProperties", pointer)
    fields = {
        "form: an unknown field": drafts.more_form("understudy_extra", "1"),
        "form: an unknown field without an equals sign": drafts.more_form("understudy_extra", None),
        "form: an unknown field that is empty": drafts.more_form("understudy_extra", ""),
        "form: an unknown field under an index": drafts.more_form("extra%5B0%5D", "1"),
    }
    yield from more.each(with_more, fields)
    ways = {
        "form: an ampersand at both ends": drafts.rewritten(lambda body: b"&" + body + b"&"),
        "form: semicolons between the fields": drafts.rewritten(lambda b: b.replace(b"&", b";")),
        "form: a line end behind it": drafts.rewritten(lambda body: body + b"\r\n"),
    }
    yield from context.on(WRITING, "encoding", "writing", pointer).each("open", ways)
    yield no_body(context)

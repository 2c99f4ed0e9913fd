"""Mutations of parameters: edge values, encodings, repetition, and absence."""

from collections.abc import Callable, Iterator
from random import Random  # noqa: TID251 - seeded by the caller
from typing import Any

from understudy.cases import texts
from understudy.cases.drafts import Draft, DraftChange
from understudy.cases.edges import EdgeValue, edges
from understudy.cases.model import CaseKind, variable
from understudy.cases.mutations import Generator, Mutation, OperationContext, kind_of, name_of
from understudy.cases.test_data import AVATAR_ID
from understudy.openapi.loader import Node
from understudy.openapi.operations import Parameter
from understudy.openapi.parameter_writing import encoded, query_pairs, text_of, written


def lists(
    context: OperationContext, parameter: Parameter, part: str, schema: Node
) -> Iterator[Mutation]:
    """Yields mutations of a query array, and of the first item in a sample array.

    Items of white space are skipped: many servers trim the items of a list, as in a header.
    """
    is_accepted = context.values.schemas.validator(schema).is_valid
    items = context.values.schemas.items(schema)
    candidates = [edge for edge in edges(context.values, schema) if isinstance(edge.value, list)]
    base = context.values.sample(schema)
    others = base[1:] if isinstance(base, list) else []
    is_text_too = "string" in context.values.schemas.types(schema)
    for item in () if items is None else edges(context.values, items, is_text=True):
        separators = "," if parameter.explode else ",| "
        is_text = isinstance(item.value, str) and item.value.strip() != ""
        is_text = is_text and not set(separators) & set(item.value)
        is_valid = is_accepted([item.value, *others])
        if (is_text or isinstance(item.value, int)) and is_valid == item.is_valid:
            candidates.append(item._replace(value=[item.value, *others]))
    for edge in candidates:
        # a list of one item is written like a text
        is_certain = edge.is_valid or len(edge.value) > 1 or not is_text_too
        if edge.value and is_certain and all(isinstance(item, str | int) for item in edge.value):
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
    """Yields mutations of the members of a deepObject parameter, ``name[member]=value``.

    The members that an object needs are sent, too, as the plain request may leave out the parameter.
    """
    is_accepted = context.values.schemas.validator(schema).is_valid
    base = context.values.sample(schema)
    if not isinstance(base, dict):
        return
    for name, member in context.values.members(schema).items():
        here = f"{part}[{name}]"
        for edge in edges(context.values, member, is_text=True):
            text, is_valid = written(edge.value), is_accepted({**base, name: edge.value})
            if text and is_valid == edge.is_valid and not isinstance(edge.value, list | dict):
                apply = _with_members(parameter, base, {**base, name: edge.value})
                yield context.edge_mutation(here, edge, apply, member.pointer)
        is_needed = name in context.values.schemas.required_names(schema)
        what = f"{name_of(here)} left out"
        if len(base) > 1 or not is_needed:
            others = {other: value for other, value in base.items() if other != name}
            apply = _with_members(parameter, base, others)
            yield context.on(here, "required", "required", f"{schema.pointer}/required").made(
                kind_of(not is_needed), what, apply
            )


def _with_members(
    parameter: Parameter, base: dict[str, Any], changed: dict[str, Any]
) -> DraftChange:
    """Returns a change that sets all members, and removes those of the base that are not left."""
    texts: dict[str, list[str]] = {
        name: [] for name, _ in query_pairs(parameter, {**base, **changed})
    }
    for name, text in query_pairs(parameter, changed):
        texts[name].append(text)

    def apply(draft: Draft) -> Draft:
        for name, its in texts.items():
            draft = draft.with_query(name, *its)
        return draft

    return apply


def _bytewise(form: str) -> Callable[[bytes], str]:
    return lambda text: "".join(form.format(byte) for byte in text)


_WRITINGS: tuple[tuple[str, CaseKind, Callable[[bytes], str]], ...] = (
    ("letters percent-encoded that need not be", "valid", _bytewise("%{:02X}")),
    ("percent-encoded in lower-case hexadecimal", "valid", _bytewise("%{:02x}")),
    ("percent-encoded twice", "open", _bytewise("%25{:02X}")),
    ("a percent sign that encodes nothing", "open", lambda t: _plain(t) + "%zz"),
    ("a percent sign at the end", "open", lambda t: _plain(t) + "%"),
    ("bytes that are not UTF-8", "open", lambda t: _plain(t) + "%FF%FE"),
    ("UTF-8 of more bytes than are needed", "open", lambda t: _plain(t) + "%C0%AF"),
    ("half of a surrogate pair in UTF-8", "open", lambda t: _plain(t) + "%ED%A0%80"),
    ("an escape of JavaScript, %u00e9", "open", lambda t: _plain(t) + "%u00e9"),
    ("an encoded NUL at the end", "open", lambda t: _plain(t) + "%00"),
    (
        "an encoded line end and a header behind it",
        "open",
        lambda t: _plain(t) + "%0D%0AX-Injected:%201",
    ),
)
"""Description, outcome by RFC 3986, 2, and the function that encodes the bytes of a text so."""

_REENCODINGS = 3
"""The first so many ``_WRITINGS`` encode every byte, which a variable's unknown value rules out."""


def _plain(text: bytes) -> str:
    return encoded(text.decode())


def mutations(context: OperationContext, parameter: Parameter) -> Iterator[Mutation]:
    """Yields the mutations of one parameter."""
    part = f"{parameter.location} {parameter.name}"
    if part in context.handled_elsewhere:
        return
    if parameter.schema is not None and parameter.style == "deepObject":
        yield from members(context, parameter, part, parameter.schema)
    elif parameter.schema is not None and not parameter.is_json:
        yield from _edges(context, parameter, part, parameter.schema)
    if parameter.location != "path":
        yield _left_out(context, parameter, part)
    if parameter.location == "query":
        yield from _presence(context, parameter, part)
    if parameter.location in {"query", "path"}:
        yield from _writings(context, parameter, part)


def generators(context: OperationContext, parameter: Parameter) -> Iterator[Generator]:
    """Yields generators of random values for one parameter."""
    part = f"{parameter.location} {parameter.name}"
    schema = parameter.schema
    if (
        part in context.handled_elsewhere
        or schema is None
        or parameter.location not in {"query", "path"}
    ):
        return
    types = context.values.schemas.types(schema)
    is_free = not {"enum", "const"} & set(context.values.keywords(schema))
    if types == {"string"} and is_free:
        yield lambda chance: _drawn(
            context, parameter, schema, f"a{texts.drawn(chance)}", "unicode"
        )
    if "integer" in types and is_free:
        yield lambda chance: _drawn(context, parameter, schema, _integer(chance), "number")


def apply_text(parameter: Parameter, *written: str) -> DraftChange:
    """Returns a change that sets a parameter to percent-encoded texts; without texts, removes it."""
    name, location = parameter.name, parameter.location

    def apply(draft: Draft) -> Draft:
        if location == "path":
            return draft.with_place(name, written[0])
        if location == "query":
            return draft.with_query(encoded(name), *written)
        if location == "cookie":
            return draft.with_cookie(name, *written)
        return draft.with_headers(name, *written)

    return apply


def _edges(
    context: OperationContext, parameter: Parameter, part: str, schema: Node
) -> Iterator[Mutation]:
    if parameter.location == "query" and "array" in context.values.schemas.types(schema):
        yield from lists(context, parameter, part, schema)
        return
    for edge in edges(context.values, schema, is_text=True):
        if isinstance(edge.value, list | dict):
            continue
        mutation = _with_value(context, parameter, schema, edge)
        if mutation is not None:
            yield mutation
    types = context.values.schemas.types(schema)
    yield from _lexical(context, parameter, part, types, schema.pointer)


def _with_value(
    context: OperationContext, parameter: Parameter, schema: Node, edge: EdgeValue
) -> Mutation | None:
    part = f"{parameter.location} {parameter.name}"
    text = written(edge.value)
    if parameter.location in {"header", "cookie"}:
        if not (text.isascii() and text.isprintable()) or not _is_sendable(parameter, text):
            return None
        put = text_of(parameter, edge.value, str) if parameter.location == "header" else text
        return context.edge_mutation(part, edge, apply_text(parameter, put), schema.pointer)
    if parameter.location == "query":
        apply = apply_text(parameter, encoded(text))
    else:
        apply = apply_text(parameter, text_of(parameter, edge.value))
    mutation = context.edge_mutation(part, edge, apply, schema.pointer)
    if parameter.location == "path":
        return _in_path(context, part, mutation, text)
    if not text and "null" in context.values.schemas.types(schema):
        return mutation._replace(kind="open", statuses=("2XX", "4XX"), is_option=False)
    return mutation


def _is_sendable(parameter: Parameter, text: str) -> bool:
    """Tells whether a cookie can carry a text (RFC 6265, 4.1.1); a header can carry any printable one."""
    return parameter.location == "header" or not set(text) & set(' ",;\\')


def _in_path(
    context: OperationContext, part: str, mutation: Mutation, text: str
) -> Mutation | None:
    if not text or set(text) <= {".", "/"}:
        return None  # an empty or dot segment addresses another path
    if set(text) & set("/\\\x00\r\n"):
        reason = "RFC 3986, 3.3: what such a character means in a path is the server's"
        return context.on(part, mutation.category, mutation.source, reason).left_open(
            mutation.description, mutation.apply
        )
    if mutation.kind == "valid" and part not in context.semantics:
        return mutation._replace(statuses=tuple(dict.fromkeys((*context.success.statuses, "404"))))
    return mutation


def _lexical(
    context: OperationContext, parameter: Parameter, part: str, types: frozenset[str], pointer: str
) -> Iterator[Mutation]:
    because = f"{pointer}/type"
    if "string" in types or not types:
        return
    refused: dict[str, str] = {}
    left_open: dict[str, str] = {}
    if types & {"integer", "number"}:
        refused |= texts.NO_INTEGERS
        left_open |= texts.POSSIBLE_INTEGERS
    if "boolean" in types:
        refused |= texts.NO_BOOLEANS
    refused = {what: text for what, text in refused.items() if _is_wrong(text, types)}
    for what, text in refused.items():
        description = f"{parameter.name}: {what} where {' or '.join(sorted(types))} belongs"
        if parameter.location != "path" or text:
            apply = apply_text(parameter, encoded(text))
            yield context.on(part, "lexical", "type", because).refused(description, apply)
    for what, text in left_open.items():
        apply = apply_text(parameter, encoded(text))
        yield context.on(part, "lexical", "type", because).left_open(
            f"{parameter.name}: {what}", apply
        )


def _is_wrong(text: str, types: frozenset[str]) -> bool:
    """Tells whether a text cannot be parsed as any of the types."""
    is_number = text.replace(".", "", 1).isdecimal() and text.isascii()
    readable = {
        "number": is_number,
        "integer": is_number and "." not in text,
        "boolean": text in {"true", "false"},
        "null": text in {"", "null"},
    }
    return not any(readable.get(name) for name in types)


def _left_out(context: OperationContext, parameter: Parameter, part: str) -> Mutation:
    on = context.on(part, "required", "required", f"{context.operation.pointer}/parameters")
    what, apply = f"{name_of(part)} left out", _without(context, parameter)
    schema, schemas = parameter.schema, context.values.schemas
    is_object = parameter.is_spread and schemas.types(schema) == {"object"}
    if is_object and schema is not None and schemas.validator(schema).is_valid({}):
        return on.left_open(what, apply)  # leaving it out is also how ``{}`` is sent
    mutation = on.made(kind_of(not parameter.required), what, apply)
    return mutation._replace(is_option=not parameter.required)


def _without(context: OperationContext, parameter: Parameter) -> DraftChange:
    if parameter.location != "query":
        return apply_text(parameter)
    sent = query_pairs(parameter, context.values.parameter(parameter))
    names = {encoded(parameter.name), *(name for name, _ in sent)}
    return lambda draft: draft._replace(query=tuple(p for p in draft.query if p[0] not in names))


def _presence(context: OperationContext, parameter: Parameter, part: str) -> Iterator[Mutation]:
    name = parameter.name
    pointer = f"{context.operation.pointer}/parameters"
    if parameter.style == "deepObject" or (plain := _plain_text(context, parameter)) is None:
        return
    named = context.on(part, "repetition", "name", pointer)
    repeated = apply_text(parameter, plain, plain)
    yield context.repeated(part, f"{name} given twice with one value", pointer, repeated)
    apply = apply_text(parameter, plain, encoded("other"))
    yield context.repeated(part, f"{name} given twice with two values", pointer, apply)
    for other, what in ((f"{name}[]", "as an array"), (f"{name}[0]", "under an index")):
        yield named.left_open(f"{name} {what}: {other}", _renamed(parameter, other, plain))
    apply = _renamed(parameter, name.upper(), plain)
    yield named.left_open(f"{name.upper()} instead of {name}", apply)
    yield context.on(part, "repetition", "writing", pointer).left_open(
        f"{name} without an equals sign", lambda d: d.with_query(encoded(name), None)
    )


def _renamed(parameter: Parameter, other: str, text: str) -> DraftChange:
    return lambda draft: draft.with_query(encoded(parameter.name)).with_query(encoded(other), text)


def _plain_text(context: OperationContext, parameter: Parameter) -> str | None:
    if parameter.location == "path":
        return dict(context.plain.places).get(parameter.name)
    name = encoded(parameter.name)
    text = next((text for key, text in context.plain.query if key == name), None)
    if text is None and parameter.schema is not None:
        value = context.values.sample(parameter.schema)
        text = None if isinstance(value, list | dict) else encoded(written(value))
    return text


def _writings(context: OperationContext, parameter: Parameter, part: str) -> Iterator[Mutation]:
    plain = _plain_text(context, parameter)
    is_avatar = plain == variable(AVATAR_ID)
    if not plain or ("~~" in plain and not is_avatar) or "%" in plain:
        return
    for what, kind, write in _WRITINGS[_REENCODINGS:] if is_avatar else _WRITINGS:
        text = write(plain.encode())
        description = f"{parameter.name}: {what}"
        mutation = context.on(part, "encoding", "percent-encoding", "RFC 3986, 2").left_open(
            description, apply_text(parameter, text)
        )
        semantics = context.semantics.get(part)
        is_known = semantics is None or plain in semantics.known or semantics.kind == "valid"
        if kind == "valid" and is_known:
            mutation = mutation._replace(kind="valid", statuses=())
        yield mutation


def _drawn(
    context: OperationContext, parameter: Parameter, schema: Node, value: Any, category: str
) -> Mutation:
    is_valid = context.values.schemas.validator(schema).is_valid(value)
    what = str(value) if isinstance(value, int) else texts.spelled(value)
    edge = EdgeValue(value, what, "type" if is_valid else "range", category, is_valid)
    mutation = _with_value(context, parameter, schema, edge)
    assert mutation is not None  # generators start path texts with a letter: never a dot segment
    return mutation


def _integer(chance: Random) -> int:
    bits = chance.choice((8, 12, 16, 32, 64))
    return chance.randrange(-(2 ** (bits // 2)), 2**bits)

"""Turns of parameters: the edges of their schemas, and the ways of writing, repeating and leaving out."""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random  # noqa: TID251 - seeded by whoever asks
from typing import Any

from understudy.generate import texts
from understudy.generate.cases import CaseKind
from understudy.generate.drafts import Draft, encoded
from understudy.generate.edges import Choice, edges
from understudy.generate.mutations import composites
from understudy.generate.mutations.changes import Apply
from understudy.generate.mutations.mutation import Generator, Mutation
from understudy.generate.mutations.operation_context import OperationContext, name_of
from understudy.generate.styles import text_of, written
from understudy.openapi.loader import Node
from understudy.openapi.operations import Parameter

_WRITINGS: tuple[tuple[str, CaseKind, Callable[[bytes], str]], ...] = (
    (
        "letters percent-encoded that need not be",
        "valid",
        lambda t: "".join(f"%{b:02X}" for b in t),
    ),
    (
        "percent-encoded in lower-case hexadecimal",
        "valid",
        lambda t: "".join(f"%{b:02x}" for b in t),
    ),
    ("percent-encoded twice", "open", lambda t: "".join(f"%25{b:02X}" for b in t)),
    ("a percent sign that encodes nothing", "open", lambda t: _plain(t) + "%zz"),
    ("a percent sign at the end", "open", lambda t: _plain(t) + "%"),
    ("bytes that are no UTF-8", "open", lambda t: _plain(t) + "%FF%FE"),
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
"""What is done, what the URL's rules make of it (RFC 3986, 2), and how; of the text's bytes."""


def _plain(text: bytes) -> str:
    return encoded(text.decode())


def turns(scene: OperationContext, parameter: Parameter) -> Iterator[Mutation]:
    """Yields the turns of one parameter."""
    slot = f"{parameter.location} {parameter.name}"
    if slot in scene.unread:
        return
    if parameter.schema is not None and parameter.style == "deepObject":
        yield from composites.members(scene, parameter, slot, parameter.schema)
    elif parameter.schema is not None and not parameter.is_json:
        yield from _edges(scene, parameter, slot, parameter.schema)
    if parameter.location != "path":
        yield _left_out(scene, parameter, slot)
    if parameter.location == "query":
        yield from _presence(scene, parameter, slot)
    if parameter.location in {"query", "path"}:
        yield from _writings(scene, parameter, slot)


def draws(scene: OperationContext, parameter: Parameter) -> Iterator[Generator]:
    """Yields what makes up further turns of one parameter, without end."""
    slot = f"{parameter.location} {parameter.name}"
    schema = parameter.schema
    if slot in scene.unread or schema is None or parameter.location not in {"query", "path"}:
        return
    types = scene.values.schemas.types(schema)
    is_free = not {"enum", "const"} & set(scene.values.says(schema))
    if types == {"string"} and is_free:
        yield lambda chance: _made_up(
            scene, parameter, schema, f"a{texts.drawn(chance)}", "unicode"
        )
    if "integer" in types and is_free:
        yield lambda chance: _made_up(scene, parameter, schema, _integer(chance), "number")


def apply_text(parameter: Parameter, *written: str) -> Apply:
    """Returns what puts encoded texts where the parameter stands."""
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
    scene: OperationContext, parameter: Parameter, slot: str, schema: Node
) -> Iterator[Mutation]:
    if parameter.location == "query" and "array" in scene.values.schemas.types(schema):
        yield from composites.lists(scene, parameter, slot, schema)
        return
    for choice in edges(scene.values, schema, is_text=True):
        if isinstance(choice.value, list | dict):
            continue
        turn = _with_value(scene, parameter, schema, choice)
        if turn is not None:
            yield turn
    types = scene.values.schemas.types(schema)
    yield from _lexical(scene, parameter, slot, types, schema.pointer)


def _with_value(
    scene: OperationContext, parameter: Parameter, schema: Node, choice: Choice
) -> Mutation | None:
    slot = f"{parameter.location} {parameter.name}"
    text = written(choice.value)
    if parameter.location in {"header", "cookie"}:
        if not (text.isascii() and text.isprintable()) or not _is_sendable(parameter, text):
            return None
        put = text_of(parameter, choice.value, str) if parameter.location == "header" else text
        return scene.turn(slot, choice, apply_text(parameter, put), schema.pointer)
    if parameter.location == "query":
        apply = apply_text(parameter, encoded(text))
    else:
        apply = apply_text(parameter, text_of(parameter, choice.value))
    turn = scene.turn(slot, choice, apply, schema.pointer)
    if parameter.location == "path":
        return _in_path(scene, slot, turn, text)
    if not text and "null" in scene.values.schemas.types(schema):
        return turn._replace(kind="open", statuses=("2XX", "4XX"), is_option=False)
    return turn


def _is_sendable(parameter: Parameter, text: str) -> bool:
    """Tells whether a cookie can say it (RFC 6265, 4.1.1); a header can say any printable text."""
    return parameter.location == "header" or not set(text) & set(' ",;\\')


def _in_path(scene: OperationContext, slot: str, turn: Mutation, text: str) -> Mutation | None:
    if not text or set(text) <= {".", "/"}:
        return None  # another path altogether
    if set(text) & set("/\\\x00\r\n"):
        reason = "RFC 3986, 3.3: what such a character means in a path is the server's"
        return scene.left_open(slot, turn.category, turn.what, turn.source, reason, turn.apply)
    if turn.kind == "valid" and slot not in scene.meanings:
        return turn._replace(statuses=("2XX", "404"))
    return turn


def _lexical(
    scene: OperationContext, parameter: Parameter, slot: str, types: frozenset[str], pointer: str
) -> Iterator[Mutation]:
    because = f"{pointer}/type"
    if "string" in types or not types:
        return
    bad: dict[str, str] = {}
    doubtful: dict[str, str] = {}
    if types & {"integer", "number"}:
        bad |= {what: text for what, text in texts.NO_INTEGERS.items() if _is_wrong(text, types)}
        doubtful |= texts.DOUBTFUL_INTEGERS
    if "boolean" in types:
        bad |= texts.NO_BOOLEANS
    for what, text in bad.items():
        said = f"{parameter.name}: {what} where {' or '.join(sorted(types))} belongs"
        if parameter.location != "path" or text:
            apply = apply_text(parameter, encoded(text))
            yield scene.refused(slot, "lexical", said, "type", because, apply)
    for what, text in doubtful.items():
        apply = apply_text(parameter, encoded(text))
        yield scene.left_open(slot, "lexical", f"{parameter.name}: {what}", "type", because, apply)


def _is_wrong(text: str, types: frozenset[str]) -> bool:
    is_fraction = text.replace(".", "", 1).isdecimal() and text.isascii()
    return not ("number" in types and is_fraction) and not (
        "null" in types and text in {"", "null"}
    )


def _left_out(scene: OperationContext, parameter: Parameter, slot: str) -> Mutation:
    pointer = f"{scene.operation.pointer}/parameters"
    what = f"{name_of(slot)} left out"
    args = (slot, "required", what, "required", pointer, _without(parameter))
    if parameter.required:
        return scene.refused(*args)
    return scene.accepted_turn(*args)._replace(is_option=True)


def _without(parameter: Parameter) -> Apply:
    if parameter.location != "query":
        return apply_text(parameter)
    name = encoded(parameter.name)

    def apply(draft: Draft) -> Draft:
        kept = (p for p in draft.query if p[0] != name and not p[0].startswith(f"{name}%5B"))
        return draft._replace(query=tuple(kept))

    return apply


def _presence(scene: OperationContext, parameter: Parameter, slot: str) -> Iterator[Mutation]:
    name = parameter.name
    pointer = f"{scene.operation.pointer}/parameters"
    plain = _base_text(scene, parameter)
    if parameter.style == "deepObject" or plain is None:
        return
    open_ = partial(scene.left_open, slot, "repetition")
    repeated = apply_text(parameter, plain, plain)
    yield scene.twice(slot, f"{name} given twice with one value", pointer, repeated)
    apply = apply_text(parameter, plain, encoded("other"))
    yield scene.twice(slot, f"{name} given twice with two values", pointer, apply)
    for other, what in ((f"{name}[]", "as an array"), (f"{name}[0]", "under an index")):
        yield open_(f"{name} {what}: {other}", "name", pointer, _renamed(parameter, other, plain))
    yield open_(
        f"{name.upper()} instead of {name}",
        "name",
        pointer,
        _renamed(parameter, name.upper(), plain),
    )
    yield open_(
        f"{name} without an equals sign",
        "writing",
        pointer,
        lambda d: d.with_query(encoded(name), None),
    )


def _renamed(parameter: Parameter, other: str, text: str) -> Apply:
    return lambda draft: draft.with_query(encoded(parameter.name)).with_query(encoded(other), text)


def _base_text(scene: OperationContext, parameter: Parameter) -> str | None:
    if parameter.location == "path":
        return dict(scene.base.places).get(parameter.name)
    name = encoded(parameter.name)
    found = next((text for key, text in scene.base.query if key == name), None)
    if found is None and parameter.schema is not None:
        value = scene.values.sample(parameter.schema)
        found = None if isinstance(value, list | dict) else encoded(written(value))
    return found


def _writings(scene: OperationContext, parameter: Parameter, slot: str) -> Iterator[Mutation]:
    plain = _base_text(scene, parameter)
    if not plain or "~~" in plain or "%" in plain:
        return
    for what, kind, write in _WRITINGS:
        text = write(plain.encode())
        said = f"{parameter.name}: {what}"
        turn = scene.left_open(
            slot, "encoding", said, "percent-encoding", "RFC 3986, 2", apply_text(parameter, text)
        )
        meaning = scene.meanings.get(slot)
        is_known = meaning is None or plain in meaning.known or meaning.kind == "valid"
        if kind == "valid" and is_known:
            turn = turn._replace(kind="valid", statuses=())
        yield turn


def _made_up(
    scene: OperationContext, parameter: Parameter, schema: Node, value: Any, category: str
) -> Mutation:
    is_valid = scene.values.schemas.validator(schema).is_valid(value)
    what = str(value) if isinstance(value, int) else texts.spelled(value)
    choice = Choice(value, what, "type" if is_valid else "range", category, is_valid)
    turn = _with_value(scene, parameter, schema, choice)
    assert turn is not None  # a drawn text is no path of its own
    return turn


def _integer(chance: Random) -> int:
    size = chance.choice((8, 12, 16, 32, 64))
    return chance.randrange(-(2 ** (size // 2)), 2**size)

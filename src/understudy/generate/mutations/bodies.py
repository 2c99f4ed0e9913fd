"""Turns of JSON bodies: the edges of each member, and of the whole."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from understudy.generate import texts
from understudy.generate.drafts import Draft, Lexeme, dumps, encoded
from understudy.generate.edges import Choice, edges
from understudy.generate.mutations import changes
from understudy.generate.mutations.mutation import Generator, Mutation
from understudy.generate.mutations.operation_context import OperationContext
from understudy.generate.values import MAX_DEPTH
from understudy.openapi.loader import Node

BODY = "body"
WRITING = "writing"
"""Slot of how a body is written; applied when all members have their values."""

Path = tuple[str | int, ...]

_JSON_TEXT = "RFC 8259"


def json_turns(scene: OperationContext, schema: Node) -> Iterator[Mutation]:
    """Yields the turns of a JSON body."""
    yield from _members(scene, schema, schema, ())
    yield from _whole(scene, schema)
    yield from _alone(scene, schema)
    yield from _json_writing(scene, schema)


def draws(scene: OperationContext, schema: Node, *, is_form: bool) -> Iterator[Generator]:
    """Yields what makes up further turns of the members that take any text, without end."""
    for name, member in scene.values.members(schema).items():
        said = scene.values.says(member)
        is_free = said.get("type") == "string" and not {"enum", "const", "format"} & set(said)
        if is_free and f"{BODY} {name}" not in scene.unread:
            yield _drawn_text(scene, schema, member, name, is_form=is_form)
            if not is_form:
                yield _drawn_type(scene, schema, name)


def _drawn_text(
    scene: OperationContext, schema: Node, member: Node, name: str, *, is_form: bool
) -> Generator:
    pointer = member.pointer

    def draw(chance: Any) -> Mutation:
        text = texts.drawn(chance)
        is_valid = _takes(scene, schema, (name,), text) if not is_form else True
        choice = Choice(text, texts.spelled(text), "type", "unicode", is_valid)
        apply = changes.form(name, encoded(text)) if is_form else changes.member((name,), text)
        return scene.turn(f"{BODY} {name}", choice, apply, pointer)

    return draw


def _drawn_type(scene: OperationContext, schema: Node, name: str) -> Generator:
    def draw(chance: Any) -> Mutation:
        value: Any = chance.choice(
            (
                chance.randrange(-(2**40), 2**40),
                [texts.drawn(chance, 8)],
                {texts.drawn(chance, 8): texts.drawn(chance, 8)},
                chance.randrange(1000) / 8,
            )
        )
        is_valid = _takes(scene, schema, (name,), value)
        choice = Choice(value, _in_words(value), "type", "type", is_valid)
        pointer = f"{schema.pointer}/properties/{name}"
        return scene.turn(f"{BODY} {name}", choice, changes.member((name,), value), pointer)

    return draw


def _in_words(value: Any) -> str:
    kinds = {int: f"the number {value}", float: f"the number {value}", list: "a list of one text"}
    return kinds.get(type(value), "an object with one text")


def _members(scene: OperationContext, root: Node, schema: Node, path: Path) -> Iterator[Mutation]:
    schemas = scene.values.schemas
    required = set(schemas.required_names(schema))
    for name, member in scene.values.members(schema).items():
        here = (*path, name)
        slot = _slot(here)
        if slot in scene.unread:
            continue
        for choice in edges(scene.values, member):
            judged = choice._replace(is_valid=_takes(scene, root, here, choice.value))
            yield scene.turn(slot, judged, changes.member(here, choice.value), member.pointer)
        yield from _lexemes(scene, member, here)
        yield _left_out(scene, root, here, is_required=name in required)
        is_object = "object" in schemas.types(member) or scene.values.members(member)
        if is_object and len(here) < MAX_DEPTH:
            for turn in _members(_with_member(scene, member, here), root, member, here):
                yield turn._replace(apply=partial(_within, scene.values.sample(member), here, turn))
    yield from _additional(scene, root, path)


def _with_member(scene: OperationContext, member: Node, path: Path) -> OperationContext:
    """Returns the scene with an object where its members are about to be tried."""
    held = scene.values.sample(member)
    return replace(scene, base=_held(scene.base, path, held))


def _held(draft: Draft, path: Path, value: Any) -> Draft:
    """Returns the draft with a value, unless an object is there already."""
    there = draft.json
    for step in path:
        there = there.get(step) if isinstance(there, dict) else None
    return draft if isinstance(there, dict) else draft.with_json(path, value)


def _within(value: Any, path: Path, turn: Mutation, draft: Draft) -> Draft:
    return turn.apply(_held(draft, path, value))


def _slot(path: Path) -> str:
    return f"{BODY} {'.'.join(map(str, path))}"


def _takes(scene: OperationContext, root: Node, path: Path, value: Any) -> bool:
    draft = scene.base.with_json(path, value)
    return bool(scene.values.schemas.validator(root).is_valid(draft.json))


def _lexemes(scene: OperationContext, member: Node, path: Path) -> Iterator[Mutation]:
    if not {"integer", "number"} & scene.values.schemas.types(member):
        return
    for what, text in texts.LEXEMES.items():
        apply = changes.member(path, Lexeme(text))
        said = f"{'.'.join(map(str, path))}: {what}, {text}"
        yield scene.left_open(_slot(path), "number", said, "type", f"{_JSON_TEXT}, 6", apply)


def _left_out(scene: OperationContext, root: Node, path: Path, *, is_required: bool) -> Mutation:
    slot, pointer = _slot(path), f"{root.pointer}/required"
    what = f"{'.'.join(map(str, path))} left out"

    def apply(draft: Draft) -> Draft:
        return draft.without_json(path)

    is_valid = scene.values.schemas.validator(root).is_valid(apply(scene.base).json)
    make = scene.accepted_turn if is_valid else scene.refused
    turn = make(slot, "required", what, "required", pointer, apply)
    return turn._replace(is_option=is_valid and not is_required)


def _additional(scene: OperationContext, root: Node, path: Path) -> Iterator[Mutation]:
    where = "" if not path else f" of {'.'.join(map(str, path))}"
    for name, what in (
        ("understudy_extra", "a member that is not declared"),
        ("__proto__", "a member named __proto__"),
        ("", "a member without a name"),
        ("hash", "a member that only answers have, hash"),
    ):
        here = (*path, name)
        slot, pointer = _slot(here), f"{root.pointer}/additionalProperties"
        is_valid = _takes(scene, root, here, "a")
        make = scene.accepted_turn if is_valid else scene.refused
        said = f"body: {what}{where}"
        yield make(
            slot, "additional", said, "additionalProperties", pointer, changes.member(here, "a")
        )


def _whole(scene: OperationContext, schema: Node) -> Iterator[Mutation]:
    takes = scene.values.schemas.validator(schema).is_valid
    values: dict[str, Any] = {
        "an empty object": {},
        "null": None,
        "a list": [],
        "a list around the object": [scene.base.json],
        "a text": "text",
        "a number": 7,
        "false": False,
        "JSON within a JSON text": dumps(scene.base.json),
    }
    for what, value in values.items():
        make = scene.accepted_turn if takes(value) else scene.refused
        yield make(
            BODY,
            "body",
            f"body: {what}",
            "type",
            f"{schema.pointer}/type",
            changes.member((), value),
        )
    for what, content in texts.BAD_JSON.items():
        yield scene.refused(
            BODY,
            "json",
            f"body: no JSON, {what}",
            "json-bodies",
            f"{_JSON_TEXT}, 2",
            changes.raw(content),
        )
    for depth in (500, 20_000):
        content = b"[" * depth + b"]" * depth
        make = scene.left_open if takes([]) else scene.refused
        what = f"body: {depth:,} lists within each other"
        yield make(BODY, "json", what, "type", f"{schema.pointer}/type", changes.raw(content))
    yield no_body(scene)


def _alone(scene: OperationContext, schema: Node) -> Iterator[Mutation]:
    """Yields bodies of one member, as updates of one thing are."""
    takes = scene.values.schemas.validator(schema).is_valid
    for name, member in scene.values.members(schema).items():
        if f"{BODY} {name}" in scene.meanings:
            continue  # the sample need not be one that means something
        for what, value in (("", scene.values.sample(member)), (", empty", ""), (", null", None)):
            if takes({name: value}):
                apply = changes.member((), {name: value})
                because = f"{schema.pointer}/required"
                said = f"body: {name} alone{what}"
                yield scene.accepted_turn(BODY, "alone", said, "required", because, apply)


def no_body(scene: OperationContext) -> Mutation:
    """Returns the turn that sends no body."""
    pointer = f"{scene.operation.pointer}/requestBody/required"
    body = scene.operation.request_body
    make = scene.refused if body is not None and body.required else scene.accepted_turn
    return make(BODY, "empty", "body: none at all", "required", pointer, Draft.without_body)


def _json_writing(scene: OperationContext, schema: Node) -> Iterator[Mutation]:
    def rewritten(what: str, kind: str, change: Any) -> Mutation:
        make = scene.accepted_turn if kind == "valid" else scene.left_open
        return make(
            WRITING,
            "json",
            f"body: {what}",
            "json-bodies",
            _JSON_TEXT,
            changes.rewritten(change),
        )

    yield rewritten(
        "spaces and line ends around the JSON", "valid", lambda b: b"\r\n\t " + b + b"\n "
    )
    yield rewritten("every letter outside ASCII escaped", "valid", _escaped)
    yield rewritten("a byte order mark before the JSON", "open", lambda b: b"\xef\xbb\xbf" + b)
    yield rewritten("UTF-16 instead of UTF-8", "open", lambda b: b.decode().encode("utf-16"))
    yield rewritten("a NUL byte behind the JSON", "open", lambda b: b + b"\x00")
    yield rewritten("gzip, as Content-Encoding does not say", "open", _zipped)
    yield scene.left_open(
        WRITING,
        "encoding",
        "body: gzip, as Content-Encoding says",
        "content-encoding",
        "RFC 9110, 8.4",
        lambda d: d._replace(raw=_zipped(d.content() or b"")).with_headers(
            "Content-Encoding", "gzip"
        ),
    )
    name = next(iter(scene.values.schemas.property_names(schema)), None)
    if name is not None:
        yield rewritten(
            f"{name} twice in one object",
            "open",
            lambda b: b.replace(b"{", b'{"' + name.encode() + b'": "first", ', 1),
        )
        for half in ("d83d", "de00"):
            mark = b'": "\\u' + half.encode()
            what = f"{name} with half of a surrogate pair, \\u{half}"
            yield rewritten(what, "open", partial(_first_text, mark))


def _first_text(mark: bytes, body: bytes) -> bytes:
    return body.replace(b'": "', mark, 1)


def _escaped(body: bytes) -> bytes:
    units = body.decode().encode("utf-16-be")
    codes = [int.from_bytes(units[n : n + 2]) for n in range(0, len(units), 2)]
    return "".join(chr(code) if code < 0x80 else f"\\u{code:04x}" for code in codes).encode()  # noqa: PLR2004 - ASCII


def _zipped(body: bytes) -> bytes:
    """Returns gzip without compression and without a time: the same bytes under every zlib."""
    zipped = gzip.compress(body, compresslevel=0, mtime=0)
    return zipped[:9] + b"\xff" + zipped[10:]  # the operating system, which Python 3.11 fills in

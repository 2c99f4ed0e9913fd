"""Turns of multipart bodies: how parts are written, and what the file in them is."""

from collections.abc import Callable, Iterator
from random import Random  # noqa: TID251 - seeded by whoever asks

from understudy.generate import pictures
from understudy.generate.cases import CaseKind
from understudy.generate.drafts import Draft, MultipartBody, MultipartPart
from understudy.generate.mutations.mutation import OPEN, Generator, Mutation, rule
from understudy.generate.mutations.operation_context import OperationContext
from understudy.generate.pictures import Picture
from understudy.generate.styles import written
from understudy.openapi.loader import Node

BODY = "body"
WRITING = "writing"
TOO_LARGE = ("413",)
MULTIPART_RFC = "RFC 7578, 4"

TYPES = "upload-image-types"
SQUARE = "upload-square"
SIZE = "upload-size-limit"

Change = Callable[[MultipartBody], MultipartBody]


def base_parts(scene_values: Iterator[tuple[str, object]]) -> MultipartBody:
    """Returns a plain multipart body of these members; bytes are a file."""
    return MultipartBody(tuple(_part(name, value) for name, value in scene_values))


def _part(name: str, value: object) -> MultipartPart:
    if isinstance(value, bytes):
        return file_part(name, pictures.good()[0]._replace(content=value))
    disposition = f'Content-Disposition: form-data; name="{name}"'
    return MultipartPart((disposition,), written(value).encode())


def file_part(name: str, picture: Picture) -> MultipartPart:
    """Returns a part as a browser writes it: quotes in a name are percent-encoded."""
    file_name = picture.name.replace('"', "%22")
    disposition = f'Content-Disposition: form-data; name="{name}"; filename="{file_name}"'
    return MultipartPart((disposition, f"Content-Type: {picture.media_type}"), picture.content)


def turns(scene: OperationContext, schema: Node, file_name: str) -> Iterator[Mutation]:
    """Yields the turns of a multipart body.

    Args:
        scene: The operation.
        schema: Of the form.
        file_name: Name of the member that is a file.
    """
    pointer = f"{scene.operation.pointer}/requestBody"
    is_required = file_name in scene.values.schemas.required_names(schema)
    missing = scene.refused if is_required else scene.accepted_turn
    yield missing(
        f"{BODY} {file_name}",
        "required",
        f"{file_name}: left out",
        "required",
        pointer,
        _to_parts(lambda parts: parts._replace(parts=())),
    )
    yield missing(
        f"{BODY} {file_name}",
        "multipart",
        f"{file_name.upper()} instead of {file_name}",
        "required",
        pointer,
        _to_file(file_name, lambda part: _headed(part, file_name, file_name.upper())),
    )
    yield from _files(scene, file_name)
    if scene.is_ours:
        yield from _sizes(file_name)
    yield from _writing(scene, file_name)
    yield from _broken(scene, file_name)


def draws(file_name: str, scene: OperationContext) -> Iterator[Generator]:
    """Yields what makes up further pictures, without end."""

    def picture(chance: Random) -> Mutation:
        side, shade = chance.randrange(1, 65), chance.randrange(256)
        other = side if chance.random() < 0.5 else side + chance.randrange(1, 65)  # noqa: PLR2004 - half
        content = pictures.png(side, other, shade=shade)
        made = Picture(
            f"a PNG of {side} x {other} pixels in shade {shade}", content, "a.png", "image/png"
        )
        is_square = side == other or not scene.is_ours
        return _file(scene, file_name, made, SQUARE, is_good=is_square)

    yield picture


def _files(scene: OperationContext, name: str) -> Iterator[Mutation]:
    for picture in pictures.good():
        yield _file(scene, name, picture, TYPES, is_good=True)
    for picture in pictures.bad():
        yield _file(scene, name, picture, TYPES, is_good=not scene.is_ours)
    for picture in pictures.oblong():
        yield _file(scene, name, picture, SQUARE, is_good=not scene.is_ours)
    for picture in pictures.doubtful():
        turn = _file(scene, name, picture, TYPES, is_good=True)
        because = "the interface does not say"
        yield turn._replace(kind="open", statuses=OPEN, because=because, is_option=False)


def _sizes(name: str) -> Iterator[Mutation]:
    """Yields the sizes around the limit; whether 10 MB are 10,000,000 bytes or 2^20 more is open."""

    def sized(what: str, size: int, kind: CaseKind, statuses: tuple[str, ...] = ()) -> Mutation:
        args = (f"{BODY} {name}", "image", f"{name}: {what}", SIZE, rule(SIZE))
        # drawn when it is wanted: turns are kept, and ten megabytes need not be
        apply = _to_file(name, lambda _: file_part(name, pictures.padded(size)))
        return Mutation(*args, kind, apply, statuses, is_alone=True)

    most = pictures.LARGEST
    yield sized(f"a PNG of {most:,} bytes, the most that is taken", most, "valid")
    yield sized(f"a PNG of {most + 1:,} bytes, one beyond 10 MB", most + 1, "open", OPEN)
    large = most + 1_000_000
    yield sized(f"a PNG of {large:,} bytes, more than 10 MB", large, "invalid", TOO_LARGE)


def _file(
    scene: OperationContext, name: str, picture: Picture, rule_id: str, *, is_good: bool
) -> Mutation:
    make = scene.accepted_turn if is_good else scene.refused
    because = rule(rule_id) if scene.is_ours else f"{scene.operation.pointer}/requestBody"
    turn = make(
        f"{BODY} {name}",
        "image",
        f"{name}: {picture.what}",
        rule_id,
        because,
        _to_file(name, lambda _: file_part(name, picture)),
    )
    return turn._replace(is_option=is_good and picture.name in {"a.png", "a.jpg", "a.gif"})


def _writing(scene: OperationContext, name: str) -> Iterator[Mutation]:
    """Oddities of real clients, that change nothing of what they mean."""

    def odd(what: str, change: Change) -> Mutation:
        return scene.accepted_turn(
            WRITING,
            "multipart",
            f"multipart: {what}",
            "multipart",
            MULTIPART_RFC,
            _to_parts(change),
        )

    def typed(text: str) -> Change:
        line = f"Content-Type: {text}"
        return _each(name, lambda p: p._replace(headers=(p.headers[0], line)))

    yield odd("a part name without quotes", _each(name, lambda p: _unquoted(p, name)))
    yield odd("a part type with a stray semicolon", typed("application/octet-stream;"))
    yield odd("a part without a type", _each(name, lambda p: p._replace(headers=p.headers[:1])))
    yield odd("a part type of text", typed("text/plain; charset=utf-8"))
    yield odd("a part of another picture's type", typed("image/gif"))
    yield odd("an empty line before the last boundary", lambda p: p._replace(before_end=b"\r\n"))
    yield odd("nothing behind the last boundary", lambda p: p._replace(epilogue=b""))
    yield odd("text before the first boundary", lambda p: p._replace(preamble=b"a preamble\r\n"))
    yield odd("text behind the last boundary", lambda p: p._replace(epilogue=b"\r\nan epilogue"))
    yield odd("the boundary +++", lambda p: p._replace(boundary="+++"))
    yield odd("a boundary of 70 characters", lambda p: p._replace(boundary="b" * 70))
    yield odd("a boundary of hyphens", lambda p: p._replace(boundary="-" * 24 + "7d3f"))
    yield odd("another part that nobody knows", _with_part("understudy", b"1"))
    yield odd("an empty part that nobody knows", _with_part("understudy", b""))
    yield odd(
        "the part's headers in lower case",
        _each(name, lambda p: p._replace(headers=tuple(_lower(h) for h in p.headers))),
    )


def _broken(scene: OperationContext, name: str) -> Iterator[Mutation]:
    def bad(what: str, apply: Callable[[Draft], Draft]) -> Mutation:
        return scene.refused(
            WRITING, "multipart", f"multipart: {what}", "multipart", MULTIPART_RFC, apply
        )

    def doubtful(what: str, apply: Callable[[Draft], Draft]) -> Mutation:
        return scene.left_open(
            WRITING, "multipart", f"multipart: {what}", "multipart", MULTIPART_RFC, apply
        )

    boundary = "multipart/form-data; boundary="
    yield bad("no boundary in Content-Type", lambda d: _raw(d, "multipart/form-data"))
    yield bad("an empty boundary in Content-Type", lambda d: _raw(d, boundary))
    yield bad("another boundary in Content-Type", lambda d: _raw(d, f"{boundary}another"))
    yield bad("no last boundary", _to_parts(lambda p: p._replace(is_ended=False)))
    yield bad(
        "no body behind the headers", lambda d: d._replace(raw=b"", content_type=f"{boundary}a")
    )
    yield bad(
        "the file as the body itself",
        lambda d: d._replace(raw=pictures.png(), content_type="image/png"),
    )
    yield doubtful(
        "line feeds alone",
        lambda d: d._replace(
            raw=(d.content() or b"").replace(b"\r\n", b"\n"), content_type=_type(d)
        ),
    )
    yield doubtful("the file twice", _to_parts(lambda p: p._replace(parts=(*p.parts, *p.parts))))
    yield doubtful(
        "a file without a file name", _to_parts(_each(name, lambda p: _nameless(p, name)))
    )
    yield doubtful(
        "the file under the name image", _to_parts(_each(name, lambda p: _headed(p, name, "image")))
    )
    yield doubtful(
        "the file announced as base64",
        _to_parts(
            _each(
                name,
                lambda p: p._replace(headers=(*p.headers, "Content-Transfer-Encoding: base64")),
            )
        ),
    )


def _type(draft: Draft) -> str:
    boundary = draft.parts.boundary if draft.parts else ""
    return f"multipart/form-data; boundary={boundary}"


def _raw(draft: Draft, content_type: str) -> Draft:
    return draft._replace(raw=draft.content(), content_type=content_type)


def _to_parts(change: Change) -> Callable[[Draft], Draft]:
    return lambda draft: draft._replace(parts=draft.parts and change(draft.parts))


def _to_file(
    name: str, change: Callable[[MultipartPart], MultipartPart]
) -> Callable[[Draft], Draft]:
    return _to_parts(_each(name, change))


def _each(name: str, change: Callable[[MultipartPart], MultipartPart]) -> Change:
    def apply(parts: MultipartBody) -> MultipartBody:
        mark = f'name="{name}"'
        changed = (change(p) if mark in p.headers[0] else p for p in parts.parts)
        return parts._replace(parts=tuple(changed))

    return apply


def _with_part(name: str, content: bytes) -> Change:
    added = MultipartPart((f'Content-Disposition: form-data; name="{name}"',), content)
    return lambda parts: parts._replace(parts=(added, *parts.parts))


def _headed(part: MultipartPart, name: str, other: str) -> MultipartPart:
    first, *rest = part.headers
    return part._replace(headers=(first.replace(f' name="{name}"', f' name="{other}"'), *rest))


def _unquoted(part: MultipartPart, name: str) -> MultipartPart:
    first, *rest = part.headers
    return part._replace(headers=(first.replace(f' name="{name}"', f" name={name}"), *rest))


def _nameless(part: MultipartPart, name: str) -> MultipartPart:
    return part._replace(headers=(f'Content-Disposition: form-data; name="{name}"',))


def _lower(header: str) -> str:
    name, _, text = header.partition(":")
    return f"{name.lower()}:{text}"

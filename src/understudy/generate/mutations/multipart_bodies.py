"""Mutations of multipart bodies: how their parts are written, and which file they carry."""

from collections.abc import Callable, Iterator
from random import Random  # noqa: TID251 - seeded by whoever asks

from understudy.generate import upload_images
from understudy.generate.cases import CaseKind
from understudy.generate.drafts import JSON, Draft, MultipartBody, MultipartPart
from understudy.generate.mutations.mutation import BODY, OPEN, WRITING, Generator, Mutation, rule
from understudy.generate.mutations.operation_context import OperationContext
from understudy.generate.upload_images import UploadImage
from understudy.openapi.loader import Node
from understudy.openapi.parameter_writing import written

TOO_LARGE = ("413",)
MULTIPART_RFC = "RFC 7578, 4"

TYPES = "upload-image-types"
SQUARE = "upload-square"
SIZE = "upload-size-limit"

BodyChange = Callable[[MultipartBody], MultipartBody]


def base_parts(named_values: Iterator[tuple[str, object]]) -> MultipartBody:
    """Returns a plain multipart body of these members; a value of bytes is a file."""
    return MultipartBody(tuple(_part(name, value) for name, value in named_values))


def _part(name: str, value: object) -> MultipartPart:
    if isinstance(value, bytes):
        return file_part(name, upload_images.good()[0]._replace(content=value))
    disposition = f'Content-Disposition: form-data; name="{name}"'
    headers = (disposition, f"Content-Type: {JSON}") if isinstance(value, dict) else (disposition,)
    return MultipartPart(headers, written(value).encode())


def file_part(name: str, picture: UploadImage) -> MultipartPart:
    """Returns a file part as a browser writes it: quotes in its name are percent-encoded."""
    file_name = picture.name.replace('"', "%22")
    disposition = f'Content-Disposition: form-data; name="{name}"; filename="{file_name}"'
    return MultipartPart((disposition, f"Content-Type: {picture.media_type}"), picture.content)


def mutations(context: OperationContext, schema: Node, file_name: str) -> Iterator[Mutation]:
    """Yields the mutations of a multipart body.

    Args:
        context: The operation context.
        schema: Schema of the form.
        file_name: Name of the member that is a file.
    """
    pointer = f"{context.operation.pointer}/requestBody"
    is_required = file_name in context.values.schemas.required_names(schema)
    missing = context.refused if is_required else context.accepted
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
    yield from _files(context, file_name)
    if context.is_interface_operation:
        yield from _sizes(file_name)
    yield from _writing(context, schema, file_name)
    yield from _broken(context, file_name)


def generators(file_name: str, context: OperationContext) -> Iterator[Generator]:
    """Yields a generator of further images."""

    def picture(chance: Random) -> Mutation:
        side, shade = chance.randrange(1, 65), chance.randrange(256)
        other = side if chance.random() < 0.5 else side + chance.randrange(1, 65)  # noqa: PLR2004 - half
        content = upload_images.png(side, other, shade=shade)
        made = UploadImage(
            f"a PNG of {side} x {other} pixels in shade {shade}", content, "a.png", "image/png"
        )
        is_square = side == other or not context.is_interface_operation
        return _file(context, file_name, made, SQUARE, is_good=is_square)

    yield picture


def _files(context: OperationContext, name: str) -> Iterator[Mutation]:
    for picture in upload_images.good():
        yield _file(context, name, picture, TYPES, is_good=True)
    for picture in upload_images.bad():
        yield _file(context, name, picture, TYPES, is_good=not context.is_interface_operation)
    for picture in upload_images.oblong():
        yield _file(context, name, picture, SQUARE, is_good=not context.is_interface_operation)
    for picture in upload_images.doubtful():
        mutation = _file(context, name, picture, TYPES, is_good=True)
        because = "the interface does not say"
        yield mutation._replace(kind="open", statuses=OPEN, because=because, is_option=False)


def _sizes(name: str) -> Iterator[Mutation]:
    """Yields sizes around the limit; whether 10 MB are 10 * 10^6 or 10 * 2^20 bytes is left open."""

    def sized(what: str, size: int, kind: CaseKind, statuses: tuple[str, ...] = ()) -> Mutation:
        args = (f"{BODY} {name}", "image", f"{name}: {what}", SIZE, rule(SIZE))
        # Made on use: mutations are kept in memory, and ten megabytes need not be.
        apply = _to_file(name, lambda _: file_part(name, upload_images.padded(size)))
        return Mutation(*args, kind, apply, statuses, is_alone=True)

    most = upload_images.LARGEST
    yield sized(f"a PNG of {most:,} bytes, the most that is taken", most, "valid")
    yield sized(f"a PNG of {most + 1:,} bytes, one beyond 10 MB", most + 1, "open", OPEN)
    large = most + 1_000_000
    yield sized(f"a PNG of {large:,} bytes, more than 10 MB", large, "invalid", TOO_LARGE)


def _file(
    context: OperationContext, name: str, picture: UploadImage, rule_id: str, *, is_good: bool
) -> Mutation:
    make = context.accepted if is_good else context.refused
    because = (
        rule(rule_id)
        if context.is_interface_operation
        else f"{context.operation.pointer}/requestBody"
    )
    mutation = make(
        f"{BODY} {name}",
        "image",
        f"{name}: {picture.description}",
        rule_id,
        because,
        _to_file(name, lambda _: file_part(name, picture)),
    )
    return mutation._replace(is_option=is_good and picture.name in {"a.png", "a.jpg", "a.gif"})


def _writing(context: OperationContext, schema: Node, name: str) -> Iterator[Mutation]:
    """Yields the odd ways in which real clients write the same body."""

    def accepted(what: str, change: BodyChange) -> Mutation:
        return context.accepted(
            WRITING,
            "multipart",
            f"multipart: {what}",
            "multipart",
            MULTIPART_RFC,
            _to_parts(change),
        )

    def typed(text: str) -> BodyChange:
        line = f"Content-Type: {text}"
        return _each(name, lambda p: p._replace(headers=(p.headers[0], line)))

    yield accepted("a part name without quotes", _each(name, lambda p: _unquoted(p, name)))
    yield accepted("a part type with a stray semicolon", typed("application/octet-stream;"))
    yield accepted(
        "a part without a type", _each(name, lambda p: p._replace(headers=p.headers[:1]))
    )
    yield accepted("a part type of text", typed("text/plain; charset=utf-8"))
    yield accepted("a part of another picture's type", typed("image/gif"))
    yield accepted(
        "an empty line before the last boundary", lambda p: p._replace(before_end=b"\r\n")
    )
    yield accepted("nothing behind the last boundary", lambda p: p._replace(epilogue=b""))
    yield accepted(
        "text before the first boundary", lambda p: p._replace(preamble=b"a preamble\r\n")
    )
    yield accepted(
        "text behind the last boundary", lambda p: p._replace(epilogue=b"\r\nan epilogue")
    )
    yield accepted("the boundary +++", lambda p: p._replace(boundary="+++"))
    yield accepted("a boundary of 70 characters", lambda p: p._replace(boundary="b" * 70))
    yield accepted("a boundary of hyphens", lambda p: p._replace(boundary="-" * 24 + "7d3f"))
    yield from _with_more(context, schema)
    yield accepted(
        "the part's headers in lower case",
        _each(name, lambda p: p._replace(headers=tuple(_lower(h) for h in p.headers))),
    )


def _with_more(context: OperationContext, schema: Node) -> Iterator[Mutation]:
    make = context.accepted if context.values.takes_more(schema) else context.left_open
    for what, content in (("an unknown part", b"1"), ("an empty unknown part", b"")):
        change = _to_parts(_with_part("understudy", content))
        yield make(WRITING, "multipart", f"multipart: {what}", "multipart", MULTIPART_RFC, change)


def _broken(context: OperationContext, name: str) -> Iterator[Mutation]:
    def refused(what: str, apply: Callable[[Draft], Draft]) -> Mutation:
        return context.refused(
            WRITING, "multipart", f"multipart: {what}", "multipart", MULTIPART_RFC, apply
        )

    def left_open(what: str, apply: Callable[[Draft], Draft]) -> Mutation:
        return context.left_open(
            WRITING, "multipart", f"multipart: {what}", "multipart", MULTIPART_RFC, apply
        )

    boundary = "multipart/form-data; boundary="
    yield refused("no boundary in Content-Type", lambda d: _raw(d, "multipart/form-data"))
    yield refused("an empty boundary in Content-Type", lambda d: _raw(d, boundary))
    yield refused("another boundary in Content-Type", lambda d: _raw(d, f"{boundary}another"))
    yield refused("no last boundary", _to_parts(lambda p: p._replace(is_ended=False)))
    yield refused(
        "no body behind the headers", lambda d: d._replace(raw=b"", content_type=f"{boundary}a")
    )
    yield refused(
        "the file as the body itself",
        lambda d: d._replace(raw=upload_images.png(), content_type="image/png"),
    )
    yield left_open(
        "line feeds alone",
        lambda d: d._replace(
            raw=(d.content() or b"").replace(b"\r\n", b"\n"), content_type=_type(d)
        ),
    )
    yield left_open("the file twice", _to_parts(lambda p: p._replace(parts=(*p.parts, *p.parts))))
    yield left_open(
        "a file without a file name", _to_parts(_each(name, lambda p: _nameless(p, name)))
    )
    yield left_open(
        "the file under the name image", _to_parts(_each(name, lambda p: _headed(p, name, "image")))
    )
    yield left_open(
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


def _to_parts(change: BodyChange) -> Callable[[Draft], Draft]:
    return lambda draft: draft._replace(parts=draft.parts and change(draft.parts))


def _to_file(
    name: str, change: Callable[[MultipartPart], MultipartPart]
) -> Callable[[Draft], Draft]:
    return _to_parts(_each(name, change))


def _each(name: str, change: Callable[[MultipartPart], MultipartPart]) -> BodyChange:
    def apply(parts: MultipartBody) -> MultipartBody:
        mark = f'name="{name}"'
        changed = (change(p) if mark in p.headers[0] else p for p in parts.parts)
        return parts._replace(parts=tuple(changed))

    return apply


def _with_part(name: str, content: bytes) -> BodyChange:
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

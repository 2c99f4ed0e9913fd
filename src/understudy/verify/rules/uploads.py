"""Uploads, judged by the bytes that were sent (interface, Authenticated avatar operations)."""

import re
from functools import lru_cache
from io import BytesIO
from typing import NamedTuple

from PIL import Image, UnidentifiedImageError

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import LIST_AVATARS, UPLOAD_AVATAR
from understudy.verify.checks import (
    CheckResult,
    check,
    expect,
    expect_accepted,
    expect_equal,
    expect_refused,
    expect_status,
)
from understudy.verify.history import History, avatars_in

TAKEN = frozenset({"JPEG", "PNG", "GIF"})
LARGEST = 10_000_000
"""Bytes that an upload may have; up to some more nobody is blamed."""
TOO_LARGE = 10 * 1024 * 1024

_NAME = re.compile(rb'name="?(\w+)')


class Sent(NamedTuple):
    """The file of an upload.

    Attributes:
        name: Of its field.
        size: In bytes.
        form: ``PNG`` and such; empty for what is no picture.
        is_square: Whether it is as wide as it is high.
    """

    name: str
    size: int
    form: str
    is_square: bool


@lru_cache(maxsize=256)
def _sent(content_type: str, body: bytes) -> Sent | None:
    boundary = re.search(r'boundary="?([^";]+)', content_type)
    if not content_type.lower().startswith("multipart/form-data") or boundary is None:
        return None
    parts = body.split(b"--" + boundary[1].encode())[1:-1]
    if len(parts) != 1:
        return None
    head, _, content = parts[0].partition(b"\r\n\r\n")
    name = _NAME.search(head)
    content = content.removesuffix(b"\r\n")
    form, is_square = _looked_at(content)
    return Sent(name[1].decode() if name else "", len(content), form, is_square)


def _looked_at(content: bytes) -> tuple[str, bool]:
    try:
        with Image.open(BytesIO(content)) as image:
            size, form = image.size, image.format or ""
            image.load()
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        return "", False
    return form, size[0] == size[1]


def _upload(exchange: Exchange, history: History) -> Sent | None:
    """Returns the file, where everything else about the upload is in order."""
    given = exchange.request.query.get("selected_email_hash")
    is_own = not given or given in {"own": history.known.own_hashes}.get(
        exchange.identity.account or "", ()
    )
    choice = exchange.request.query.get("select_avatar", "true")
    is_able = exchange.identity.may("avatar-profile:manage")
    if not (is_own and is_able and choice in {"true", "false"}):
        return None
    return _sent(exchange.request.header("content-type"), exchange.request.body)


def _is_good(sent: Sent | None) -> bool:
    return (
        sent is not None
        and sent.name == "data"
        and sent.form in TAKEN
        and sent.is_square
        and sent.size <= LARGEST
    )


@check("avatar-upload-multipart", on=[UPLOAD_AVATAR])
def _multipart(exchange: Exchange, history: History) -> CheckResult | None:
    sent = _upload(exchange, history)
    if _is_good(sent):
        return expect_accepted(exchange)
    is_able = exchange.identity.may("avatar-profile:manage")
    is_form = exchange.request.header("content-type").lower().startswith("multipart/")
    return expect_refused(exchange) if is_able and not is_form else None


@check("avatar-upload-returns-avatar", on=[UPLOAD_AVATAR, LIST_AVATARS])
def _returned(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.operation == UPLOAD_AVATAR:
        if not _is_good(_upload(exchange, history)):
            return None
        image_id = exchange.json_object.get("image_id")
        is_new = isinstance(image_id, str) and history.owner_of(image_id) is None
        actual = f"status {exchange.status}, {image_id!r}"
        return expect(exchange.response.is_success and is_new, "the new avatar", actual)
    before = history.last(UPLOAD_AVATAR, account=exchange.identity.account)
    if before is None or not exchange.response.is_success:
        return None
    image_id = str(before.json_object.get("image_id"))
    if history.is_gone(image_id):
        return None
    found = [avatar.get("image_id") for avatar in avatars_in(exchange)]
    return expect(image_id in found, "a list that holds the new avatar", found, before)


@check("avatar-upload-status", on=[UPLOAD_AVATAR])
def _upload_status(exchange: Exchange, _history: History) -> CheckResult | None:
    return expect_status(exchange, 200) if exchange.response.is_success else None


@check("upload-image-types", on=[UPLOAD_AVATAR])
def _types(exchange: Exchange, history: History) -> CheckResult | None:
    sent = _upload(exchange, history)
    if sent is None or sent.name != "data" or not sent.size:
        return None
    if _is_good(sent):
        return expect_accepted(exchange)
    if sent.form in TAKEN or sent.size > LARGEST:
        return None  # of an accepted kind, and refused or not for another reason
    return expect_status(exchange, 400)


@check("upload-square", on=[UPLOAD_AVATAR])
def _square(exchange: Exchange, history: History) -> CheckResult | None:
    sent = _upload(exchange, history)
    if sent is None or sent.name != "data" or sent.form not in TAKEN or sent.size > LARGEST:
        return None
    return None if sent.is_square else expect_status(exchange, 400)


@check("upload-size-limit", on=[UPLOAD_AVATAR])
def _large(exchange: Exchange, _history: History) -> CheckResult | None:
    is_able = exchange.identity.may("avatar-profile:manage")
    is_large = len(exchange.request.body) > TOO_LARGE + 4096
    return expect_status(exchange, 413) if is_able and is_large else None


@check("select-avatar", on=[UPLOAD_AVATAR, LIST_AVATARS])
def _select(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.operation == LIST_AVATARS:
        return _listed_selection(exchange, history)
    if not exchange.response.is_success or "selected" not in exchange.json_object:
        return None
    wish = exchange.request.query.get("select_avatar")
    said = exchange.json_object["selected"]
    if wish in {"true", "false"}:
        return expect_equal(said, wish == "true", "selected")
    before = history.avatars_before(exchange)
    is_twin = before is not None and _address(before) == _address(exchange)
    if before is None or not is_twin or wish:
        return None
    if not all("selected" in avatar for avatar in avatars_in(before)):
        return None
    had = any(avatar.get("selected") for avatar in avatars_in(before))
    return expect_equal(said, not had, "selected", before)


def _listed_selection(exchange: Exchange, history: History) -> CheckResult | None:
    before = history.last(UPLOAD_AVATAR, account=exchange.identity.account)
    if before is None or not history.still_since(before) or _address(before) != _address(exchange):
        return None
    image_id = str(before.json_object.get("image_id"))
    found = {str(a.get("image_id")): a.get("selected") for a in avatars_in(exchange)}
    if image_id not in found:
        return None
    wanted = before.json_object.get("selected")
    return expect_equal(found[image_id], wanted, "selected in the list", before)


def _address(exchange: Exchange) -> str:
    return exchange.request.query.get("selected_email_hash", "")

"""Uploads, judged by the bytes that were sent (interface, Authenticated avatar operations)."""

from functools import lru_cache
from io import BytesIO
from typing import Final, NamedTuple

from PIL import Image, UnidentifiedImageError

from understudy.exchange.messages import Exchange
from understudy.exchange.multipart import parts_of
from understudy.interface.operations import (
    DELETE_AVATAR,
    LIST_AVATARS,
    OWN_PROFILE,
    SET_AVATAR,
    UPLOAD_AVATAR,
)
from understudy.verify.account_history import (
    address_of,
    assigned_hash,
    avatars_owned,
    ids_in,
    own_hashes,
)
from understudy.verify.checks import (
    CheckResult,
    check,
    demands,
    document_allows,
    expect,
    expect_accepted,
    expect_refused,
    expect_status,
    found,
    is_get,
    may_manage,
    may_read,
    proven,
    succeeded,
    tells,
    unless,
)
from understudy.verify.history import History
from understudy.verify.pictures import (
    SIDE,
    assign,
    avatars,
    id_of,
    look_alike,
    patterned,
    picture,
    plain_picture,
    upload,
)
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.switches import (
    DELETED,
    UPLOADING,
    by_success,
    experiment,
    number_reading,
    reading,
    status_of,
)
from understudy.verify.value_texts import as_json

ACCEPTED_FORMATS = frozenset({"JPEG", "PNG", "GIF"})
SAFE_SIZE = 64 * 1024
"""Bytes of a file that every deployment must accept; small, since the interface states no limit."""

SAFE_SIDE = 512
"""Pixels of a picture's longer side that every deployment must accept, likewise."""

SAFE_COUNT = 50
"""Avatars of an account that every deployment must allow, likewise."""

LARGEST = 10_000_000
"""Bytes of a file that the rule allows; sizes up to TOO_LARGE are left open: 10 MB or 10 MiB."""

TOO_LARGE = 10 * 1024 * 1024
ENVELOPE = 4096
"""Most bytes that a multipart body adds to its file."""


class File(NamedTuple):
    """The file of an upload.

    Attributes:
        field: Name of its field.
        size: In bytes.
        form: Picture format, such as ``PNG``; empty if the file is not a picture.
        is_square: Whether the picture is as wide as it is high.
        side: Pixels of the longer side; 0 if the file is not a picture.
    """

    field: str
    size: int
    form: str
    is_square: bool
    side: int = 0


@lru_cache(maxsize=8)  # a dozen conditions parse the same body, of up to ten megabytes
def only_file(content_type: str, body: bytes) -> File | None:
    """Returns the file of a multipart body; None unless the body has exactly one part."""
    parts = parts_of(body, content_type)
    if len(parts) != 1:
        return None
    name, content, _ = parts[0]
    form, width, height = _form_of(content)
    return File(name, len(content), form, bool(width) and width == height, max(width, height))


def _form_of(content: bytes) -> tuple[str, int, int]:
    """Returns format, width and height of a picture; empty and zeros if it cannot be decoded."""
    try:
        with Image.open(BytesIO(content)) as image:
            size, form = image.size, image.format or ""
            image.load()  # a truncated picture fails only here
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        return "", 0, 0
    return form, *size


def file_in(exchange: Exchange, history: History) -> File | None:
    """Returns the file that an upload sends under the document's field name, if it is not empty."""
    file = only_file(exchange.request.header("content-type"), exchange.request.body)
    return (
        file
        if file is not None and file.field == history.inputs.upload_field and file.size
        else None
    )


sends_one_file = found(
    file_in, "the body is multipart with one file under the document's field name"
)


selection_is_in_order = tells(
    "select_avatar is true or false, if it is there",
    lambda it, _: it.request.query.get("select_avatar", "true") in {"true", "false"},
)


def query_is_in_order(exchange: Exchange, history: History) -> bool:
    """Tells whether the query has only valid values: an own address, and true or false."""
    hash_ = address_of(exchange)
    is_own = exchange.identity.account == "own" and hash_ in own_hashes(exchange, history)
    return (not hash_ or is_own) and selection_is_in_order(exchange, history)


is_of_accepted_type = tells(
    "the file is a PNG, JPEG or GIF",
    lambda it, history: proven(file_in(it, history)).form in ACCEPTED_FORMATS,
)
is_of_other_type = unless(is_of_accepted_type, "the file is not a PNG, JPEG or GIF")
has_few_bytes = tells(
    "the file has so few bytes that every deployment accepts it",
    lambda it, history: proven(file_in(it, history)).size <= SAFE_SIZE,
)
is_narrow = tells(
    "the picture is so narrow that every deployment accepts it",
    lambda it, history: proven(file_in(it, history)).side <= SAFE_SIDE,
)
is_small = tells(
    "the file and its picture are small enough for every deployment",
    lambda it, history: has_few_bytes(it, history) and is_narrow(it, history),
)
is_large = tells(
    "the file is large, and within the limit of the rule",
    lambda it, history: SAFE_SIZE < proven(file_in(it, history)).size <= LARGEST,
)
is_square = tells(
    "the picture is square", lambda it, history: proven(file_in(it, history)).is_square
)
is_not_square = unless(is_square, "the picture is not square")
is_too_large = tells(
    "the body is larger than ten mebibytes",
    lambda it, _: len(it.request.body) > TOO_LARGE + ENVELOPE,
)
is_not_multipart = tells(
    "the body is not multipart",
    lambda it, _: not it.request.header("content-type").lower().startswith("multipart/"),
)


def last_upload(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the account's newest successful upload."""
    return history.last(UPLOAD_AVATAR, account=exchange.identity.account)


def uploaded_avatar_is_alive(exchange: Exchange, history: History) -> bool:
    """Tells whether the account uploaded an avatar before and did not delete it."""
    before = last_upload(exchange, history)
    return before is not None and not history.is_gone(str(before.json_object.get("image_id")))


def leaves_room(exchange: Exchange, history: History) -> bool:
    """Tells whether the account is not known to have as many avatars as a deployment may allow."""
    owned = avatars_owned(exchange, history)
    return owned is None or owned < SAFE_COUNT


_ONE_FILE = (may_manage, query_is_in_order, sends_one_file, is_small, leaves_room)
SAFE_UPLOAD: Final = (
    may_manage,
    selection_is_in_order,
    sends_one_file,
    is_of_accepted_type,
    is_small,
    is_square,
)
"""Conditions of an upload whose file every deployment must accept."""
_ALLOWED = (is_of_accepted_type, is_square, document_allows)
_GOOD = (*_ONE_FILE, *_ALLOWED)


@check("avatar-upload-multipart", "upload-image-types", on=[UPLOAD_AVATAR], when=_GOOD)
def good_picture_is_accepted(exchange: Exchange, _history: History) -> CheckResult:
    """A square PNG, JPEG or GIF in a multipart body is accepted."""
    return expect_accepted(exchange)


@check("avatar-upload-returns-avatar", on=[UPLOAD_AVATAR], when=_GOOD)
def upload_returns_new_avatar(exchange: Exchange, history: History) -> CheckResult:
    """An upload returns the avatar, with an id that no avatar had before."""
    image_id = exchange.json_object.get("image_id")
    is_new = isinstance(image_id, str) and history.owner_of(image_id) is None
    actual = f"status {exchange.status}, {as_json(image_id)}"
    return expect(exchange.response.is_success and is_new, "the new avatar", actual)


@check(
    "avatar-upload-returns-avatar", on=[LIST_AVATARS], when=[succeeded, uploaded_avatar_is_alive]
)
def uploaded_avatar_is_listed(exchange: Exchange, history: History) -> CheckResult:
    """The list holds the avatar that was uploaded last."""
    before = proven(last_upload(exchange, history))
    is_listed = str(before.json_object.get("image_id")) in ids_in(exchange)
    return expect(is_listed, "a list that holds the new avatar", ids_in(exchange), before)


def upload_behind(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the upload whose picture the URL of an avatar or of a profile's avatar must show."""
    url = exchange.request.url
    for before in history.of(UPLOAD_AVATAR):
        if before.response.is_success and before.json_object.get("image_url") == url:
            return before
    for own in history.near(OWN_PROFILE):
        if own.identity.account == "own" and own.json_object.get("avatar_url") == url:
            return _assigned_before(own, history)
    return None


def _assigned_before(own: Exchange, history: History) -> Exchange | None:
    """Returns the upload of the last assignment, if a profile that was read then must show it."""
    changes = (SET_AVATAR, DELETE_AVATAR, UPLOAD_AVATAR)
    last = next((each for each in history.of(*changes) if each.identity.account == "own"), None)
    if last is None or last.operation != SET_AVATAR or not last.response.is_success:
        return None
    is_primary = assigned_hash(last) in history.known.own_hashes[:1]
    uploads = (each for each in history.of(UPLOAD_AVATAR) if id_of(each) == last.value)
    return next(uploads, None) if is_primary and last.number < own.number else None


@check(
    "avatar-urls-resolve",
    when=[is_get, succeeded, found(upload_behind, "the address is of a picture that was uploaded")],
)
def address_shows_what_was_uploaded(exchange: Exchange, history: History) -> CheckResult:
    """The URL of an avatar shows the uploaded picture, though perhaps encoded anew."""
    before = proven(upload_behind(exchange, history))
    parts = parts_of(before.request.body, before.request.header("content-type"))
    is_right = look_alike(parts[0][1], exchange.response.body) if parts else True
    result = expect(is_right is not False, "the uploaded picture", "another one", before)
    if result.holds:
        return result
    shown = (each for each in history.of("") if each.response.body == exchange.response.body)
    cached = [each for each in shown if each.identity == exchange.identity][-1:]
    named = [each for each in history.of(OWN_PROFILE) if each.identity.account == "own"][:1]
    assigned = [each for each in history.of(SET_AVATAR) if each.number > before.number][:1]
    return result._replace(evidence=(before, *cached, *assigned, *named))


@probe(
    "avatar-urls-resolve",
    "avatar-email-assign",
    needs=("owner", "writes", "uploads", "hashes"),
)
def pictures_at_their_addresses(client: ProbeClient) -> Parts:
    """Fetches two uploaded pictures, and the profile's picture after each of them was assigned.

    The second is requested as a range of all its bytes, as media players do.
    """
    uploads = [upload(client, patterned(seed), select_avatar="false") for seed in (1, 2)]
    for uploaded, headers in zip(uploads, ({}, {"range": "bytes=0-"}), strict=True):
        url = str(uploaded.json_object.get("image_url", ""))
        if url.startswith("http"):
            yield client.get(url, headers=headers)
    for uploaded in uploads:
        assign(client, id_of(uploaded), client.known.own_hashes[0])
        url = str(client.get("/me/profile", "owner").json_object.get("avatar_url", ""))
        if url.startswith("http"):
            yield client.get(url)


@probe(
    "foreign-avatars-invisible",
    "avatar-list-of-caller",
    needs=("owner", "other", "writes", "uploads"),
)
def one_picture_of_two_accounts(client: ProbeClient) -> Parts:
    """Uploads the same picture to two accounts, deletes one copy, and reads the other account's."""
    others = upload(client, patterned(3), "other", select_avatar="false")
    own = upload(client, patterned(3), select_avatar="false")
    yield avatars(client, who="other")
    client.send("DELETE", f"/me/avatars/{id_of(own)}", "owner")
    yield avatars(client, who="other")
    url = str(others.json_object.get("image_url", ""))
    if url.startswith("http"):
        yield client.get(url)


@probe(
    "avatar-upload-multipart",
    "avatar-upload-returns-avatar",
    "avatar-upload-status",
    "upload-image-types",
    "avatar-members",
    "updated-date-utc",
    "select-avatar",
    needs=("owner", "writes", "uploads"),
)
def uploads_of_every_type(client: ProbeClient) -> Parts:
    """Uploads a PNG, a JPEG and a GIF, all declared as PNG, and lists them."""
    yield upload(client, picture("PNG"), select_avatar="false")
    for form in ("JPEG", "GIF"):
        upload(client, picture(form), select_avatar="false")
        yield avatars(client)


@probe(
    "upload-square",
    "upload-image-types",
    "error-picture-type",
    "error-picture-shape",
    needs=("owner", "writes", "uploads"),
)
def uploads_that_are_refused(client: ProbeClient) -> Parts:
    """Uploads a text, a BMP, and two pictures that are not square."""
    yield upload(client, picture(size=(SIDE, SIDE // 2)), select_avatar="false")
    yield upload(client, b"an understudy is not a picture", select_avatar="false")
    yield upload(client, picture("BMP", size=(96, 96)), select_avatar="false")
    yield upload(client, picture("JPEG", size=(SIDE - 1, SIDE)), select_avatar="false")


@probe("avatar-upload-multipart", needs=("owner", "writes", "uploads"))
def uploads_without_multipart(client: ProbeClient) -> Parts:
    """Uploads JSON, and a body that is declared as image/png instead of multipart."""
    headers = {"content-type": "image/png"}
    yield client.send("POST", "/me/avatars", "owner", json={"data": "a"})
    yield client.send("POST", "/me/avatars", "owner", form={"data": "a"}, headers=headers)


@probe("upload-size-limit", "error-upload-size", needs=("owner", "writes", "uploads"))
def huge_upload(client: ProbeClient) -> None:
    """Uploads more than ten mebibytes."""
    upload(client, picture() + bytes(TOO_LARGE + 2 * ENVELOPE), select_avatar="false")


sends_webp = tells(
    "the picture of an upload is a WebP",
    lambda it, _: b"RIFF" in it.request.body and b"WEBPVP8" in it.request.body,
)


avatars_are_counted = found(avatars_owned, "it is known how many avatars the account has")


_ACCEPTED_FILE: Final = (
    may_manage,
    query_is_in_order,
    sends_one_file,
    is_of_accepted_type,
    is_square,
)

reading("avatar-upload-status", on=[UPLOAD_AVATAR], when=[succeeded], read=status_of)
reading(
    "upload-image-types",
    on=[UPLOAD_AVATAR],
    when=[sends_one_file, is_small, sends_webp, is_square],
    able=[may_manage],
    read=by_success("webp-heic-too", "jpeg-png-gif"),
)
number_reading(
    "upload-size-limit",
    UPLOAD_AVATAR,
    when=[*_ACCEPTED_FILE, is_narrow],
    number=lambda exchange, history: proven(file_in(exchange, history)).size,
)
number_reading(
    "upload-largest-side",
    UPLOAD_AVATAR,
    when=[*_ACCEPTED_FILE, has_few_bytes],
    number=lambda exchange, history: proven(file_in(exchange, history)).side,
)
number_reading(
    "avatars-most",
    UPLOAD_AVATAR,
    when=[*_ACCEPTED_FILE, is_small, avatars_are_counted],
    number=lambda exchange, history: proven(avatars_owned(exchange, history)) + 1,
)
number_reading(
    "avatars-most",
    LIST_AVATARS,
    when=[may_read, succeeded],
    number=lambda exchange, _history: len(ids_in(exchange)),
)


@experiment("upload-image-types", needs=UPLOADING, requests=2, undo=DELETED)
def upload_of_webp(client: ProbeClient) -> None:
    """Uploads a WebP picture; undoing the run deletes it if it was accepted."""
    upload(client, picture("WEBP"), select_avatar="false")


@experiment(
    "upload-size-limit",
    needs=UPLOADING,
    likely=(
        *(100_000, 131_072, 200_000, 262_144, 500_000, 524_288, 1_000_000, 1_048_576),
        *(2_000_000, 2_097_152, 3_000_000, 3_145_728, 4_000_000, 4_194_304),
        *(5_000_000, 5_242_880, 8_000_000, 8_388_608, 10_000_000, 10_485_760),
    ),
    requests=2,
    undo=DELETED,
    sends_bytes=True,
)
def upload_of_size(client: ProbeClient, size: int) -> None:
    """Uploads a picture padded to this many bytes, and deletes it if it was accepted."""
    content = picture()
    _upload_and_delete(client, content + bytes(size - len(content)))


@experiment(
    "upload-largest-side",
    needs=UPLOADING,
    likely=(
        *(512, 600, 800, 1000, 1024, 1200, 1500, 1600, 1920, 2000, 2048, 2500, 2560),
        *(3000, 3072, 3840, 4000, 4096, 5000, 6000),
    ),
    requests=2,
    undo=DELETED,
)
def upload_of_width(client: ProbeClient, side: int) -> None:
    """Uploads a picture with this many pixels a side, and deletes it if it was accepted."""
    _upload_and_delete(client, plain_picture(side))


@experiment("avatars-most", needs=UPLOADING, requests=3, undo=DELETED, uploads=100)
def upload_of_one_more(client: ProbeClient, _number: int) -> None:
    """Lists the avatars, and uploads one more."""
    avatars(client)
    upload(client, picture(), select_avatar="false")


def _upload_and_delete(client: ProbeClient, content: bytes) -> None:
    """Uploads a picture, and deletes it at once, so that trials do not fill the account."""
    uploaded = upload(client, content, select_avatar="false")
    if uploaded.response.is_success:
        client.send("DELETE", f"/me/avatars/{id_of(uploaded)}", "owner")


# Rules that demand one outcome wherever their conditions hold.

of_upload_avatar = demands(UPLOAD_AVATAR)
of_upload_avatar("avatar-upload-multipart", [may_manage, is_not_multipart], expect_refused)
of_upload_avatar("avatar-upload-status", [succeeded], expect_status, 200)
of_upload_avatar("upload-image-types", [*_ONE_FILE, is_of_other_type], expect_status, 400)
of_upload_avatar(
    "upload-square", [*_ONE_FILE, is_of_accepted_type, is_not_square], expect_status, 400
)
of_upload_avatar(
    "upload-size-limit",
    [may_manage, query_is_in_order, sends_one_file, is_large, *_ALLOWED],
    expect_accepted,
)
of_upload_avatar("upload-size-limit", [may_manage, is_too_large], expect_status, 413)

"""Probes of uploads: pictures of every kind, made here, so that no file is needed."""

from functools import cache
from io import BytesIO

from PIL import Image

from understudy.contract.exchange import Exchange
from understudy.contract.probing import probe
from understudy.contract.visit import Visit

TOO_LARGE = 10 * 1024 * 1024 + 8192


@cache
def picture(form: str = "PNG", size: tuple[int, int] = (96, 96)) -> bytes:
    """Returns a small picture."""
    content = BytesIO()
    Image.new("RGB", size, (70, 110, 160)).save(content, form)
    return content.getvalue()


def upload(visit: Visit, content: bytes, who: str = "owner", **query: str) -> Exchange:
    """Uploads a picture under the interface's name."""
    files = {"data": ("understudy.png", content, "image/png")}
    return visit.send("POST", "/me/avatars", who, query=query, files=files)


@probe(
    *("avatar-upload-multipart", "avatar-upload-returns-avatar", "avatar-upload-status"),
    *("upload-image-types", "avatar-members", "updated-date-utc", "avatar-list-of-caller"),
    needs=("owner", "writes", "uploads"),
    cost=7,
)
def pictures_of_every_type(visit: Visit) -> None:
    """Uploads a PNG, a JPEG and a GIF, whatever type the part claims, and lists them."""
    for form in ("PNG", "JPEG", "GIF"):
        upload(visit, picture(form), select_avatar="false")
        visit.get("/me/avatars", "owner")


@probe("upload-image-types", "upload-square", needs=("owner", "writes", "uploads"), cost=4)
def pictures_that_are_refused(visit: Visit) -> None:
    """Uploads what is no picture, one of another kind, and two that are not square."""
    upload(visit, b"an understudy is no picture", select_avatar="false")
    upload(visit, picture("BMP"), select_avatar="false")
    upload(visit, picture(size=(96, 64)), select_avatar="false")
    upload(visit, picture("JPEG", size=(64, 65)), select_avatar="false")


@probe("avatar-upload-multipart", needs=("owner", "writes", "uploads"), cost=2)
def bodies_of_another_type(visit: Visit) -> None:
    """Uploads the bytes alone, and JSON."""
    headers = {"content-type": "image/png"}
    visit.send("POST", "/me/avatars", "owner", json={"data": "a"})
    visit.send("POST", "/me/avatars", "owner", form={"data": "a"}, headers=headers)


@probe("select-avatar", needs=("owner", "writes", "uploads", "two_emails"), cost=12)
def choices_of_selection(visit: Visit) -> None:
    """Uploads with every choice of select_avatar, for an address with an avatar and without."""
    for wish in ("true", "false", None):
        query: dict[str, str] = {} if wish is None else {"select_avatar": wish}
        visit.get("/me/avatars", "owner")
        upload(visit, picture(), **query)
        visit.get("/me/avatars", "owner")
    hash_ = visit.known.own_hashes[-1]
    for wish in (None, "true", None):
        query = {"select_avatar": wish} if wish else {}
        visit.get("/me/avatars", "owner", {"selected_email_hash": hash_})
        upload(visit, picture(), selected_email_hash=hash_, **query)
        visit.get("/me/avatars", "owner", {"selected_email_hash": hash_})


@probe("upload-size-limit", needs=("owner", "writes", "uploads"), cost=1)
def a_huge_upload(visit: Visit) -> None:
    """Uploads more than ten megabytes."""
    upload(visit, picture() + bytes(TOO_LARGE), select_avatar="false")


@probe("scope-per-operation", needs=("reader", "writes", "uploads"), cost=1)
def an_upload_without_the_scope(visit: Visit) -> None:
    """Uploads with a token that only reads."""
    upload(visit, picture(), "reader", select_avatar="false")

"""Probes of uploads: pictures of every kind, made here, so that no file is needed."""

from functools import cache
from io import BytesIO

from PIL import Image

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import DELETE_AVATAR, UPLOAD_AVATAR
from understudy.verify.history import MADE_UP
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, part, probe

TOO_LARGE = 10 * 1024 * 1024 + 8192


@cache
def picture(form: str = "PNG", size: tuple[int, int] = (96, 96)) -> bytes:
    """Returns a small picture."""
    content = BytesIO()
    Image.new("RGB", size, (70, 110, 160)).save(content, form)
    return content.getvalue()


def upload(client: ProbeClient, content: bytes, who: str = "owner", **query: str) -> Exchange:
    """Uploads a picture under the interface's name."""
    files = {"data": ("understudy.png", content, "image/png")}
    return client.send("POST", "/me/avatars", who, query=query, files=files)


def an_avatar(client: ProbeClient) -> str:
    """Returns an avatar of the test account that this run uploaded; where there is none, now."""
    mine = [each for each in client.earlier if each.identity.account == "own"]
    gone = {each.value for each in mine if each.operation == DELETE_AVATAR}
    made = (each for each in mine if each.operation == UPLOAD_AVATAR and each.response.is_success)
    living = (id_of(each) for each in made if id_of(each) not in gone)
    return next(living, None) or id_of(upload(client, picture(), select_avatar="false"))


def id_of(exchange: Exchange) -> str:
    """Returns the avatar that was uploaded; where the answer names none, one that is of nobody."""
    return str(exchange.json_object.get("image_id", MADE_UP))


@probe(
    *("avatar-upload-multipart", "avatar-upload-returns-avatar", "avatar-upload-status"),
    *("upload-image-types", "avatar-members", "updated-date-utc", "avatar-selected-for-email"),
    "select-avatar",
    needs=("owner", "writes", "uploads"),
    then=[
        part("avatar-upload-returns-avatar", "upload-image-types", "select-avatar", cost=2),
        part("avatar-upload-returns-avatar", "upload-image-types", "select-avatar", cost=2),
    ],
)
def pictures_of_every_type(client: ProbeClient) -> Parts:
    """Uploads a PNG, a JPEG and a GIF, whatever type the part claims, and lists them."""
    yield upload(client, picture("PNG"), select_avatar="false")
    for form in ("JPEG", "GIF"):
        upload(client, picture(form), select_avatar="false")
        yield client.get("/me/avatars", "owner")


@probe(
    "upload-square",
    needs=("owner", "writes", "uploads"),
    then=[*2 * [part("upload-image-types")], part("upload-square")],
)
def pictures_that_are_refused(client: ProbeClient) -> Parts:
    """Uploads what is no picture, one of another kind, and two that are not square."""
    yield upload(client, picture(size=(96, 64)), select_avatar="false")
    yield upload(client, b"an understudy is no picture", select_avatar="false")
    yield upload(client, picture("BMP"), select_avatar="false")
    yield upload(client, picture("JPEG", size=(64, 65)), select_avatar="false")


@probe(
    "avatar-upload-multipart",
    needs=("owner", "writes", "uploads"),
    then=[part("avatar-upload-multipart")],
)
def bodies_of_another_type(client: ProbeClient) -> Parts:
    """Uploads the bytes alone, and JSON."""
    headers = {"content-type": "image/png"}
    yield client.send("POST", "/me/avatars", "owner", json={"data": "a"})
    yield client.send("POST", "/me/avatars", "owner", form={"data": "a"}, headers=headers)


_CHOICE = part("select-avatar", cost=2)


@probe(
    "select-avatar",
    needs=("owner", "writes", "uploads", "two_emails"),
    cost=3,
    then=[_CHOICE, _CHOICE, part("select-avatar", cost=3), _CHOICE, part("select-avatar", cost=3)],
)
def choices_of_selection(client: ProbeClient) -> Parts:
    """Uploads with every choice of select_avatar, for an address with an avatar and without."""
    second = {"selected_email_hash": client.known.own_hashes[-1]}
    for address in ({}, second):
        for wish in (None, "true", None if address else "false"):
            if wish is None:
                client.recall("/me/avatars", "owner", address)
            choice = {"select_avatar": wish} if wish else {}
            upload(client, picture(), **address, **choice)
            yield client.get("/me/avatars", "owner", address)


@probe("upload-size-limit", needs=("owner", "writes", "uploads"), cost=1)
def a_huge_upload(client: ProbeClient) -> None:
    """Uploads more than ten megabytes."""
    upload(client, picture() + bytes(TOO_LARGE), select_avatar="false")


@probe("scope-per-operation", needs=("reader", "writes", "uploads"), by="reader, to write")
def an_upload_without_the_scope(client: ProbeClient) -> None:
    """Uploads with a token that only reads."""
    upload(client, picture(), "reader", select_avatar="false")

"""Pictures to upload, made here so that no file is needed, and the avatars that they become."""

from functools import cache, lru_cache
from io import BytesIO

from PIL import Image

from understudy.exchange.messages import Exchange
from understudy.interface.operations import DELETE_AVATAR, UPLOAD_AVATAR
from understudy.verify.history import MADE_UP
from understudy.verify.probe_client import ProbeClient


@cache
def picture(form: str = "PNG", size: tuple[int, int] = (96, 96)) -> bytes:
    """Returns a small picture.

    Args:
        form: As Pillow names it, such as ``JPEG``.
        size: Width and height in pixels.
    """
    content = BytesIO()
    Image.new("RGB", size, (70, 110, 160)).save(content, form)
    return content.getvalue()


@lru_cache(maxsize=32)
def plain_picture(side: int) -> bytes:
    """Returns a square of few bytes, however large.

    Args:
        side: Width and height in pixels.
    """
    content = BytesIO()
    Image.new("1", (side, side)).save(content, "PNG")
    return content.getvalue()


def upload(client: ProbeClient, content: bytes, who: str = "owner", **query: str) -> Exchange:
    """Uploads a picture under the field name of the document in force."""
    files = {client.upload_field: ("understudy.png", content, "image/png")}
    return client.send("POST", "/me/avatars", who, query=query, files=files)


def an_avatar(client: ProbeClient) -> str:
    """Returns an avatar of the test account that this run uploaded, and uploads one if need be."""
    own = [each for each in client.earlier if each.identity.account == "own"]
    gone = {each.value for each in own if each.operation == DELETE_AVATAR}
    made = (each for each in own if each.operation == UPLOAD_AVATAR and each.response.is_success)
    living = (id_of(each) for each in made if id_of(each) not in gone)
    return next(living, None) or id_of(upload(client, picture(), select_avatar="false"))


def id_of(exchange: Exchange) -> str:
    """Returns the avatar that was uploaded; a made-up one where the response names none."""
    return str(exchange.json_object.get("image_id", MADE_UP))


def avatars(client: ProbeClient, hash_: str | None = None, who: str = "owner") -> Exchange:
    """Lists the avatars of an account, as selected for an e-mail address if one is passed."""
    return client.get("/me/avatars", who, {"selected_email_hash": hash_} if hash_ else ())

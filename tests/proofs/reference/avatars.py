"""Pictures: listed, uploaded, selected for an e-mail, changed and deleted by their owner."""

from http import HTTPStatus
from io import BytesIO
from typing import NoReturn

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from PIL import Image
from tests.proofs.reference import bearer, bodies
from tests.proofs.reference.records import Avatar, Json, Rating, Scope
from tests.proofs.reference.refusals import Refused, refuse, refuse_missing
from tests.proofs.reference.service import chose, number, service

FORMATS = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
}
STRANGE_EMAIL = "unknown-selected-email-hash"
SELECT = {"": None, "null": None, "true": True, "1": True, "false": False, "0": False}
"""The texts of ``select_avatar``, which is a boolean or null."""

avatars = Blueprint("avatars", __name__, url_prefix="/v3/me/avatars")
pictures = Blueprint("pictures", __name__, url_prefix="/avatar")


@avatars.get("")
def listed() -> ResponseReturnValue:
    """Lists the caller's pictures; which is selected is told for the e-mail that is named."""
    token = bearer.required(Scope.READ, "avatar-list-scope")
    # an e-mail of nobody, or of somebody else, has none of these selected: no reason to refuse
    chosen = request.args.get("selected_email_hash")
    if chosen:
        chosen = _chosen_email(token.user_id, chosen, must_be_own=chose(STRANGE_EMAIL, "refuse"))
    return [dict(_rendered(a, chosen)) for a in service().state.avatars(token.user_id)]


@avatars.post("")
def upload() -> ResponseReturnValue:
    """Adds a picture."""
    token = bearer.required(Scope.MANAGE)
    chosen = request.args.get("selected_email_hash")
    if chosen is not None:
        chosen = _chosen_email(token.user_id, chosen, must_be_own=True)
    text = request.args.get("select_avatar", "")
    if text not in SELECT:
        refuse(f"select_avatar is {text!r}; send true, false or null.")
    content = _uploaded()
    owned = len(service().state.avatars(token.user_id))
    if owned >= number("most-avatars", owned + 1):
        refuse(f"The account has {owned} avatars, and can have no more.")
    avatar = Avatar(
        image_id=service().random(),
        owner=token.user_id,
        content=content,
        media_type=_media_type(content),
        updated=service().clock(),
    )
    service().state.add(avatar, chosen, select=SELECT[text])
    body = dict(_rendered(avatar, chosen))
    # RFC 9110, 15.3.2: what was made is found at Location
    status = HTTPStatus.OK if chose("avatar-upload-status", "200") else HTTPStatus.CREATED
    return body, status, {"Location": str(body["image_url"])}


@avatars.patch("/<image_id>")
def update(image_id: str) -> ResponseReturnValue:
    """Changes rating, alternative text or both."""
    token = bearer.required(Scope.MANAGE)
    if chose("avatar-body-precedence", "avatar"):
        _check_avatar(token.user_id, image_id)
    body = bodies.strings({"rating", "alt_text"})
    wanted = body.get("rating")
    if wanted is not None and wanted not in {rating.value for rating in Rating}:
        refuse(f"rating is {wanted!r}; send G, PG, R or X.")
    avatar = service().state.update(
        token.user_id,
        image_id,
        (None if wanted is None else Rating(wanted), body.get("alt_text")),
        service().clock(),
    )
    if avatar is None:
        _refuse_unknown(image_id)
    return dict(_rendered(avatar, None))


@avatars.delete("/<image_id>")
def delete(image_id: str) -> ResponseReturnValue:
    """Removes a picture."""
    token = bearer.required(Scope.MANAGE)
    if not service().state.delete(token.user_id, image_id):
        _refuse_unknown(image_id)
    return "", _without_content("avatar-delete-status")


@avatars.post("/<image_id>/email")
def select(image_id: str) -> ResponseReturnValue:
    """Makes a picture stand for one of the caller's e-mails."""
    token = bearer.required(Scope.MANAGE)
    email_hash = bodies.strings({"email_hash"}).get("email_hash")
    if email_hash is None:
        refuse("The body lacks email_hash.")
    if chose("avatar-email-precedence", "avatar"):
        _check_avatar(token.user_id, image_id)
    _check_email(token.user_id, email_hash)
    if not service().state.select(token.user_id, image_id, email_hash):
        _refuse_unknown(image_id)
    return "", _without_content("avatar-email-status")


@pictures.get("/<image_id>")
def shown(image_id: str) -> ResponseReturnValue:
    """Serves a picture to anybody."""
    avatar = service().state.picture(image_id)
    if avatar is None:
        _refuse_unknown(image_id)
    return Response(avatar.content, mimetype=avatar.media_type)


def _without_content(switch: str) -> HTTPStatus:
    return HTTPStatus.OK if chose(switch, "200") else HTTPStatus.NO_CONTENT


def _chosen_email(user_id: str, email_hash: str, *, must_be_own: bool) -> str:
    """Returns the hash that a query names, or the primary one where a strange one is ignored."""
    if chose(STRANGE_EMAIL, "ignore") and not service().state.owns_email(user_id, email_hash):
        return service().state.shown(user_id).account.hashes[0]
    if must_be_own:
        _check_email(user_id, email_hash)
    return email_hash


def _check_avatar(user_id: str, image_id: str) -> None:
    if all(avatar.image_id != image_id for avatar in service().state.avatars(user_id)):
        _refuse_unknown(image_id)


def _check_email(user_id: str, email_hash: str) -> None:
    if not service().state.owns_email(user_id, email_hash):
        message = f"The account has no e-mail with the hash {email_hash!r}."
        refuse(message, switch="unknown-address-error")


def _uploaded() -> bytes:
    if request.mimetype != "multipart/form-data":
        message = "Send the picture as multipart/form-data, in the field data."
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    file = request.files.get("data")
    if file is None:
        refuse("The body has no file in the field data.")
    content: bytes = file.read()
    largest = number("upload-largest", len(content))
    if len(content) > largest:
        message = f"The picture has {len(content)} bytes; {largest} are the most."
        status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        raise Refused(status, "too_large", message, switch="upload-size-error")
    return content


def _media_type(content: bytes) -> str:
    is_older = chose("upload-image-types", "jpeg-png-gif")
    formats = {name: FORMATS[name] for name in FORMATS if name != "WEBP" or not is_older}
    try:
        with Image.open(BytesIO(content), formats=list(formats)) as image:
            if image.width > number("upload-largest-side", image.width):
                refuse(f"data is {image.width} pixels wide, which is too much.")
            image.load()
            _check_shape(image)
            return formats[str(image.format)]
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        message = f"data is not a picture of these kinds: {', '.join(formats)}."
        refuse(message, switch="picture-type-error")


def _check_shape(image: Image.Image) -> None:
    """Refuses what is not square, if the operator says how: any shape is as good to the reference."""
    is_refused = "picture-shape-error" in service().options.choices
    if is_refused and image.width != image.height:
        refuse("The picture is not square.", switch="picture-shape-error")


def _refuse_unknown(image_id: str) -> NoReturn:
    refuse_missing(f"There is no avatar {image_id!r}.", switch="unknown-avatar-error")


def _rendered(avatar: Avatar, chosen_email: str | None) -> Json:
    body: dict[str, object] = {
        "image_id": avatar.image_id,
        "image_url": f"{service().addresses.site}/avatar/{avatar.image_id}",
        "rating": avatar.rating,
        "alt_text": avatar.alt_text,
        "updated_date": avatar.updated.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if chosen_email is not None:
        body["selected"] = service().state.selected(chosen_email) == avatar.image_id
    return body

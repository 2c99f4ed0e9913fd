"""Returns QR codes of profiles (interface, Public and optionally authenticated)."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final
from urllib.parse import quote, urlencode

from understudy.errors import NotFound
from understudy.interface.rules import upholds
from understudy.interface.vocabulary import ProfileStatusWords
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.recent import Recent
from understudy.mock.service import representations
from understudy.mock.service.person_lookup import find_person, note_misread
from understudy.mock.service.qr_options import (
    DEFAULT_SIZE,
    STANDARD,
    CentreIcon,
    centre_icon,
    checked_size,
    checked_version,
)
from understudy.mock.store.people import Person
from understudy.mock.store.vocabulary import vocabulary_of

Drawing = tuple[str, int, int, CentreIcon]
"""Text, size in pixels, version and icon of a QR code."""

_PICTURES: Final[Recent[Drawing, bytes]] = Recent(512)


@upholds(
    "qr-size-exact",
    "qr-default-size",
    "qr-versions",
    "qr-centre-icon",
    "qr-no-authentication",
)
def get_qr_code(  # noqa: PLR0913 - the operation has that many parameters
    call: Call,
    sha256_hash: str,
    *,
    size: int | str = DEFAULT_SIZE,
    version: int | str = STANDARD,
    utm_medium: str = "",
    utm_campaign: str = "",
    type_: str = "",
) -> HandlerResponse | Coroutine[Any, Any, HandlerResponse]:
    """Returns a PNG that encodes the profile's URL (``GET /qr-code/{sha256_hash}``).

    Raises:
        NotFound: The profile does not exist, and the switch ``qr-unknown-hash`` is ``404``.
        BadRequest: The size or the version is invalid, or the URL is too long.
    """
    person = find_person(call, sha256_hash)
    if person is None:
        note_misread(call, sha256_hash)
    url = _profile_url(call, person, sha256_hash)
    text = _with_campaign(url, utm_medium=utm_medium, utm_campaign=utm_campaign)
    words = vocabulary_of(call.world)
    icon = centre_icon(type_, words.qr_types)
    least = int(call.choices.get("qr-smallest-size", "1"))
    pixels = checked_size(size, least, int(call.choices.get("qr-largest-size", "2048")))
    drawing = (text, pixels, checked_version(version), icon)
    picture = _PICTURES.get(drawing)
    status = (words.profile_status_header.lower(), _status(person, words.profile_statuses))
    return _drawn_response(drawing, status) if picture is None else _response(picture, status)


async def _drawn_response(drawing: Drawing, status: tuple[str, str]) -> HandlerResponse:
    return _response(_PICTURES.put(drawing, await asyncio.to_thread(_drawn, *drawing)), status)


def _response(picture: bytes, status: tuple[str, str]) -> HandlerResponse:
    return HandlerResponse(picture, media_type="image/png", headers=(status,))


@upholds("qr-points-to-profile", "qr-unknown-hash")
def _profile_url(call: Call, person: Person | None, identifier: str) -> str:
    if person is not None:
        return representations.profile_url(call.site_url, person.slug)
    if call.choices.get("qr-unknown-hash") == "404":
        msg = f"There is no profile for {identifier!r}."
        raise NotFound(msg, code="profile_not_found")
    return representations.profile_url(call.site_url, quote(identifier, safe=""))


@upholds("qr-utm-parameters")
def _with_campaign(url: str, **parameters: str) -> str:
    sent = {name: text for name, text in parameters.items() if text}
    return f"{url}?{urlencode(sent)}" if sent else url


def _status(person: Person | None, words: ProfileStatusWords) -> str:
    if person is None:
        return words.not_found
    return words.disabled if person.visibility == "disabled" else words.enabled


def _drawn(text: str, size: int, version: int, icon: CentreIcon) -> bytes:
    from understudy.mock.service.qr_drawing import draw  # noqa: PLC0415 - importing Pillow takes too long at start

    return draw(text, size=size, version=version, icon=icon)

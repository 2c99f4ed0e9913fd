"""QR codes that lead to profiles (interface, Public and optionally authenticated)."""

import asyncio
from typing import Literal
from urllib.parse import urlencode

from understudy.errors import NotFound
from understudy.interface.rules import upholds
from understudy.mock.engine.call import Call, HandlerResponse
from understudy.mock.service import addresses
from understudy.mock.service.people import find
from understudy.mock.store.people import Person

DEFAULT_SIZE = 80  # interface, Limits: QR code default size, in pixels

STANDARD = 1
Icon = Literal["user", "service", "none"]


@upholds("qr-size-exact", "qr-default-size", "qr-versions", "qr-centre-icon")
async def get_qr_code(  # noqa: PLR0913 - the operation has that many parameters
    call: Call,
    sha256_hash: str,
    *,
    size: int = DEFAULT_SIZE,
    version: int = STANDARD,
    utm_medium: str = "",
    utm_campaign: str = "",
    type_: Icon = "none",
) -> HandlerResponse:
    """Answers ``GET /qr-code/{sha256_hash}``.

    Raises:
        NotFound: There is no such profile, and the switch asks for a refusal.
        BadRequest: No QR code holds so long an address.
    """
    person = find(call.world, sha256_hash)
    target = _target(call, person, sha256_hash)
    text = _with_campaign(target, utm_medium=utm_medium, utm_campaign=utm_campaign)
    picture = await asyncio.to_thread(_drawn, text, size, version, type_)
    headers = (("x-profile-status", _status(person)),)
    return HandlerResponse(picture, media_type="image/png", headers=headers)


@upholds("qr-points-to-profile", "qr-unknown-hash")
def _target(call: Call, person: Person | None, identifier: str) -> str:
    if person is not None:
        return addresses.profile_url(call.site_url, person.slug)
    if call.choices.get("qr-unknown-hash") == "404":
        msg = f"There is no profile for {identifier!r}."
        raise NotFound(msg, code="profile_not_found")
    return addresses.profile_url(call.site_url, identifier)


@upholds("qr-utm-parameters")
def _with_campaign(url: str, **parameters: str) -> str:
    given = {name: text for name, text in parameters.items() if text}
    return f"{url}?{urlencode(given)}" if given else url


def _status(person: Person | None) -> str:
    if person is None:
        return "not_found"
    return "disabled" if person.visibility == "disabled" else "enabled"


def _drawn(text: str, size: int, version: int, icon: Icon) -> bytes:
    from understudy.mock.service.qr_drawing import draw  # noqa: PLC0415 - Pillow would slow every start

    return draw(text, size=size, version=version, icon=icon)

"""Every kind of write that a mock accepts, each as a register that can be read back."""

import io
import zipfile
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from tests.proofs.attack.registers import Register, Site

IDS = ("288781428e4dfa058dcb4ccb157f0b79", "8a547d74c08d43496518d2a970db1d6b")
"""The avatars that ada has in the fixtures."""

RATINGS = ("G", "PG", "R", "X")
EPOCH = datetime.fromisoformat("2030-01-01T00:00:00+00:00")
PASSWORD_GRANT = {
    "grant_type": "password",
    "client_id": "server-app",
    "client_secret": "server-app-secret",
    "username": "ada",
    "password": "ada-password",
}


def _number(text: str) -> int:
    """Returns the number that was written; 0 for the text of the fixture."""
    return int(text) if text.isdecimal() else 0


async def _read_profile(site: Site) -> int:
    profile = await site.ask("GET", "/v3/profiles/ada")
    location, company = _number(profile["location"]), _number(profile["company"])
    assert location == company, "half of a change was kept"
    return location


async def _write_profile(site: Site, number: int) -> None:
    fields = {"location": str(number), "company": str(number)}
    await site.ask("PATCH", "/v3/me/profile", json=fields)


async def _avatars(site: Site) -> list[dict[str, Any]]:
    avatars: list[dict[str, Any]] = await site.ask("GET", "/v3/me/avatars")
    return avatars


async def _read_alt_text(site: Site) -> int:
    return _number((await _avatars(site))[0]["alt_text"])


async def _read_rating(site: Site) -> int:
    return RATINGS.index((await _avatars(site))[0]["rating"])


async def _read_selection(site: Site) -> int:
    return [avatar["selected"] for avatar in await _avatars(site)].index(True)


async def _read_uploads(site: Site) -> int:
    return len(await _avatars(site)) - len(IDS)


async def _write_upload(site: Site, number: int) -> None:
    if number % 2:
        picture = await site.client.get(f"{site.resource}/v3/qr-code/ada", params={"size": "8"})
        picture.raise_for_status()
        await site.ask("POST", "/v3/me/avatars", files={"data": ("a.png", picture.content)})
        return
    uploaded = [a["image_id"] for a in await _avatars(site)]
    await site.ask("DELETE", f"/v3/me/avatars/{uploaded[-1]}")


async def _write_selection(site: Site, number: int) -> None:
    body = {"email_hash": "b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72"}
    path = f"/v3/me/avatars/{IDS[number % 2]}/email"
    await site.ask("POST", path, json=body)


async def _grants(site: Site) -> int:
    return len(await site.ask("GET", "/__admin/applications/server-app/grants"))


async def _write_grants(site: Site, number: int) -> None:
    if number % 2:
        await site.ask("POST", "/oauth2/token", data=PASSWORD_GRANT)
    else:
        await site.ask("DELETE", "/__admin/applications/server-app/grants")


async def _write_application(site: Site, number: int) -> None:
    if number % 2:
        await site.ask("POST", "/__admin/applications", json={"owner": "ada", "name": "made"})
        return
    for application in await site.ask("GET", "/__admin/applications"):
        if application["name"] == "made":
            await site.ask("DELETE", f"/__admin/applications/{application['client_id']}")


async def _read_redirect_uri(site: Site) -> int:
    application = await site.ask("GET", "/__admin/applications/server-app")
    return _number(application["redirect_uris"][0].rpartition("/")[2])


async def _read_applications(site: Site) -> int:
    return await site.how_many("applications", "made")


async def _read_name(site: Site) -> int:
    return _number((await site.ask("GET", "/__admin/applications/server-app"))["name"])


async def _write_world(site: Site, number: int) -> None:
    name = f"{site.world}-made"
    if number % 2:
        await site.ask("POST", "/__admin/worlds", json={"name": name})
    else:
        await site.ask("DELETE", f"/__admin/worlds/{name}")


async def _read_worlds(site: Site) -> int:
    return await site.how_many("worlds", f"{site.world}-made")


async def _write_snapshot(site: Site, number: int) -> None:
    if number % 2:
        await site.ask("POST", "/__admin/snapshots", json={"name": site.world})
    else:
        await site.ask("DELETE", f"/__admin/snapshots/{site.world}")


async def _read_snapshots(site: Site) -> int:
    return await site.how_many("snapshots", site.world)


async def _read_clock(site: Site) -> int:
    shown = datetime.fromisoformat((await site.ask("GET", "/__admin/clock"))["now"])
    return max(0, round((shown - EPOCH).total_seconds()))


async def _read_limit(site: Site) -> int:
    limits = await site.ask("GET", "/__admin/limits")
    return next((item["limit"] for item in limits if item["principal"] == "ada"), 0)


async def _read_choice(site: Site) -> int:
    chosen = {item["name"]: item for item in await site.ask("GET", "/__admin/choices")}
    return int(chosen["private-profile-lookup"]["option"] == "404")


async def _write_fault(site: Site, number: int) -> None:
    if number % 2:
        body = {"operation": "getQrCode", "status": 503}
        await site.ask("POST", "/__admin/faults", json=body)
    else:
        await site.ask("DELETE", "/__admin/faults")


async def _read_faults(site: Site) -> int:
    return len(await site.ask("GET", "/__admin/faults"))


async def _write_reset(site: Site, number: int) -> None:
    if number % 2:
        await _write_profile(site, 1)
    else:
        await site.ask("POST", "/__admin/reset")


async def _write_import(site: Site, number: int) -> None:
    person = (
        "slug: ada\nabout: imported\nemails: [{email: ada@example.com}]\n"
        f"profile: {{display_name: Ada, location: '{number}', company: '{number}'}}\n"
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("people/ada.yaml", person)
    headers = {"Content-Type": "application/zip"}
    await site.ask("POST", "/__admin/import", content=packed.getvalue(), headers=headers)


def _json(
    method: str, path: str, body: Callable[[int], dict[str, Any]]
) -> Callable[[Site, int], Awaitable[Any]]:
    return lambda site, number: site.ask(method, path, json=body(number))


_AVATAR = f"/v3/me/avatars/{IDS[0]}"
_APPLICATION = "/__admin/applications/server-app"

REGISTERS: tuple[Register, ...] = (
    Register("a profile", _write_profile, _read_profile, None),
    Register(
        "an alternative text",
        _json("PATCH", _AVATAR, lambda n: {"alt_text": str(n)}),
        _read_alt_text,
        None,
    ),
    Register(
        "a rating",
        _json("PATCH", _AVATAR, lambda n: {"rating": RATINGS[n % 4]}),
        _read_rating,
        len(RATINGS),
    ),
    Register("the avatar of an e-mail address", _write_selection, _read_selection),
    Register("an upload and its deletion", _write_upload, _read_uploads),
    Register("a token and its revocation", _write_grants, _grants),
    Register("an application and its deletion", _write_application, _read_applications),
    Register("a name", _json("PATCH", _APPLICATION, lambda n: {"name": str(n)}), _read_name, None),
    Register(
        "a redirect address",
        _json("PATCH", _APPLICATION, lambda n: {"redirect_uris": [f"http://127.0.0.1:5000/{n}"]}),
        _read_redirect_uri,
        None,
    ),
    Register("a world and its deletion", _write_world, _read_worlds),
    Register("a snapshot and its deletion", _write_snapshot, _read_snapshots),
    Register(
        "a clock",
        _json(
            "PUT",
            "/__admin/clock",
            lambda n: {"now": (EPOCH + timedelta(seconds=n)).isoformat(), "frozen": True},
        ),
        _read_clock,
        None,
    ),
    Register(
        "a limit",
        _json("PUT", "/__admin/limits/ada", lambda n: {"limit": n}),
        _read_limit,
        None,
    ),
    Register(
        "a choice",
        _json(
            "PATCH",
            "/__admin/choices",
            lambda n: {"private-profile-lookup": ("403", "404")[n % 2]},
        ),
        _read_choice,
    ),
    Register("a fault and its end", _write_fault, _read_faults),
    Register("a reset", _write_reset, _read_profile),
    Register("an import", _write_import, _read_profile, None),
)

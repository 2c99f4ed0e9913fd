"""Traffic with a canary in every place that can hold a text, and the search for them."""

import base64
import json
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from PIL import Image, PngImagePlugin
from tests.record.proxied import AUTH_PROXY, PROXY, MockedDeployment, Session

CANARY = "Canary7Q"
EMAIL = f"{CANARY}@people.example"
PIXEL = (203, 17, 94)
NUMBER = 918273645546372819


class Flock:
    """Makes canaries, each with a number of its own.

    Attributes:
        count: The number of canaries so far.
    """

    def __init__(self) -> None:
        self.count = 0

    def text(self, prefix: str = "", suffix: str = "") -> str:
        self.count += 1
        return f"{prefix}{CANARY}x{self.count}{suffix}"

    def url(self) -> str:
        return self.text(f"https://{CANARY}.example/", f"?q={CANARY}#{CANARY}")

    def picture(self, kind: str = "PNG") -> bytes:
        """Returns a picture with canaries in its metadata and its pixels."""
        picture = Image.new("RGB", (48, 48), PIXEL)
        content, metadata = BytesIO(), PngImagePlugin.PngInfo()
        metadata.add_text(self.text(), self.text())
        options = {"pnginfo": metadata} if kind == "PNG" else {"comment": self.text().encode()}
        picture.save(content, kind, **options)
        return content.getvalue()

    def profile(self) -> dict[str, Any]:
        """Returns a profile with a canary in every member, and in one that no schema declares."""
        texts = (
            *("display_name", "location", "description", "job_title", "company", "pronunciation"),
            *("pronouns", "timezone", "first_name", "last_name", "avatar_alt_text"),
            *("background_color", "header_image", "last_profile_edit", "registration_date"),
        )
        account = {name: self.text() for name in ("service_type", "service_label")}
        account |= {name: self.url() for name in ("service_icon", "url")}
        contact = ("home_phone", "work_phone", "cell_phone", "email", "contact_form", "calendar")
        link = {"label": self.text(), "url": self.url()}
        return {
            **{name: self.text() for name in texts},
            "hash": sha256(EMAIL.lower().encode()).hexdigest(),
            "profile_url": f"https://api.staging.example/{CANARY}",
            "avatar_url": self.url(),
            "verified_accounts": [{**account, "is_hidden": False, self.text(): self.text()}],
            "languages": [
                {"code": self.text(), "name": self.text(), "is_primary": True, "order": NUMBER}
            ],
            "links": [link],
            "interests": [{"id": NUMBER, "name": self.text()}],
            "payments": {
                "links": [link],
                "crypto_wallets": [{"label": self.text(), "address": self.text()}],
            },
            "contact_info": {name: self.text() for name in contact},
            "gallery": [{"url": self.url(), "alt_text": self.text()}],
            "number_verified_accounts": NUMBER,
            self.text(): {self.text(): [self.text()]},
        }

    def avatar(self) -> dict[str, Any]:
        names = ("image_id", "rating", "alt_text", "updated_date", self.text())
        return {**{name: self.text() for name in names}, "image_url": self.url(), "selected": True}


class CanaryDeployment(MockedDeployment):
    """A deployment whose every response is full of canaries."""

    def __init__(self, flock: Flock) -> None:
        super().__init__()
        self._flock = flock

    async def respond(self, request: httpx.Request) -> httpx.Response:
        names = ("set-cookie", "etag", "server", "x-ratelimit-limit", "cache-control", "x-person")
        challenge = {"www-authenticate": self._flock.text('Bearer realm="', '", error="invalid"')}
        headers = {**{name: self._flock.text(f"{name}=") for name in names}, **challenge}
        status, headers_more, content = self._content(request)
        stream = httpx.ByteStream(content)
        return httpx.Response(status, headers={**headers, **headers_more}, stream=stream)

    def _content(self, request: httpx.Request) -> tuple[int, dict[str, str], bytes]:
        flock, path = self._flock, request.url.path
        if path.endswith("/authorize"):
            redirect, secrets = request.url.params["redirect_uri"], (flock.text(), flock.text())
            fragment = f"access_token={secrets[1]}&{flock.text()}={flock.text()}"
            return 302, {"location": f"{redirect}?code={secrets[0]}#{fragment}"}, b""
        if "/qr-code/" in path or path.startswith("/avatar/"):
            return 200, {"content-type": "image/png"}, flock.picture()
        content = json.dumps(self._members(request)).encode()
        if path.endswith("/bytes"):
            content = b'{"display_name": "\xff' + CANARY.encode() + b'"}'
        status = {"missing": 404, "token-info": 400}.get(path.rpartition("/")[2], 200)
        return status, {"content-type": "application/json"}, content

    def _members(self, request: httpx.Request) -> Any:
        flock, path = self._flock, request.url.path
        if path.endswith("/avatars"):
            return [flock.avatar()] if request.method == "GET" else flock.avatar()
        if path.endswith("/token"):
            names = ("access_token", "refresh_token", "blog_id", "blog_url", "scope", "token_type")
            return {name: flock.text() for name in names}
        if path.endswith(("/token-info", "/missing")):
            return {"error": flock.text(), "code": flock.text()}
        return flock.profile()


def send_canaries(session: Session, flock: Flock) -> None:
    """Sends requests with canaries in every place."""
    secret = {
        "Authorization": flock.text("Bearer "),
        "Cookie": flock.text("session="),
        "User-Agent": flock.text(),
        "X-Person": flock.text(),
        "Referer": flock.url(),
        "Accept": flock.text("text/"),
    }
    hashed = sha256(EMAIL.lower().encode()).hexdigest()

    def send(method: str, path: str, **options: Any) -> None:
        options["headers"] = {**secret, **options.get("headers", {})}
        session.request(method, path if "://" in path else f"{PROXY}{path}", **options)

    send("GET", f"/v3/profiles/{flock.text()}?q={flock.text()}&{flock.text()}")
    send("GET", f"/v3/profiles/{EMAIL}")
    send("GET", f"/v3/profiles/{hashed}")
    for path in ("missing", "bytes"):
        send("GET", f"/v3/profiles/{path}")
    send("GET", f"/v3/qr-code/{hashed}?utm_medium={flock.text()}&size={NUMBER}&type={flock.text()}")
    send("GET", "/v3/me/profile")
    send("PATCH", "/v3/me/profile", json={"display_name": flock.text(), flock.text(): flock.text()})
    kinds = {"Content-Type": "application/json"}
    send("PATCH", "/v3/me/profile", content=b"\xff" + CANARY.encode(), headers=kinds)
    send("GET", f"/v3/me/avatars?selected_email_hash={flock.text()}")
    for kind in ("PNG", "JPEG"):
        file = (flock.text(suffix=".png"), flock.picture(kind), flock.text("image/"))
        send("POST", "/v3/me/avatars", files={"data": file, flock.text(): file})
    send("PATCH", f"/v3/me/avatars/{flock.text()}", json={"alt_text": flock.text()})
    send("POST", f"/v3/me/avatars/{flock.text()}/email", json={"email_hash": flock.text()})
    send("GET", f"/avatar/{hashed}?{flock.text()}")
    send("GET", f"/{CANARY}/page")
    names = ("client_id", "state", "code_challenge", "scope[0]", "response_type", flock.text())
    query = "&".join(f"{name}={flock.text()}" for name in names)
    send("GET", f"{AUTH_PROXY}/oauth2/authorize?{query}&redirect_uri={quote(flock.url())}")
    fields = ("client_id", "client_secret", "code", "redirect_uri", "username", "password", "scope")
    send("POST", f"{AUTH_PROXY}/oauth2/token", data={name: flock.text() for name in fields})
    send("GET", f"{AUTH_PROXY}/oauth2/token-info?client_id={flock.text()}&token={flock.text()}")
    send("POST", f"{AUTH_PROXY}/sign-in", data={"username": EMAIL, "password": flock.text()})


def traces() -> Iterator[bytes]:
    """Yields the canary in every writing in which a file could have it."""
    for text in (CANARY, CANARY.lower(), CANARY.upper()):
        raw = text.encode()
        yield raw
        yield raw.hex().encode()
        for shift in range(3):  # base64 writes it in three ways, by where it begins
            yield base64.b64encode(b"\0" * shift + raw)[2 + shift : -4]
    yield str(NUMBER).encode()
    yield sha256(EMAIL.lower().encode()).hexdigest().encode()
    yield sha256(EMAIL.encode()).hexdigest().encode()


def found_in(content: bytes) -> list[bytes]:
    """Returns the traces of canaries in a file or an output."""
    return [trace for trace in traces() if trace in content]


def pixels_in(directory: Path) -> set[tuple[int, ...]]:
    """Returns the colours of all pictures of a recording."""
    colours: set[tuple[int, ...]] = set()
    for path in (directory / "images").iterdir():
        with Image.open(path) as picture:
            colours |= {each for _, each in picture.convert("RGB").getcolors(2**24) or ()}  # type: ignore[misc]  # of RGB
    return colours

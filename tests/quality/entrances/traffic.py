"""Makes the bytes of a client: ordinary requests of every operation, hostile ones, odd framings."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random  # noqa: TID251 - seeded

from tests.quality.attack.requests import Attacker, HostileRequest
from tests.quality.benchmarks.workloads import workloads

MOST_BODY = 200_000
"""Bytes of a hostile body that is sent here; what larger ones do is looked at by ``make attack``."""

_ADA = hashlib.sha256(b"ada@example.com").hexdigest()
_FORM = "application/x-www-form-urlencoded"
_CLIENT = "client_id=server-app&client_secret=server-app-secret"
_UPLOAD = next(work for work in workloads() if work.name == "upload")

_ORDINARY = (
    *(("GET", f"/v3/profiles/{who}", "", b"") for who in ("ada", "ADA", _ADA, "nobody", "%C3%A9")),
    ("GET", "/profiles/ada?x=1&size=2", "", b""),
    ("GET", "/v3/profiles/ada?" + "&" * 1500, "", b""),
    ("GET", "/v3/me/profile", "", b""),
    ("PATCH", "/v3/me/profile", "application/json", b'{"location": "Port Lindry"}'),
    ("PATCH", "/v3/me/profile", "application/json", b'{"locatio": "Port Lindry"}'),
    ("PATCH", "/v3/me/profile", "application/json", b'{"location": 7}'),
    ("PATCH", "/v3/me/profile", "application/json", b"{"),
    ("PATCH", "/v3/me/profile", "text/plain", b"location"),
    ("PATCH", "/v3/me/profile", "", b""),
    ("GET", f"/v3/me/associated-email?email_hash={_ADA}", "", b""),
    ("GET", "/v3/me/associated-email", "", b""),
    ("GET", "/v3/me/avatars", "", b""),
    ("GET", f"/v3/me/avatars?selected_email_hash={_ADA}", "", b""),
    ("POST", f"/v3{_UPLOAD.path}", _UPLOAD.headers["Content-Type"], _UPLOAD.body),
    ("POST", "/v3/me/avatars", "multipart/form-data; boundary=x", b"--x--\r\n"),
    ("DELETE", "/v3/me/avatars/00000000000000000000000000000000", "", b""),
    ("GET", "/v3/qr-code/ada?size=80", "", b""),
    ("GET", "/v3/qr-code/ada?size=eighty", "", b""),
    ("GET", "/v3/qr-code/nobody?version=3&type=none", "", b""),
    ("GET", f"/avatar/{_ADA}?s=40", "", b""),
    ("GET", f"/avatar/{_ADA}.png?d=404", "", b""),
    ("GET", "/v3/profiles", "", b""),
    ("PUT", "/v3/profiles/ada", "", b""),
    ("HEAD", "/v3/profiles/ada", "", b""),
    ("OPTIONS", "/v3/profiles/ada", "", b""),
    ("POST", "/oauth2/token", _FORM, f"grant_type=password&{_CLIENT}".encode()),
    (
        *("POST", "/oauth2/token", _FORM),
        f"grant_type=password&username=ada&password=ada-password&{_CLIENT}".encode(),
    ),
    ("GET", "/oauth2/token-info?client_id=server-app&token=ada-full", "", b""),
    ("GET", "/oauth2/authorize?client_id=server-app&response_type=code", "", b""),
    ("GET", "/__world/nothing/v3/profiles/ada", "", b""),
    ("GET", "/__admin/health", "", b""),
    ("GET", "/", "", b""),
)
_TOKENS = ("", "", "Bearer ada-full", "Bearer ada-read", "bearer ada-full", "Bearer nothing", "x")
_ODD_HEADERS = (
    *("Origin: http://app.example", "Prefer: code=404", "Expect: 100-continue", "Accept: text/css"),
    *("X-Mock-Choose: scopes=ignored", "X-Mock-World: nothing", "Connection: close", "Host: other"),
    *("Cookie: mock_world=default", "X-Forwarded-Host: app.example", "Forwarded: host=app.example"),
    "Content-Encoding: gzip",
)


@dataclass(frozen=True, slots=True)
class Sent:
    """What a client sends on one connection.

    Attributes:
        pieces: One read of the server each.
        is_authorization: Whether it is sent to the authorization server.
    """

    pieces: tuple[bytes, ...]
    is_authorization: bool


def traffic(seed: int) -> Iterator[Sent]:
    """Yields what clients send, the same for the same seed, without end."""
    chance, attacker = Random(seed), Attacker(seed)
    while True:
        hostile = attacker.next()
        if chance.random() < 0.3 and _is_taken(hostile):
            yield Sent(tuple(_pieces(chance, _hostile(hostile))), hostile.is_authorization)
            continue
        count = chance.choice((1, 1, 1, 2, 3))  # more than one: pipelined
        requests = [_ordinary(chance) for _ in range(count)]
        content = b"".join(content for content, _ in requests)
        yield Sent(tuple(_pieces(chance, content)), requests[0][1])


def _is_taken(request: HostileRequest) -> bool:
    """Tells whether a request ends at once, and is not of the admin API, which tells of durations."""
    is_short = len(request.body) < MOST_BODY and not request.asks_for_delay
    return is_short and "/__admin" not in request.path


def _ordinary(chance: Random) -> tuple[bytes, bool]:
    method, target, kind, body = chance.choice(_ORDINARY)
    lines = [f"{method} {target} HTTP/{'1.0' if chance.random() < 0.05 else '1.1'}"]
    lines += ["Host: 127.0.0.1:8080"] * (chance.random() < 0.97)
    token = chance.choice(_TOKENS)
    lines += [f"Authorization: {token}"] if token else []
    lines += [f"Content-Type: {kind}"] if kind else []
    lines += [chance.choice(_ODD_HEADERS)] if chance.random() < 0.2 else []
    if body and chance.random() < 0.15:
        lines.append("Transfer-Encoding: chunked")
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    elif body or chance.random() < 0.1:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body, target.startswith("/oauth2")


def _hostile(request: HostileRequest) -> bytes:
    target = request.path.encode() + (b"?" + request.query if request.query else b"")
    fields = b"".join(b"%s: %s\r\n" % field for field in request.headers)
    return b"%s %s HTTP/1.1\r\n%s\r\n%s" % (request.method.encode(), target, fields, request.body)


def _pieces(chance: Random, content: bytes) -> Iterator[bytes]:
    """Cuts what is sent as a network might, now and then."""
    if chance.random() < 0.7:
        yield content
        return
    start = 0
    while start < len(content):
        size = chance.choice((1, 7, 40, 300, 5000))
        yield content[start : start + size]
        start += size
        if start > 20 * 5000:
            size = len(content)

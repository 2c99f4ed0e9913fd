"""Makes the bytes of a client: ordinary requests of every operation, hostile ones, odd framings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random  # noqa: TID251 - seeded

from tests.proofs.attack.requests import Attacker, HostileRequest
from tests.proofs.entrances.ordinary import PETS, SERVICE, STEERING, Ordinary

MOST_BODY = 200_000
"""Bytes of a hostile body that is sent here; what larger ones do is looked at by ``make attack``."""

_TOKENS = ("", "", "Bearer ada-full", "Bearer ada-read", "bearer ada-full", "Bearer nothing", "x")
_PET_TOKENS = ("", "Bearer anything", "Basic YTpi", "Basic !", "x")
_ODD_HEADERS = (
    *("Origin: http://app.example", "Prefer: code=404", "Expect: 100-continue", "Accept: text/css"),
    "X-Mock-Choose: invalid-token-precedence=profile, repeated-query-parameter=last",
    *(
        "X-Mock-Choose: scopes=ignored",
        "X-Mock-World: nothing",
        "Connection: close",
        "Host: other",
    ),
    *("Cookie: mock_world=default", "X-Forwarded-Host: app.example", "Forwarded: host=app.example"),
    *("Content-Encoding: gzip", "Expect: 200-ok", "Connection: keep-alive", "Content-Length: 3"),
    *("Transfer-Encoding: gzip, chunked", "X-Mock-World: w1", "X-Api-Key: k", "Upgrade: h2c"),
    *("Accept: */*;q=0", "Prefer: example=none", "If-None-Match: *", "Content-Type: text/plain"),
    *("Authorization: Bearer ada-full", "Host: 127.0.0.1:8080", "X-Long: " + "a" * 9000, " folded"),
)


_TARGETS = (
    *(b"/v3/profiles/ben", b"/v3/profiles/nora?a=b", b"/profiles/ada", b"/v3/me/profile", b"/pets"),
    *(b"/v3/profiles/a%2Fb", b"/v3/profiles/%C3%A9?%", b"/__world/default/v3/profiles/ada", b"*"),
    *(b"//v3/profiles/ada", b"/v3/profiles/ada#b", b"/v3/profiles/ada HTTP/1.0\r\na:", b"", b"ada"),
    *(b"http://other/v3/profiles/ada", b"/v3/profiles/\xe9", b'/v3/profiles/"', b"/" + b"a" * 3000),
)


@dataclass(frozen=True, slots=True)
class Sent:
    """What a client sends on one connection.

    Attributes:
        pieces: One read of the server each.
        is_authorization: Whether it is sent to the authorization server.
        is_half_closed: Whether the client says at once that it will send no more.
    """

    pieces: tuple[bytes, ...]
    is_authorization: bool = False
    is_half_closed: bool = False


def traffic(seed: int) -> Iterator[Sent]:
    """Yields what clients of the service send, the same for the same seed, without end."""
    chance, attacker = Random(seed), Attacker(seed)
    while True:
        hostile = attacker.next()
        if chance.random() < 0.3 and _is_taken(hostile):
            yield _sent(chance, _hostile(hostile), hostile.is_authorization)
            continue
        known = STEERING if chance.random() < 0.1 else SERVICE
        requests = [chance.choice(known) for _ in range(_count(chance))]
        content = b"".join(_written(chance, request, _TOKENS) for request in requests)
        yield _sent(chance, content, requests[0].target.startswith("/oauth2"))


def pet_traffic(seed: int) -> Iterator[Sent]:
    """Yields what clients of the pet store send, likewise."""
    chance = Random(seed)
    while True:
        requests = [chance.choice(PETS) for _ in range(_count(chance))]
        content = b"".join(_written(chance, request, _PET_TOKENS) for request in requests)
        yield _sent(chance, content, is_authorization=False)


def _count(chance: Random) -> int:
    return chance.choice((1, 1, 1, 2, 3))  # more than one: pipelined


def _is_taken(request: HostileRequest) -> bool:
    """Tells whether a request ends at once, and is not of the admin API, which tells of durations."""
    is_short = len(request.body) < MOST_BODY and not request.asks_for_delay
    return is_short and "/__admin" not in request.path


def _sent(chance: Random, content: bytes, is_authorization: bool) -> Sent:
    if chance.random() < 0.05:
        content = _damaged(chance, content)
    if chance.random() < 0.3:  # bytes that were a request before are not parsed again
        pieces: tuple[bytes, ...] = (content,) * chance.choice((2, 3))
    elif chance.random() < 0.2:  # nor is a head that differs from another in its target
        pieces = (content, _aimed(content, chance.choice(_TARGETS)))
    else:
        pieces = tuple(_pieces(chance, content))
    return Sent(pieces, is_authorization, is_half_closed=chance.random() < 0.1)


def _written(chance: Random, request: Ordinary, tokens: Sequence[str]) -> bytes:
    version = "1.0" if chance.random() < 0.05 else "1.1"
    lines = [f"{request.method} {request.target} HTTP/{version}"]
    lines += ["Host: 127.0.0.1:8080"] * (chance.random() < 0.97)
    token, body = chance.choice(tokens), request.body
    lines += [f"Authorization: {token}"] if token else []
    lines += [f"Content-Type: {request.media_type}"] if request.media_type else []
    lines += [chance.choice(_ODD_HEADERS)] if chance.random() < 0.2 else []
    if body and chance.random() < 0.15:
        lines.append("Transfer-Encoding: chunked")
        body = _chunked(chance, body)
    elif body or chance.random() < 0.1:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def _chunked(chance: Random, body: bytes) -> bytes:
    """Writes a body in chunks of any length, with an extension or a trailer now and then."""
    size = chance.choice((1, 10, len(body)))
    extension = chance.choice((b"", b"", b";a=b", b" "))
    chunks = [body[start : start + size] for start in range(0, min(len(body), 40 * size), size)]
    written = b"".join(b"%X%s\r\n%s\r\n" % (len(chunk), extension, chunk) for chunk in chunks)
    return written + b"0\r\n" + chance.choice((b"", b"", b"X-Trailer: a\r\n")) + b"\r\n"


def _aimed(content: bytes, target: bytes) -> bytes:
    """Sends the first request somewhere else."""
    method, _, rest = content.partition(b" ")
    return method + b" " + target + b" " + rest.partition(b" ")[2]


def _hostile(request: HostileRequest) -> bytes:
    target = request.path.encode() + (b"?" + request.query if request.query else b"")
    fields = b"".join(b"%s: %s\r\n" % field for field in request.headers)
    return b"%s %s HTTP/1.1\r\n%s\r\n%s" % (request.method.encode(), target, fields, request.body)


def _damaged(chance: Random, content: bytes) -> bytes:
    """Changes, drops or doubles one byte of the first requests' heads."""
    place = chance.randrange(min(len(content), 300))
    byte = content[place : place + 1]
    changed = chance.choice((b"", byte * 2, bytes([chance.randrange(256)]), b"\r\n", b" ", b"\x00"))
    return content[:place] + changed + content[place + 1 :]


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

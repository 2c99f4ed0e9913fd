"""Makes hostile requests: a grammar of what a client should not send, by seed."""

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random  # noqa: TID251 - seeded
from urllib.parse import quote

from tests.proofs.attack.known_values import PAGES, PARAMETERS, PICTURES

from understudy.openapi.bundled import openapi_directory
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import load
from understudy.openapi.operations import Operation, operations

Headers = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class HostileRequest:
    """One request, as bytes would be on the wire.

    Attributes:
        method: Any token.
        path: Percent-encoded.
        query: Raw.
        headers: As they are sent.
        body: As it is sent.
        is_authorization: Whether it goes to the authorization server.
    """

    method: str
    path: str
    query: bytes
    headers: Headers
    body: bytes
    is_authorization: bool

    @property
    def asks_for_failure(self) -> bool:
        """Whether a status from 500 is what it asks for, by a preference."""
        preferences = b" ".join(value for name, value in self.headers if name == b"prefer")
        wanted = preferences + self.query
        return b"code=5" in wanted or b"fault" in wanted

    @property
    def asks_for_delay(self) -> bool:
        """Whether it asks to be answered late."""
        return b"delay" in self.query or any(b"delay" in value for _, value in self.headers)

    def on_the_wire(self) -> bytes:
        """Returns the request as a client sends it that closes the connection afterwards."""
        target = self.path.encode() + (b"?" + self.query if self.query else b"")
        fields = (*self.headers, (b"connection", b"close"))
        head = b"".join(name + b": " + value + b"\r\n" for name, value in fields)
        return b"%s %s HTTP/1.1\r\n%s\r\n%s" % (self.method.encode(), target, head, self.body)


TEXTS = (
    *("", " ", "a", "ada", "0", "-1", "1e400", "NaN", "null", "true", "é", "\u202e", "😀"),
    *("\x00", "\n", "\r\nX-Injected: 1", "\x7f", "../../etc/passwd", "%00", "%", "%zz", "{}"),
    *("a" * 300, "9" * 4300, "'; DROP TABLE worlds;--", "<script>", "(a|a)*$", "a{99999999999}"),
    *("[", "[" * 200, "2" * 20, "7.0", "1e30", "0x10", "\uff11", "__fault", "ada@example.com"),
)
"""Texts that something once stumbled over."""

HOSTS = (b"[::1", b"127.0.0.1:abc", b"", b" ", b"\xc3\xa9", b"a:99999", b"a b", b"[]")
TYPES = (
    *(b"application/json", b"application/x-www-form-urlencoded", b"text/plain", b"application/zip"),
    *(b"multipart/form-data; boundary=x", b"multipart/form-data", b"application/json; charset=x"),
    *(b"\xff", b"image/png", b"application/xml;;;"),
)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW")
TOKENS = (
    *(b"Bearer ada-full", b"Bearer ben-full", b"Bearer ada-full", b"Bearer ada-api-key"),
    *(b"Bearer \xc3\xa9", b"Bearer ", b"Basic YTpi", b"Bearer a b", b"\x00"),
)
PREFERENCES = (
    *(b"code=404", b"code=200", b"code=" + b"5" * 4300, b"example=x", b"dynamic=true", b"seed=-1"),
    *(b"seed=" + b"9" * 500, b"delay=-1", b"delay=nan", b"fault=missing-field:a.0.b", b"fault=x"),
    *(b"events=" + b"9" * 5000, b"interval=nan", b"then=stay, events=2"),
)
NUMBERS = (0, -1, 7.0, 1e30, 2**53, 2**64, 503.0, 1e-9, -0.0, 3600)


def all_operations() -> list[tuple[str, Operation, bool]]:
    """Returns base path, operation and whether it is the authorization server's, of each document."""
    bases = {"service": "/v3", "web": "", "authorization": "", "admin": "/__admin"}
    return [
        (base, operation, name == "authorization")
        for name, base in bases.items()
        for operation in operations(load(openapi_directory() / f"{name}.yaml"))
        if not operation.path.endswith("/stream")  # goes on for ever, as it should
    ]


class Attacker:
    """Makes requests, the same ones for the same seed.

    Args:
        seed: Of what is drawn.
    """

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self._operations = all_operations()

    def next(self) -> HostileRequest:
        """Makes the next request."""
        base, operation, is_authorization = self._chance.choice(self._operations)
        path = PATH_PARAMETER.sub(
            lambda name: quote(self._value_of(name[1]), safe=""), base + operation.path
        )
        if self._rarely():
            path = self._chance.choice((*PAGES, "/" + quote(self._text()), path + "/", "/" * 50))
            is_authorization = self._rarely()
        if self._rarely():
            path = f"/__world/{self._chance.choice(('default', 'w1', quote(self._text())))}{path}"
        method = self._chance.choice(METHODS) if self._rarely() else operation.method
        kind, body = self._body(operation)
        headers = (*self._headers(), *(((b"content-type", kind),) if kind else ()))
        if body:
            headers = (*headers, (b"content-length", str(len(body)).encode()))
        return HostileRequest(method, path, self._query(operation), headers, body, is_authorization)

    def _rarely(self) -> bool:
        return self._chance.random() < 0.15

    def _text(self) -> str:
        return self._chance.choice(TEXTS)

    def _value_of(self, name: str) -> str:
        """Returns a value of a parameter: half of the time one that is known."""
        known = PARAMETERS.get(name)
        if known is None or self._chance.random() < 0.5:
            return self._text()
        return self._chance.choice(known)

    def _query(self, operation: Operation) -> bytes:
        names = [p.name for p in operation.parameters if p.location == "query"]
        if operation.operation_id == "authorize":
            names += ["scope[0]", "mock_approve", "state"]
        pairs = [(name, self._value_of(name)) for name in names if self._chance.random() < 0.8]
        if self._rarely():
            pairs += [
                (self._text(), self._text()) for _ in range(self._chance.choice((1, 3, 1500)))
            ]
        if self._rarely():
            pairs.append(
                (self._chance.choice(("__seed", "__delay", "__code", "__example")), self._text())
            )
        return "&".join(f"{quote(n)}={quote(t)}" for n, t in pairs).encode()

    def _headers(self) -> Headers:
        host = self._chance.choice(HOSTS) if self._rarely() else b"127.0.0.1:8080"
        headers: list[tuple[bytes, bytes]] = [(b"host", host)]
        if self._chance.random() < 0.5:
            headers.append((b"authorization", self._chance.choice(TOKENS)))
        for name, values in (
            (b"prefer", PREFERENCES),
            (b"origin", (b"http://[", b"null", b"http://a.example", b"\xff")),
            (b"x-forwarded-host", HOSTS),
            (b"x-mock-world", (b"nothing", b"\xff", b"", b"a" * 500)),
            (b"x-mock-choose", (b"scopes=ignored", b"x", b"=", b"," * 500)),
            (b"cookie", (b"mock_world=\xff", b"session=x", b";;;=", b"a=" + b"b" * 5000)),
            (b"accept", (b"image/png", b"*/*;q=0", b";", b"text/html", b"\xff")),
            (b"content-encoding", (b"gzip", b"")),
            (b"host", (b"other",)),
        ):
            if self._chance.random() < 0.05:
                headers.append((name, self._chance.choice(values)))
        if self._chance.random() < 0.01:
            headers += [(b"x-a", b"1")] * self._chance.choice((150, 5000))
        return tuple(headers)

    def _body(self, operation: Operation) -> tuple[bytes, bytes]:
        if operation.request_body is None and not self._rarely():
            return b"", b""
        declared = list(operation.request_body.content) if operation.request_body else []
        kind = (
            declared[0].encode() if declared and not self._rarely() else self._chance.choice(TYPES)
        )
        makers: Sequence[Callable[[], bytes]] = (
            (self._json,) * 4 if b"json" in kind else (self._form, self._multipart, self._archive)
        )
        maker = self._chance.choice((*makers, self._garbage))
        examples = operation.request_body.content if operation.request_body else {}
        known = [e for media in examples.values() for e in media.examples.values()]
        if known and kind.decode("latin-1") in examples and self._chance.random() < 0.6:
            return kind, self._changed(kind, self._chance.choice(known))
        if kind == b"multipart/form-data":
            kind += b"; boundary=x"
        return kind, maker()

    def _changed(self, kind: bytes, example: object) -> bytes:
        """Returns an example of the document as a body, half of the time with a hostile member."""
        if not isinstance(example, dict):
            return json.dumps(example).encode()
        value = dict(example)
        if value and self._chance.random() < 0.6:
            name = self._chance.choice((*value, self._text()))
            value[name] = self._value()
        if b"json" in kind:
            return json.dumps(value).encode("utf-8", "surrogatepass")
        return "&".join(f"{name}={quote(str(text))}" for name, text in value.items()).encode()

    def _json(self) -> bytes:
        names = ("name", "seed", "status", "effect", "id", "person", "now", "rate", "seconds")
        more = ("limit", "used", "urlPattern", "operation", "share", "times", "delay", "scopes")
        value: dict[str, object] = {}
        for _ in range(self._chance.choice((0, 1, 2, 4))):
            value[self._chance.choice((*names, *more, self._text()))] = self._value()
        return json.dumps(value).encode("utf-8", "surrogatepass")

    def _value(self) -> object:
        return self._chance.choice(
            (self._text(), self._chance.choice(NUMBERS), None, True, [], {}, [self._text()] * 3)
        )

    def _form(self) -> bytes:
        names = ("grant_type", "client_id", "client_secret", "code", "username", "password", "x")
        count = self._chance.choice((1, 3, 6, 2000))
        pairs = ((self._chance.choice(names), quote(self._text())) for _ in range(count))
        return "&".join(f"{name}={text}" for name, text in pairs).encode()

    def _multipart(self) -> bytes:
        if self._chance.random() < 0.3:
            head = b'--x\r\nContent-Disposition: form-data; name="data"; filename="a.png"\r\n\r\n'
            return head + self._chance.choice(PICTURES) + b"\r\n--x--\r\n"
        count = self._chance.choice((1, 2, 300))
        part = '--x\r\nContent-Disposition: form-data; name="data"; filename="%s"\r\n\r\n%s\r\n'
        parts = (part % (quote(self._text()), self._text()) for _ in range(count))
        return ("".join(parts) + "--x--\r\n").encode("utf-8", "replace")

    def _archive(self) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            yaml = self._chance.choice(
                ("[" * 50_000, "a: &a [*a]", "slug: x", "\x00", self._text())
            )
            name = self._chance.choice(("people/x.yaml", "../x", "tokens.yaml"))
            archive.writestr(zipfile.ZipInfo(name), yaml)  # without the time of day
        return packed.getvalue()

    def _garbage(self) -> bytes:
        return self._chance.choice(
            (b"\xff\xfe", b"{", b"[" * 5000, b"PK\x03\x04", b"--x", b"\x00" * 9)
        )

"""Lets an app run unchanged from its recording, which names people and tokens by pseudonyms.

Whoever has the key of the recording can compute the pseudonym of what an app sends. What names
somebody of the recording goes to the mock as its pseudonym, and comes back as the app named it; what
people write stays as it is.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import StartupError
from understudy.record.pseudonyms import SITE, Pseudonyms
from understudy.record.recorder import load_key
from understudy.verify.clock import machine_time
from understudy.verify.target import email_hash, load_target

_PART: Final = re.compile(rb"[^/?&=]+")
"""Matches a segment of a path, and a name or a value of a query or a form."""

_DIGITS: Final = re.compile(rb"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{32})(?![0-9A-Za-z])")
"""Matches what names somebody, or an avatar, within JSON."""

_WORD: Final = re.compile(r"[^\s\"':,]+")
_NAME: Final = re.compile(r"[\w.@+~*-]{1,300}")
_BEARER: Final = b"bearer "
JSON: Final = b"application/json"
FORM: Final = b"application/x-www-form-urlencoded"
_STEERING: Final = ("/__admin", "/__console")
"""Beginnings of paths that no app calls."""

_MOST_BYTES: Final = 1_000_000
"""The largest body of a request that is translated."""


class AppWords:
    """Knows what an app calls the people, avatars and tokens of a recording.

    Args:
        recording: The directory of the recording.
        key: The file of the key that its pseudonyms were made under.

    Raises:
        StartupError: A file of them cannot be read.
    """

    def __init__(self, recording: Path, key: Path) -> None:
        target = load_target(recording / "target.toml", {})
        self._pseudonyms = Pseudonyms(load_key(key), target, machine_time())
        texts = [path.read_text("utf-8") for path in recording.rglob("*.yaml")]
        words = {word for text in texts for word in _WORD.findall(text)}
        self._known = words | {email_hash(word) for word in words if "@" in word}
        self._own: dict[bytes, bytes] = {}
        self._pattern: re.Pattern[bytes] | None = None

    def _candidates(self, word: str) -> Iterator[str]:
        yield self._pseudonyms.identifier(word)
        yield self._pseudonyms.image_id(word)
        yield self._pseudonyms.secret(word)

    def _named(self, written: bytes) -> bytes:
        """Returns the pseudonym of a word, percent-encoded as it is; the word itself without one."""
        word = unquote(written.decode("latin-1"))
        candidates = self._candidates(word) if _NAME.fullmatch(word) else ()
        found = next((it for it in candidates if it in self._known), None)
        if found is None:
            return written
        self._own[found.encode()] = word.encode()
        self._pattern = None
        return quote(found).encode()

    def target(self, written: bytes) -> bytes:
        """Returns the path or the query of a request, or a form, with the pseudonyms in it."""
        return _PART.sub(lambda part: self._named(part[0]), written)

    def json(self, body: bytes) -> bytes:
        """Returns a body of JSON with the pseudonyms in it; texts that name nobody stay."""
        return _DIGITS.sub(lambda digits: self._named(digits[0]), body)

    def authorization(self, field: bytes) -> bytes:
        """Returns a bearer credential with the token of the recording."""
        scheme, token = field[: len(_BEARER)], field[len(_BEARER) :].strip()
        is_bearer = scheme.lower() == _BEARER and token
        return scheme + unquote(self._named(token).decode()).encode() if is_bearer else field

    def own(self, content: bytes) -> bytes:
        """Returns what the mock sends in the app's own words."""
        if not self._own:
            return content
        if self._pattern is None:
            longest = sorted(self._own, key=len, reverse=True)
            self._pattern = re.compile(b"|".join(map(re.escape, longest)))
        return self._pattern.sub(lambda found: self._own[found[0]], content)


def entrance(recording: Path | None, key: Path) -> Callable[[ASGIApp], ASGIApp]:
    """Returns what stands before a mock that serves a recording whose key is at hand.

    Args:
        recording: The directory of the fixtures; None for the bundled ones.
        key: The file of the key.

    Raises:
        StartupError: The fixtures are not a recording, or the key cannot be read.
    """
    if recording is None:
        msg = "--recording-key is of a recording; name its directory with --fixtures."
        raise StartupError(msg)
    return partial(in_app_words, AppWords(recording, key))


def in_app_words(words: AppWords, app: ASGIApp) -> ASGIApp:
    """Returns an application that serves what another does, to an app with words of its own."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(_STEERING):
            await app(scope, receive, send)
            return
        headers = {name.lower(): text for name, text in scope["headers"]}
        translate = {JSON: words.json, FORM: words.target}.get(
            headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        )
        if translate is not None and int(headers.get(b"content-length", b"0")) <= _MOST_BYTES:
            body = translate(await _whole(receive))
            headers[b"content-length"] = b"%d" % len(body)
            receive = _with_body(body, receive)
        if b"authorization" in headers:
            headers[b"authorization"] = words.authorization(headers[b"authorization"])
        path = words.target(scope["raw_path"])
        renamed = {
            "raw_path": path,
            "path": unquote(path.decode("latin-1")),
            "query_string": words.target(scope["query_string"]),
            "headers": list(headers.items()),
        }
        host = headers.get(b"host", b"")
        origin = scope["scheme"].encode() + b"://" + host
        await app({**scope, **renamed}, receive, _Sending(words, send, origin))

    return serve


async def _whole(receive: Receive) -> bytes:
    """Returns the body of a request."""
    parts = []
    is_whole = False
    while not is_whole:
        message = await receive()
        parts.append(message.get("body", b""))
        is_whole = not message.get("more_body", False)
    return b"".join(parts)


def _with_body(body: bytes, receive: Receive) -> Receive:
    """Returns what receives a body at once, and afterwards what another receives."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return left.pop() if left else await receive()

    return receive_again


class _Sending:
    """Sends what the mock sends, in the app's words.

    Args:
        words: The app's.
        send: Sends on.
        origin: Where the mock is reached, which recorded responses name as ``serve`` does by default.
    """

    def __init__(self, words: AppWords, send: Send, origin: bytes) -> None:
        self._words, self._send, self._origin = words, send, origin
        self._start: Message = {}
        self._parts: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        """Sends a message; a body of JSON once it is whole."""
        if message["type"] == "http.response.start":
            headers = [(name.lower(), text) for name, text in message["headers"]]
            headers = [(n, self._words.own(t) if n == b"location" else t) for n, t in headers]
            message = {**message, "headers": headers}
            if dict(headers).get(b"content-type", b"").startswith(JSON):
                self._start = message
                return
        elif self._start:
            self._parts.append(message.get("body", b""))
            if message.get("more_body", False):
                return
            body = self._words.own(b"".join(self._parts)).replace(SITE.encode(), self._origin)
            message = {"type": "http.response.body", "body": body}
            await self._send(_of_length(self._start, len(body)))
        await self._send(message)


def _of_length(start: Message, length: int) -> Message:
    headers = [it for it in start["headers"] if it[0] != b"content-length"]
    return {**start, "headers": [*headers, (b"content-length", b"%d" % length)]}

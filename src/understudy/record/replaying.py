"""Lets an app run unchanged against its recording, which has pseudonyms for people and tokens.

With the key of the recording, the pseudonym of any value that an app sends can be computed. Values
that occur in the recording are replaced by their pseudonyms in requests, and back in responses; other
texts are left unchanged.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import StartupError
from understudy.openapi.media_types import URLENCODED, is_json, without_options
from understudy.openapi.yaml_files import read_yaml
from understudy.record.allow_list import kind_of
from understudy.record.anonymising import PAGING, SMALL_NUMBER
from understudy.record.pseudonyms import SITE, Pseudonyms
from understudy.record.recorder import load_key
from understudy.verify.clock import machine_time
from understudy.verify.target import Target, email_hash, load_target

_PART: Final = re.compile(rb"[^/?]+")  # a path segment
_PAIR: Final = re.compile(rb"([^&=]+)=([^&]+)")  # a pair of a query or form
_NUMBER: Final = re.compile(rb"(?<![0-9A-Za-z.%])[0-9]{4,6}(?![0-9A-Za-z])")
"""A number that may be a pseudonym, in JSON or in a path."""

_DIGITS: Final = re.compile(rb"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{32})(?![0-9A-Za-z])")
"""The hash of an e-mail address, or an avatar's identifier, within JSON."""

_WORD: Final = re.compile(r"[^\s\"':,]+")  # a candidate for a pseudonym in a fixture file
_NAME: Final = re.compile(r"[\w .,:@+~*-]{1,300}")  # other texts have no pseudonym to look for
_MOST_WORDS: Final = 10_000
"""Largest number of words and of numbers of an app that are remembered for translating back."""
_BEARER: Final = b"bearer "
_STEERING: Final = ("/__admin", "/__console")
"""Path prefixes that are passed through, as only tools call them."""

_MOST_BYTES: Final = 1_000_000
"""Largest body of a request, in bytes, that is translated."""


class AppWords:
    """Translates between an app's words and the pseudonyms of a recording.

    Raises:
        StartupError: A file of the recording, or the key, cannot be read.
    """

    def __init__(self, recording: Path, key: Path) -> None:
        file = recording / "target.toml"  # missing if no people were recorded
        target = load_target(file, {}) if file.exists() else Target(SITE)
        self._pseudonyms = Pseudonyms(load_key(key), target, machine_time())
        texts = [path.read_text("utf-8") for path in recording.rglob("*.yaml")]
        words = {word for text in texts for word in _WORD.findall(text)}
        self._conditions = set(map(str, _recorded_conditions(recording)))
        self._known = words | {email_hash(word) for word in words if "@" in word} | self._conditions
        self._own: dict[bytes, bytes] = {}
        self._numbers: dict[bytes, bytes] = {}
        self._pattern: re.Pattern[bytes] | None = None

    def _candidates(self, word: str) -> Iterator[str]:
        if word.isdecimal():  # rather the number of an item than a slug
            yield self._pseudonyms.text(word)
        yield self._pseudonyms.identifier(word)
        yield self._pseudonyms.image_id(word)
        yield self._pseudonyms.secret(word)
        yield self._pseudonyms.text(word)
        if not word.islower():  # slugs and addresses are compared without case
            yield self._pseudonyms.identifier(word.lower())

    def _named(self, written: bytes) -> bytes:
        """Returns the pseudonym of a percent-encoded word; the word unchanged if it is not recorded."""
        word = unquote(written.decode("latin-1"))
        candidates = self._candidates(word) if _NAME.fullmatch(word) else ()
        found = next((it for it in candidates if it in self._known), None)
        if found is None:
            return written
        self._learn(found, word)
        return quote(found).encode()

    def _learn(self, found: str, word: str) -> None:
        """Remembers the app's word for a pseudonym, up to a limit, since apps may send many."""
        learnt = self._numbers if found.isdigit() else self._own
        if len(learnt) < _MOST_WORDS:
            learnt |= {found.encode(): word.encode(), quote(found).encode(): quote(word).encode()}
            self._pattern = None

    def target(self, written: bytes) -> bytes:
        """Returns the path of a request with pseudonyms."""
        return _PART.sub(lambda part: self._named(part[0]), written)

    def query(self, written: bytes) -> bytes:
        """Returns a query or form with pseudonyms."""
        return _PAIR.sub(self._pair, written.replace(b"+", b"%20"))

    def _pair(self, pair: re.Match[bytes]) -> bytes:
        name, value = pair[1].decode("latin-1"), pair[2].decode("latin-1")
        is_number = name in PAGING and SMALL_NUMBER.fullmatch(value)
        return pair[0] if is_number else pair[1] + b"=" + self._named(pair[2])

    def json(self, body: bytes) -> bytes:
        """Returns a JSON body with pseudonyms; values that were not recorded are left unchanged."""
        with suppress(ValueError):
            value = orjson.loads(body)
            translated = self._value(value, "")
            body = body if translated == value else orjson.dumps(translated)
        return _DIGITS.sub(lambda digits: self._named(digits[0]), body)

    def _value(self, value: Any, name: str) -> Any:
        """Returns the pseudonym of a JSON value, if a recorded request had it; else the value."""
        if isinstance(value, dict):
            return {member: self._value(it, member) for member, it in value.items()}
        if isinstance(value, list):
            return [self._value(it, name) for it in value]
        if isinstance(value, str):
            found: Any = kind_of(name)(self._pseudonyms, value)
        elif type(value) in {int, float}:
            found = self._pseudonyms.number("number", str(value), 10**6)
        else:
            return value
        if str(found) not in self._conditions:
            return value
        written = orjson.dumps(value).decode()
        self._learn(str(found), written[1:-1] if isinstance(value, str) else written)
        return found

    def authorization(self, field: bytes) -> bytes:
        """Returns an Authorization field with the pseudonym of its bearer token."""
        scheme, token = field[: len(_BEARER)], field[len(_BEARER) :].strip()
        is_bearer = scheme.lower() == _BEARER and token
        return scheme + unquote(self._named(token).decode()).encode() if is_bearer else field

    def own(self, content: bytes) -> bytes:
        """Returns a part of a response with the app's words in place of pseudonyms."""
        if self._numbers:
            content = _NUMBER.sub(lambda it: self._numbers.get(it[0], it[0]), content)
        if not self._own:
            return content
        if self._pattern is None:
            longest = sorted(self._own, key=len, reverse=True)
            self._pattern = re.compile(b"|".join(map(re.escape, longest)))
        return self._pattern.sub(lambda found: self._own[found[0]], content)


def _recorded_conditions(recording: Path) -> Iterator[Any]:
    """Yields the texts and numbers in the conditions of the recording's stubs."""
    stubs = (read_yaml(path) for path in (recording / "stubs").glob("*.yaml"))
    pending = [stub.get("when") for listed in stubs for stub in listed]
    while pending:
        value = pending.pop()
        if isinstance(value, dict | list):
            pending += value.values() if isinstance(value, dict) else value
        elif value is not None and not isinstance(value, bool):
            yield value


def entrance(recording: Path | None, key: Path) -> Callable[[ASGIApp], ASGIApp]:
    """Returns a middleware for a mock that serves a recording whose key is available.

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
    """Returns an ASGI application that translates requests and responses of another one."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(_STEERING):
            await app(scope, receive, send)
            return
        headers = {name.lower(): text for name, text in scope["headers"]}
        sent = without_options(headers.get(b"content-type", b"").decode("latin-1"))
        translate = words.json if is_json(sent) else {URLENCODED: words.query}.get(sent)
        if translate is not None and int(headers.get(b"content-length", b"0")) <= _MOST_BYTES:
            try:
                body = translate(await Request(scope, receive).body())
            except ClientDisconnect:
                return
            headers[b"content-length"] = b"%d" % len(body)
            receive = _with_body(body, receive)
        if b"authorization" in headers:
            headers[b"authorization"] = words.authorization(headers[b"authorization"])
        path = words.target(scope["raw_path"])
        renamed = {
            "raw_path": path,
            "path": unquote(path.decode("latin-1")),
            "query_string": words.query(scope["query_string"]),
            "headers": list(headers.items()),
        }
        host = headers.get(b"host", b"")
        origin = scope["scheme"].encode() + b"://" + host
        await app({**scope, **renamed}, receive, _Sending(words, send, origin))

    return serve


def _with_body(body: bytes, receive: Receive) -> Receive:
    """Returns an ASGI receive function that returns a body, and then forwards to another one."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return left.pop() if left else await receive()

    return receive_again


class _Sending:
    """An ASGI send function that translates the mock's responses into the app's words.

    Args:
        words: The app's words.
        send: The send function to forward to.
        origin: Origin by which the app reaches the mock; replaces the default one in responses.
    """

    def __init__(self, words: AppWords, send: Send, origin: bytes) -> None:
        self._words, self._send, self._origin = words, send, origin
        self._start: Message = {}
        self._parts: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        """Sends a message; a JSON body is collected and sent when it is complete."""
        if message["type"] == "http.response.start":
            headers = [(name.lower(), text) for name, text in message["headers"]]
            headers = [(n, self._own(t) if n in {b"link", b"location"} else t) for n, t in headers]
            message = {**message, "headers": headers}
            if is_json(without_options(dict(headers).get(b"content-type", b"").decode("latin-1"))):
                self._start = message
                return
        elif self._start:
            self._parts.append(message.get("body", b""))
            if message.get("more_body", False):
                return
            body = self._own(b"".join(self._parts))
            message = {"type": "http.response.body", "body": body}
            await self._send(_of_length(self._start, len(body)))
        await self._send(message)

    def _own(self, content: bytes) -> bytes:
        return self._words.own(content).replace(SITE.encode(), self._origin)


def _of_length(start: Message, length: int) -> Message:
    headers = [it for it in start["headers"] if it[0] != b"content-length"]
    return {**start, "headers": [*headers, (b"content-length", b"%d" % length)]}

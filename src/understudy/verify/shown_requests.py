"""Writes the requests that show a fact as curl commands, for version control.

Only harmless values are written: those that ``verify`` makes up, and those of parameters with words
or sizes of the interface. Every other text becomes a shell variable with the name of its parameter
or member. So a facts file has no secret, no identifier and no text of a person in it, and a second
run writes the same commands.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote, unquote_plus, urlsplit

import orjson

from understudy.exchange.curl import curl
from understudy.exchange.masking import OWN_PREFIX, QUIET
from understudy.exchange.messages import NO_JSON, Exchange, Headers, Request, media_type
from understudy.openapi.media_types import MULTIPART, URLENCODED
from understudy.verify.history import MADE_UP_HASHES
from understudy.verify.rules.avatar_uploads import only_file
from understudy.verify.target import Target, md5_of
from understudy.verify.wording import as_on_the_wire

SHOWN: Final = 3
"""Most commands of a fact."""

_HARMLESS: Final = frozenset(
    {
        "default",
        "size",
        "type",
        "version",
        "grant_type",
        "response_type",
        "scope",
        "rating",
        "select_avatar",
    }
)
"""Parameters and members whose values are words or sizes of the interface, and no person's."""

_PATH_VALUES: Final = {"profiles": "PROFILE", "qr-code": "PROFILE", "avatars": "IMAGE_ID"}
"""The variable of a path parameter, by the segment before it."""

_SCHEMES: Final = {"Bearer": "token", "Basic": "credentials"}
"""The variable of an unknown credential, by its scheme."""


@dataclass
class _Redaction:
    """Replaces texts by variables.

    Attributes:
        known: Texts of the target, with the names of their variables.
        names: The variables that were used.
    """

    known: Mapping[str, str]
    names: set[str] = field(default_factory=set)

    def variable(self, name: str) -> str:
        """Returns a variable named after a parameter, and records its name."""
        called = re.sub(r"[^a-zA-Z0-9]+", "_", name).strip("_").upper()
        called = called if called and not called[0].isdigit() else "VALUE"
        self.names.add(called)
        return f"${called}"

    def text(self, name: str, text: str) -> str:
        """Returns a text as it is if it is harmless, or else a variable."""
        is_made_up = text.startswith(OWN_PREFIX) or text in MADE_UP_HASHES
        if not text or is_made_up or name.partition("[")[0] in _HARMLESS:
            return text
        return self.variable(self.known.get(text, name))

    def pairs(self, encoded: str) -> str:
        """Returns a query or a form with its values redacted."""
        pairs = (pair.partition("=") for pair in encoded.split("&"))
        return "&".join(
            name
            + sign
            + (value if self._keeps(name, value) else self.text(*map(unquote_plus, (name, value))))
            for name, sign, value in pairs
        )

    def json(self, value: Any, name: str = "value") -> Any:
        """Returns a JSON value with its texts and numbers redacted."""
        if isinstance(value, dict):
            return {member: self.json(item, member) for member, item in value.items()}
        if isinstance(value, list):
            return [self.json(item, name) for item in value]
        if value is None or isinstance(value, bool):
            return value
        redacted = self.text(name, str(value))
        return value if redacted == str(value) else redacted

    def path(self, url: str, exchange: Exchange) -> str:
        """Returns an address without its query, with its path parameters redacted."""
        parts = urlsplit(url)
        server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        segments, before, count = [], "", 0
        for segment in parts.path.split("/"):
            is_value = unquote(segment) in exchange.values
            name = _PATH_VALUES.get(before, "ID")
            segments.append(self.text(name, unquote(segment)) if is_value else segment)
            before, count = segment, count + is_value
        is_whole = bool(exchange.operation) and count == len(exchange.values)
        return server + (
            "/".join(segments) if is_whole else f"/{self.variable('path of the request')}"
        )

    def headers(self, headers: Headers) -> Iterator[tuple[str, str]]:
        """Yields the headers that a command sends itself."""
        for name, text in headers:
            if name == "authorization":
                yield name, self._authorization(text)
            elif name == "content-type":
                yield name, media_type(headers)
            elif name not in QUIET:
                yield name, self.variable(name)

    def _authorization(self, text: str) -> str:
        scheme, _, credential = text.partition(" ")
        if scheme not in _SCHEMES:
            return self.variable("authorization")
        return f"{scheme} {self.variable(self.known.get(credential, _SCHEMES[scheme]))}"

    def _keeps(self, name: str, value: str) -> bool:
        plain = unquote_plus(value)
        return self.text(unquote_plus(name), plain) == plain


def commands_of(exchanges: Iterable[Exchange], target: Target) -> tuple[str, ...]:
    """Returns some exchanges as curl commands, each with its caller and status as a comment.

    Args:
        exchanges: The exchanges; equal commands are written once.
        target: The deployment, whose tokens and people are variables.
    """
    commands: dict[str, None] = {}
    for exchange in exchanges:
        if len(commands) == SHOWN:
            break
        commands[command_of(exchange, target)] = None
    return tuple(commands)


def command_of(exchange: Exchange, target: Target, remark: str = "") -> str:
    """Returns an exchange as a curl command.

    Args:
        exchange: The exchange.
        target: The deployment.
        remark: A text for the comment after caller and status.
    """
    redaction = _Redaction(_known(target))
    request = as_on_the_wire(exchange).request
    body, attached = _body(request, redaction)
    path, (_, _, query) = redaction.path(request.url, exchange), request.url.partition("?")
    headers = tuple(
        (name, text)
        for name, text in redaction.headers(request.headers)
        if name != "content-type" or text != MULTIPART
    )
    redacted = Request(
        request.method, f"{path}?{redaction.pairs(query)}" if query else path, headers, body
    )
    command = curl(redacted, {f"${name}": name for name in redaction.names})
    comment = f"# as {exchange.identity.name}: {exchange.status}{remark}"
    return " ".join(filter(None, (command, attached, comment)))


def _body(request: Request, redaction: _Redaction) -> tuple[bytes, str]:
    """Returns a redacted body, or the option that sends a file in its place."""
    if not request.body:
        return b"", ""
    kind = media_type(request.headers)
    if kind == URLENCODED:
        return redaction.pairs(request.body.decode("utf-8", "replace")).encode(), ""
    if request.json is not NO_JSON:
        return orjson.dumps(redaction.json(request.json)), ""
    file = only_file(request.header("content-type"), request.body)
    if file is None:
        plain = "" if request.header("content-type") else '-H "content-type:" '
        return b"", f"{plain}--data-binary @body.bin"
    return b"", f'-F "{file.field}=@picture.{file.form.lower() or "bin"}"'


def _known(target: Target) -> dict[str, str]:
    """Returns the texts of a target that become variables, with the variables' names."""
    people = target.known
    named = {
        "own_hash": people.own_hashes,
        "others_hash": people.others_hashes,
        "own_md5": tuple(map(md5_of, people.emails)),
        "slug": (people.slug,),
        "other_slug": (people.other_slug,),
        "private_slug": (people.private_slug,),
        "disabled_slug": (people.disabled_slug,),
        "hidden_contact_slug": (people.hidden_contact_slug,),
    }
    known = {text: name for name, texts in named.items() for text in texts if text}
    return {**known, **target.secrets()}

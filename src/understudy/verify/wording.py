"""Translates between the interface's words and those of a deployment that uses others.

Rules and generators use the interface's words. Requests are translated right before they are sent,
and responses right after they are received, so that checks see no other word; reports show the
original.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote_plus, unquote_plus, urlsplit

import orjson
from msgspec import to_builtins

from understudy.exchange.messages import Exchange, Request, Response, media_type
from understudy.interface.vocabulary import OWN_WORDS, Vocabulary
from understudy.openapi.media_types import JSON, MULTIPART, URLENCODED

Words = Mapping[str, str]

SCOPE_NAME: Final = re.compile(r"scope(\[\d*\])?")
_CHALLENGE: Final = re.compile(r'scope="([^"]*)"')


class Wording:
    """Translates requests into the words of a deployment, and its responses back.

    Args:
        vocabulary: The words of the deployment.
        has_document: Whether the deployment's own document is in force, which itself names the
            parameters and fields.
        envelopes: The member that holds the interface's own response, by operation.
        json_types: The media type of JSON request bodies that is not JSON's own, by operation.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        has_document: bool = False,
        envelopes: Words = MappingProxyType({}),
        json_types: Words = MappingProxyType({}),
    ) -> None:
        known = OWN_WORDS if has_document else vocabulary
        own, other = to_builtins(OWN_WORDS.qr_types), to_builtins(known.qr_types)
        self._scopes: Words = vocabulary.words
        self._types: Words = {own[name]: other[name] for name in own}
        self._field = (OWN_WORDS.upload_field, known.upload_field)
        self._envelopes, self._json_types = envelopes, json_types
        self._header = (OWN_WORDS.rate_limit_headers, vocabulary.rate_limit_headers)

    def request(self, request: Request, operation: str = "") -> Request:
        """Returns a request in the words of the deployment."""
        worded = self._worded(request, self._scopes, self._types, self._field)
        return _typed(worded, JSON, self._json_types.get(operation, JSON))

    def original_request(self, request: Request, operation: str = "") -> Request:
        """Returns a request of the deployment's in the interface's words, such as a recorded one."""
        scopes, types = _inverse(self._scopes), _inverse(self._types)
        worded = self._worded(request, scopes, types, self._field[::-1])
        return _typed(worded, self._json_types.get(operation, JSON), JSON)

    def response(self, response: Response, operation: str = "") -> Response:
        """Returns a response of the deployment in the interface's words, out of its envelope."""
        words = _inverse(self._scopes)
        own, other = (name.lower() for name in self._header)
        headers = tuple(
            (own + name.removeprefix(other), text)
            if name.startswith(f"{other}-")
            else (name, _CHALLENGE.sub(lambda m: f'scope="{_translated(m[1], words)}"', text))
            for name, text in response.headers
        )
        body = _body(response, words)
        name = self._envelopes.get(operation)
        if name is not None and response.is_success and isinstance(response.json, dict):
            body = orjson.dumps(response.json[name]) if name in response.json else body
        return replace(response, headers=headers, body=body)

    def recorded(self, exchange: Exchange) -> Exchange:
        """Returns a recorded exchange in the interface's words."""
        return replace(
            exchange,
            request=self.original_request(exchange.request, exchange.operation),
            response=self.response(exchange.response, exchange.operation),
            wire=(exchange.request, exchange.response),
        )

    def query(
        self, path: str, pairs: Iterable[tuple[str, str | None]]
    ) -> tuple[tuple[str, str | None], ...]:
        """Returns the percent-encoded parameters of a query in the words of the deployment."""
        return _query(path, pairs, self._scopes, self._types)

    def body(self, path: str, kind: str, body: bytes) -> bytes:
        """Returns a body in the words of the deployment.

        Args:
            path: The path of the request.
            kind: Its media type.
            body: The body.
        """
        return _sent_body(path, kind, body, self._scopes, self._field)

    def _worded(
        self, request: Request, scopes: Words, types: Words, field: tuple[str, ...]
    ) -> Request:
        address, mark, query = request.url.partition("?")
        path = urlsplit(address).path
        pairs = _query(path, _pairs(query), scopes, types)
        url = address + mark + _joined(pairs)
        kind = media_type(request.headers)
        body = _sent_body(path, kind, request.body, scopes, field)
        headers = request.headers
        if len(body) != len(request.body):
            headers = tuple(
                (name, str(len(body)) if name == "content-length" else text)
                for name, text in headers
            )
        return Request(request.method, url, headers, body)


def as_on_the_wire(exchange: Exchange) -> Exchange:
    """Returns an exchange as it was sent and received, for reports."""
    if exchange.wire is None:
        return exchange
    request, response = exchange.wire
    return replace(exchange, request=request, response=response)


def _typed(request: Request, own: str, other: str) -> Request:
    """Returns a request with another media type in place of one."""
    if own == other or media_type(request.headers) != own:
        return request
    headers = tuple((n, other if n == "content-type" else text) for n, text in request.headers)
    return replace(request, headers=headers)


def _inverse(words: Words) -> Words:
    return {other: own for own, other in words.items()}


def _pairs(query: str) -> list[tuple[str, str | None]]:
    parts = (part.partition("=") for part in query.split("&")) if query else ()
    return [(name, text if equals else None) for name, equals, text in parts]


def _joined(pairs: Iterable[tuple[str, str | None]]) -> str:
    return "&".join(name if text is None else f"{name}={text}" for name, text in pairs)


def _query(
    path: str, pairs: Iterable[tuple[str, str | None]], scopes: Words, types: Words
) -> tuple[tuple[str, str | None], ...]:
    if path.endswith("/oauth2/authorize"):
        return tuple((name, _scope(name, text, scopes)) for name, text in pairs)
    if "/qr-code/" in path:
        return tuple(
            (name, types.get(text or "", text) if name == "type" else text) for name, text in pairs
        )
    return tuple(pairs)


def _sent_body(path: str, kind: str, body: bytes, scopes: Words, field: tuple[str, ...]) -> bytes:
    if path.endswith("/oauth2/token") and kind == URLENCODED:
        pairs = _pairs(body.decode("latin-1"))
        return _joined((n, _scope(n, text, scopes)) for n, text in pairs).encode("latin-1")
    if path.endswith("/me/avatars") and kind == MULTIPART:
        own, other = (f'name="{name}"'.encode() for name in field)
        return body.replace(own, other)
    return body


def _scope(name: str, text: str | None, scopes: Words) -> str | None:
    """Returns the value of a parameter or field; one that names no known scope stays as it is."""
    if text is None or not SCOPE_NAME.fullmatch(unquote_plus(name)):
        return text
    plain = unquote_plus(text)
    worded = _translated(plain, scopes)
    return text if worded == plain else quote_plus(worded)


def _translated(text: str, words: Words) -> str:
    return " ".join(words.get(word, word) for word in text.split(" "))


def _body(response: Response, words: Words) -> bytes:
    """Returns the body of a response with the member ``scope``, or the text of a page, translated."""
    if response.media_type == "text/html":
        text = response.body.decode("utf-8", "surrogateescape")
        known = "|".join(re.escape(word) for word in words)
        page = re.sub(rf"(?<=[>\s])({known})(?=[<\s])", lambda m: words[m[1]], text)
        return page.encode("utf-8", "surrogateescape")
    members: Any = response.json if b'"scope"' in response.body else None
    if not isinstance(members, dict) or not isinstance(members.get("scope"), str):
        return response.body
    return orjson.dumps({**members, "scope": _translated(members["scope"], words)})

"""Makes exchanges that may be kept of those that passed: pseudonyms, and nothing that is not allowed."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode

import orjson

from understudy.exchange.messages import (
    NO_JSON,
    Exchange,
    Headers,
    Identity,
    Request,
    Response,
    media_type,
)
from understudy.exchange.multipart import MULTIPART, Part, parts_of, written
from understudy.interface.operations import DOCUMENT, QR_CODE, Routes
from understudy.interface.scopes import SCOPES
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation
from understudy.record.allow_list import AllowList
from understudy.record.anonymous_headers import response_headers
from understudy.record.dropped import Dropped
from understudy.record.generated_pictures import PictureForm, drawn, form_of
from understudy.record.pseudonyms import AUTHORIZATION, SITE, Pseudonyms

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
BOUNDARY: Final = "understudy-recording"
UPLOAD_FIELD: Final = "data"  # interface, Authenticated avatar operations

_WITHOUT_PSEUDONYM: Final = frozenset({DOCUMENT, QR_CODE})
"""Operations whose responses mean nothing but what they contain."""

_PICTURE_PATH: Final = re.compile("/avatar/([0-9a-fA-F]{64}|[0-9a-fA-F]{32})")
_SMALL_NUMBER: Final = re.compile(r"-?\d{1,5}", re.ASCII)
_SCOPE_ITEM: Final = re.compile(r"scope\[\d{0,3}\]", re.ASCII)
_SWITCH_WORDS: Final = frozenset({"true", "false", "null", ""})


class _Passed(NamedTuple):
    """An exchange, with what the contract says of its operation."""

    exchange: Exchange
    operation: Operation
    allowed: AllowList

    @property
    def where(self) -> str:
        return self.exchange.operation


class Anonymiser:
    """Makes exchanges that may be kept.

    Args:
        routes: Finds what the document says of an operation.
        documents: Site to the document in force there.
        pseudonyms: Replaces values.
        dropped: Counts what is left out.

    Attributes:
        pictures: Pseudonym of an avatar's identifier, of a hash or of a picture's name, to its form.
    """

    def __init__(
        self,
        routes: Routes,
        documents: Mapping[str, Document],
        pseudonyms: Pseudonyms,
        dropped: Dropped,
    ) -> None:
        self._routes = routes
        self._pseudonyms = pseudonyms
        self._dropped = dropped
        self._allowed = {
            site: AllowList(document, pseudonyms, dropped) for site, document in documents.items()
        }
        self._bases = {"resource": f"{SITE}/v3", "authorization": AUTHORIZATION}
        self.pictures: dict[str, PictureForm] = {}

    def anonymous(self, exchange: Exchange) -> Exchange | None:
        """Returns an exchange that may be kept; None where nothing of it may be."""
        operation = self._routes.operation(exchange.operation)
        if operation is None:
            return self._of_picture(exchange)
        if exchange.operation in _WITHOUT_PSEUDONYM:
            self._dropped.add(exchange.operation, "exchanges, whose content has no pseudonym")
            return None
        passed = _Passed(exchange, operation, self._allowed[exchange.site])
        values = tuple(self._values(passed))
        rest = iter(values)
        path = PATH_PARAMETER.sub(lambda _match: quote(next(rest), safe=""), operation.path)
        request = self._request(passed, path)
        return replace(
            exchange,
            identity=self._identity(exchange.identity, request),
            request=request,
            response=self._response(passed),
            path=path,
            values=values,
            wire=None,
        )

    def _identity(self, identity: Identity, request: Request) -> Identity:
        """Returns an identity without the hash of a token that only traffic shows."""
        if identity.kind != "unknown":
            return identity
        return replace(identity, name=f"token {request.token}")

    def _values(self, passed: _Passed) -> Iterator[str]:
        names = PATH_PARAMETER.findall(passed.operation.path)
        for name, value in zip(names, passed.exchange.values, strict=True):
            yield passed.allowed.text(value, None, name)

    def _request(self, passed: _Passed, path: str) -> Request:
        exchange = passed.exchange
        query = urlencode(list(self._query(passed)))
        url = f"{self._bases[exchange.site]}{path}{'?' if query else ''}{query}"
        kind = media_type(exchange.request.headers)
        body = self._request_body(passed, kind) if exchange.request.body else b""
        headers: Headers = ()
        token = exchange.request.token
        if token is not None:
            headers = (("authorization", f"Bearer {self._pseudonyms.secret(token)}"),)
        if body:
            boundary = f"; boundary={BOUNDARY}" if kind == MULTIPART else ""
            headers += (("content-type", kind + boundary),)
        names = {name for name, _ in exchange.request.headers} - {"authorization", "content-type"}
        self._dropped.add(passed.where, "header fields of a request", len(names))
        return Request(passed.operation.method, url, headers, body)

    def _query(self, passed: _Passed) -> Iterator[tuple[str, str]]:
        declared = {
            each.name: each.schema
            for each in passed.operation.parameters
            if each.location == "query"
        }
        for name, value in passed.exchange.request.pairs:
            if _SCOPE_ITEM.fullmatch(name) and passed.exchange.site == "authorization":
                yield name, value if value in SCOPES else "unknown"
            elif name in declared:
                yield name, self._parameter(passed, name, value, declared[name])
            else:
                self._dropped.add(passed.where, "query parameters that no document declares")

    def _parameter(self, passed: _Passed, name: str, value: str, schema: Node | None) -> str:
        """Returns the value of a parameter or a field: a word, a small number, or a pseudonym."""
        is_number = name in {"size", "version"} and _SMALL_NUMBER.fullmatch(value)
        if is_number or (name == "select_avatar" and value in _SWITCH_WORDS):
            return value
        return passed.allowed.text(value, schema, name)

    def _request_body(self, passed: _Passed, kind: str) -> bytes:
        declared = passed.operation.request_body
        content = declared.content.get(kind) if declared else None
        request = passed.exchange.request
        if content is None:
            self._dropped.add(
                passed.where, "bodies of a request that the document does not declare"
            )
            return b""
        if kind == MULTIPART:
            return self._upload(passed)
        if kind == FORM:
            return urlencode(list(self._form(passed, content.schema))).encode()
        if kind == JSON and request.json is not NO_JSON:
            return orjson.dumps(passed.allowed.value(request.json, content.schema, passed.where))
        self._dropped.add(passed.where, "bodies of a request that cannot be read")
        return b""

    def _form(self, passed: _Passed, schema: Node | None) -> Iterator[tuple[str, str]]:
        declared = passed.allowed.members(schema)
        for name, value in passed.exchange.request.form_pairs:
            if name in declared:
                yield name, passed.allowed.text(value, declared[name], name)
            else:
                self._dropped.add(passed.where, "fields of a form that no schema declares")

    def _upload(self, passed: _Passed) -> bytes:
        """Returns an upload of a picture that is drawn in place of the one that was sent."""
        request = passed.exchange.request
        parts = parts_of(request.body, request.header("content-type"))
        form = next((form for part in parts if (form := form_of(part.content))), None)
        if form is None:
            self._dropped.add(passed.where, "uploads without a picture that can be read")
            return _written(b"no picture", "application/octet-stream")
        self._dropped.add(passed.where, "pictures of an upload, drawn anew")
        created = passed.exchange.json_object.get("image_id")
        if isinstance(created, str):
            self.pictures[self._pseudonyms.image_id(created)] = form
        content = drawn(form, self._pseudonyms.digest("picture", str(created)))
        return _written(content, form.media_type)

    def _response(self, passed: _Passed) -> Response:
        exchange = passed.exchange
        headers, dropped = response_headers(exchange, self._pseudonyms)
        self._dropped.add(passed.where, "header fields of a response", dropped)
        kind = exchange.response.media_type
        body = self._response_body(passed, kind) if exchange.response.body else b""
        if body:
            headers += (("content-type", kind),)
        return Response(exchange.status, headers, body)

    def _response_body(self, passed: _Passed, kind: str) -> bytes:
        exchange = passed.exchange
        declared = passed.operation.response(exchange.status)
        content = declared.content.get(kind) if declared else None
        if content is not None and kind == JSON and exchange.body is not NO_JSON:
            if content.schema is None:
                return b"{}"
            return orjson.dumps(passed.allowed.value(exchange.body, content.schema, passed.where))
        form = form_of(exchange.response.body) if content is not None else None
        if form is not None:
            self._dropped.add(passed.where, "pictures, drawn anew")
            return drawn(form, self._pseudonyms.digest("picture", exchange.value))
        self._dropped.add(passed.where, "bodies of a response that the document does not declare")
        return b""

    def _of_picture(self, exchange: Exchange) -> Exchange | None:
        """Returns an exchange that fetched the picture of an avatar; None for any other."""
        is_fetched = exchange.request.method == "GET" and exchange.response.is_success
        form = form_of(exchange.response.body) if is_fetched else None
        match = _PICTURE_PATH.fullmatch(exchange.path) if exchange.site == "elsewhere" else None
        if form is None or match is None:
            self._dropped.add("pages, and paths that no document declares", "exchanges")
            if form is not None:  # a picture on a profile
                url = self._pseudonyms.picture_url(exchange.request.url)
                self.pictures[url.rpartition("/")[2]] = form
            return None
        url = self._pseudonyms.avatar_url(exchange.path)
        name = url.rpartition("/")[2]
        known = self.pictures.get(name)
        if known is None or form.width > known.width:  # servers scale it to the size in the query
            self.pictures[name] = form
        self._dropped.add("GET /avatar/{}", "pictures, drawn anew")
        body = drawn(form, self._pseudonyms.digest("picture", name))
        return replace(
            exchange,
            request=Request("GET", url),
            response=Response(exchange.status, (("content-type", form.media_type),), body),
            path=f"/avatar/{name}",
            wire=None,
        )


def _written(content: bytes, media_type: str) -> bytes:
    return written(Part(UPLOAD_FIELD, content, "picture"), media_type, BOUNDARY)

"""Anonymises exchanges for a recording: personal values become pseudonyms, undeclared ones vanish."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

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
from understudy.exchange.multipart import FormPart, parts_of, written
from understudy.interface.operations import DOCUMENT, QR_CODE, Routes
from understudy.interface.scopes import SCOPES
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document, Node
from understudy.openapi.media_types import MULTIPART, URLENCODED, declared_for, is_json
from understudy.openapi.operations import MediaType, Operation
from understudy.record.allow_list import COUNTS, KINDS, OAUTH_CODES, AllowList, Dropped
from understudy.record.pseudonyms import (
    AUTHORIZATION,
    SITE,
    PictureForm,
    Pseudonyms,
    drawn,
    form_of,
)

_NUMERIC: Final = re.compile(
    r"(x-)?(rate-?limit-(limit|remaining|reset)|(total-?)?(count|items|pages)|total|(per-)?page)"
    r"|retry-after"
)
_LINK: Final = re.compile(r'<([^>]*)>\s*;\s*rel="?([a-z]+)"?')
PAGING: Final = frozenset(
    {"count", "limit", "offset", "page", "pageSize", "page_size", "per_page", "size", "version"}
)
_DIGITS: Final = re.compile(r"\d{1,10}", re.ASCII)
_CACHE_WORD: Final = re.compile(
    r"no-store|no-cache|no-transform|private|public|must-revalidate|immutable|max-age=\d{1,9}"
)
_BEARER_ERROR: Final = re.compile(r'error="(\w+)"')
_REDIRECT_PARAMETERS: Final = frozenset(
    (
        "access_denied access_token code error error_description expires_in site_id state"
        " token_type"
    ).split()
)
"""Parameters of a redirect to the app (interface, Code grant and Token grant; RFC 6749, 4)."""


def response_headers(
    exchange: Exchange, pseudonyms: Pseudonyms, link: Callable[[str], str | None]
) -> tuple[Headers, int]:
    """Returns the anonymised header fields of a response, and the number of those left out."""
    kept: list[tuple[str, str]] = []
    dropped = 0
    for name, value in exchange.response.headers:
        if name in {"content-type", "content-length", "transfer-encoding", "date", "connection"}:
            continue
        if name in {"link", "location"} and exchange.site == "resource":
            text = _links(value, link) if name == "link" else link(value)
        else:
            text = _kept(name, value, exchange, pseudonyms)
        if text is None:
            dropped += 1
        else:
            kept.append((name, text))
    return tuple(kept), dropped


def _kept(name: str, value: str, exchange: Exchange, pseudonyms: Pseudonyms) -> str | None:
    if name == "location":
        return _location(exchange, value, pseudonyms)
    if name == "cache-control":
        words = (word.strip().lower() for word in value.split(","))
        return ", ".join(word for word in words if _CACHE_WORD.fullmatch(word)) or None
    if name == "www-authenticate":
        return _challenge(value)
    if name == "access-control-allow-origin" and value == "*":
        return value
    is_number = _NUMERIC.fullmatch(name) and _DIGITS.fullmatch(value)
    return value if is_number else None


def _links(value: str, link: Callable[[str], str | None]) -> str | None:
    """Returns a Link field with only the links to operations, as URLs of the mock (RFC 8288, 3)."""
    found = [(link(url), relation) for url, relation in _LINK.findall(value)]
    return ", ".join(f'<{url}>; rel="{relation}"' for url, relation in found if url) or None


def _challenge(value: str) -> str | None:
    """Returns a Bearer challenge reduced to its scheme and error code (RFC 6750, 3)."""
    if not value.lower().startswith("bearer"):
        return None
    match = _BEARER_ERROR.search(value)
    return f'Bearer error="{match[1]}"' if match and match[1] in OAUTH_CODES else "Bearer"


def _location(exchange: Exchange, value: str, pseudonyms: Pseudonyms) -> str:
    """Returns the anonymised target of a redirect: the app's redirect URI, or the sign-in page."""
    redirect_uri = exchange.request.query.get("redirect_uri", "")
    if not redirect_uri or not value.startswith(redirect_uri):
        return f"{AUTHORIZATION}/sign-in"
    added = value.removeprefix(redirect_uri)
    query, mark, fragment = added.partition("#")
    address = pseudonyms.redirect(redirect_uri)
    if query:
        separator = "&" if "?" in address else "?"
        pairs = urlencode(list(_parameters(query.lstrip("?&"), pseudonyms)))
        address += separator + pairs
    return address + mark + urlencode(list(_parameters(fragment, pseudonyms)))


def _parameters(text: str, pseudonyms: Pseudonyms) -> Iterator[tuple[str, str]]:
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name not in _REDIRECT_PARAMETERS:
            continue
        most = COUNTS.get(name)
        is_count = most is not None and _DIGITS.fullmatch(value) and int(value) <= most
        if (
            is_count
            or (name == "token_type" and value.lower() == "bearer")
            or (name in {"error", "access_denied"} and (value in OAUTH_CODES or not value))
        ):
            yield name, value
        else:
            yield name, KINDS.get(name, Pseudonyms.text)(pseudonyms, value)


TEXT: Final = "text/plain"
BOUNDARY: Final = "understudy-recording"
UPLOAD_FIELD: Final = "data"  # interface, Authenticated avatar operations

_WITHOUT_PSEUDONYM: Final = frozenset({DOCUMENT, QR_CODE})
"""Operations whose responses cannot be replaced by pseudonyms without losing their meaning."""

_PICTURE_PATH: Final = re.compile("/avatar/([0-9a-fA-F]{64}|[0-9a-fA-F]{32})")
SMALL_NUMBER: Final = re.compile(r"-?\d{1,5}", re.ASCII)
_SCOPE_ITEM: Final = re.compile(r"scope\[\d{0,3}\]", re.ASCII)
_SWITCH_WORDS: Final = frozenset({"true", "false", "null", ""})


class _Passed(NamedTuple):
    """A forwarded exchange with its operation and the allow list of its document."""

    exchange: Exchange
    operation: Operation
    allowed: AllowList

    @property
    def where(self) -> str:
        return self.exchange.operation


class Anonymiser:
    """Makes the anonymous copies of exchanges that a recording keeps.

    Attributes:
        pictures: Pseudonym of an avatar's identifier, hash or picture name to the picture's form.
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
        base_path = documents["resource"].base_path or "/v3"
        self._bases = {"resource": SITE + base_path, "authorization": AUTHORIZATION}
        self._allowed["resource"].link = self._link
        self.pictures: dict[str, PictureForm] = {}

    def anonymous(self, exchange: Exchange) -> Exchange | None:
        """Returns an anonymous copy of an exchange; None if nothing of it may be kept."""
        operation = self._routes.operation(exchange.operation)
        if operation is None:
            return self._of_picture(exchange)
        if exchange.operation in _WITHOUT_PSEUDONYM:
            self._dropped.add(exchange.operation, "exchanges, whose content has no pseudonym")
            return None
        passed = _Passed(exchange, operation, self._allowed[exchange.site])
        response = self._response(passed)  # first, as its schemas say more of an identifier
        values = tuple(_values(passed.operation, passed.allowed, exchange.values))
        path = _filled(operation, values)
        request = self._request(passed, path)
        return replace(
            exchange,
            identity=self._identity(exchange.identity, request),
            request=request,
            response=response,
            path=path,
            values=values,
            wire=None,
        )

    def _identity(self, identity: Identity, request: Request) -> Identity:
        """Returns the identity; one of a token that the target does not know is renamed."""
        if identity.kind != "unknown":
            return identity
        return replace(identity, name=f"token {request.token}")

    def _link(self, url: str) -> str | None:
        """Returns the URL at the mock for a URL of an operation; None for any other URL."""
        whole = urljoin(f"{self._routes.base_url}/", url)
        place = self._routes.find("GET", whole)
        operation = self._routes.operation(place.operation)
        if operation is None or place.site != "resource":
            return None
        allowed = self._allowed["resource"]
        path = _filled(operation, tuple(_values(operation, allowed, place.values)))
        pairs = parse_qsl(urlsplit(whole).query, keep_blank_values=True)
        query = urlencode([*self._pairs(operation, allowed, place.operation, pairs)])
        return f"{self._bases['resource']}{path}{'?' if query else ''}{query}"

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
        operation, pairs = passed.operation, passed.exchange.request.pairs
        if passed.exchange.site == "authorization":
            scopes = [it for it in pairs if _SCOPE_ITEM.fullmatch(it[0])]
            yield from ((name, it if it in SCOPES else "unknown") for name, it in scopes)
            pairs = tuple(it for it in pairs if it not in scopes)
        yield from self._pairs(operation, passed.allowed, passed.where, pairs)

    def _pairs(
        self,
        operation: Operation,
        allowed: AllowList,
        where: str,
        pairs: Iterable[tuple[str, str]],
    ) -> Iterator[tuple[str, str]]:
        """Yields the declared query parameters, with words and small numbers kept, others replaced."""
        declared = {it.name: it.schema for it in operation.parameters if it.location == "query"}
        for name, value in pairs:
            is_number = name in PAGING and SMALL_NUMBER.fullmatch(value)
            if name not in declared:
                self._dropped.add(where, "query parameters that no document declares")
            elif is_number or (name == "select_avatar" and value in _SWITCH_WORDS):
                yield name, value
            else:
                yield name, allowed.text(value, declared[name], name)

    def _request_body(self, passed: _Passed, kind: str) -> bytes:
        declared = passed.operation.request_body
        content = _declared(declared.content, kind) if declared else None
        request = passed.exchange.request
        if content is None:
            self._dropped.add(
                passed.where, "bodies of a request that the document does not declare"
            )
            return b""
        if kind == MULTIPART:
            return self._upload(passed)
        if kind == URLENCODED:
            return urlencode(list(self._form(passed, content.schema))).encode()
        if is_json(kind) and request.json is not NO_JSON:
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
        """Returns an upload with a drawn picture of the same form in place of the original."""
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
        headers, dropped = response_headers(exchange, self._pseudonyms, self._link)
        self._dropped.add(passed.where, "header fields of a response", dropped)
        kind = exchange.response.media_type
        body = self._response_body(passed, kind) if exchange.response.body else b""
        if body:
            headers += (("content-type", kind),)
        return Response(exchange.status, headers, body)

    def _response_body(self, passed: _Passed, kind: str) -> bytes:
        exchange = passed.exchange
        declared = passed.operation.response(exchange.status)
        content = _declared(declared.content, kind) if declared else None
        if content is not None and is_json(kind) and exchange.body is not NO_JSON:
            if content.schema is None:
                return b"{}"
            return orjson.dumps(passed.allowed.value(exchange.body, content.schema, passed.where))
        if content is not None and kind == TEXT:
            text = exchange.response.body.decode("utf-8", "replace")
            return passed.allowed.text(text, content.schema, "body").encode()
        form = form_of(exchange.response.body) if content is not None else None
        if form is not None:
            self._dropped.add(passed.where, "pictures, drawn anew")
            return drawn(form, self._pseudonyms.digest("picture", exchange.value))
        self._dropped.add(passed.where, "bodies of a response that the document does not declare")
        return b""

    def _of_picture(self, exchange: Exchange) -> Exchange | None:
        """Returns the anonymous copy of a GET of an avatar's picture; None for other exchanges."""
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
        if known is None or form.width > known.width:  # keep the largest of the scaled versions
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


def _declared(content: Mapping[str, MediaType], kind: str) -> MediaType | None:
    """Returns what a document declares for a media type, by its name or by a range."""
    name = declared_for(kind, content)
    return None if name is None else content[name]


def _values(operation: Operation, allowed: AllowList, values: Iterable[str]) -> Iterator[str]:
    names = PATH_PARAMETER.findall(operation.path)
    for name, value in zip(names, values, strict=True):
        yield allowed.text(value, None, name)


def _filled(operation: Operation, values: Iterable[str]) -> str:
    rest = iter(values)
    return PATH_PARAMETER.sub(lambda _match: quote(next(rest), safe=""), operation.path)


def _written(content: bytes, media_type: str) -> bytes:
    return written(FormPart(UPLOAD_FIELD, content, "picture"), media_type, BOUNDARY)

"""Judges that equivalent requests get equivalent responses (RFC 9110; 9112; 3986; 7578).

One request can be written in many equivalent ways: chunked, with a charset, with percent-encoded
letters. A check finds the earlier request that an exchange repeats by their common normal form,
so that recorded traffic is judged too. The probes rewrite and repeat requests that succeeded.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote_plus, urlsplit

from understudy.exchange.messages import NO_JSON, Exchange, Request, media_type
from understudy.interface.operations import (
    ASSOCIATED_EMAIL,
    DOCUMENT,
    LOOKUP,
    OWN_PROFILE,
    QR_CODE,
    RESOURCE,
    SET_AVATAR,
    TOKEN,
    TOKEN_INFO,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
    with_plain_letters,
)
from understudy.interface.scopes import SCOPES
from understudy.openapi.media_types import JSON
from understudy.verify.account_history import changes_in, update
from understudy.verify.browsing import password_form, post, token_in
from understudy.verify.checks import (
    CheckResult,
    Condition,
    check,
    expect,
    found,
    proven,
    tells,
)
from understudy.verify.history import History, made_up_hash
from understudy.verify.pictures import assign, avatars, id_of, patterned, picture_of, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.avatar_uploads import leaves_room
from understudy.verify.value_texts import as_json, as_pairs, in_parts

HEAD_IS_NOT_SERVED: Final = frozenset({405, 501})

_NEUTRAL_HEADERS: Final = frozenset(
    {"accept", "accept-encoding", "authorization", "content-length", "content-type", "user-agent"}
    | {"transfer-encoding", "host", "connection"}
)
"""Headers that may differ between equivalent requests; all others are part of the normal form."""

_ANY_JSON: Final = "application/*"
_ANY_PICTURE: Final = "image/avif, image/*;q=0.8, text/html;q=0.1"
MADE_UP_TAG: Final = '"understudy-made-up"'
"""An entity tag that no response has, so that the content must be sent (RFC 9110, 13.1.2)."""
_TAGGED: Final = ("if-none-match", MADE_UP_TAG)
_BROWSERS: Final = (
    ("accept-language", "en, *;q=0.5"),
    ("cache-control", "no-cache"),
    ("cookie", "understudy=1"),
    ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
)
"""Headers that browsers, proxies and tracing libraries add to any request."""
_WITHOUT_EFFECT: Final = frozenset({_TAGGED, *_BROWSERS})
_CHARSET: Final = re.compile(r" *; *charset=\"?utf-8\"?", re.IGNORECASE)
_BOUNDARY: Final = re.compile(r"boundary=\"?([^\";]+)\"?", re.IGNORECASE)
_FILE_NAME: Final = re.compile(rb"; filename=\"[^\"\r\n]*\"", re.IGNORECASE)
_DISPOSITION: Final = re.compile(rb"Content-Disposition: *form-data", re.IGNORECASE)


DECLARED: Final[Mapping[str, frozenset[str]]] = {
    LOOKUP: frozenset(),
    OWN_PROFILE: frozenset(),
    ASSOCIATED_EMAIL: frozenset({"email_hash"}),
    QR_CODE: frozenset({"size", "version", "utm_medium", "utm_campaign", "type"}),
}
"""Operation to its query parameters; all others must be ignored (interface, Versioning)."""


def unknown_parameters(exchange: Exchange) -> list[str]:
    """Returns the names of the query parameters that the operation does not declare."""
    declared = DECLARED.get(exchange.operation)
    names = [name for name, _ in exchange.request.pairs if "[" not in name]
    return [name for name in names if declared is not None and name not in declared]


@lru_cache(maxsize=1024)  # each exchange is compared with up to 60 earlier ones
def normal_form(request: Request, unknown: frozenset[str] = frozenset()) -> tuple[object, ...]:
    """Returns a value that all equivalent requests share, and no others.

    Args:
        request: The request.
        unknown: Names of query parameters to leave out, as the operation does not declare them.
    """
    parts = urlsplit(request.url)
    path = with_plain_letters(parts.path)
    content_type, body = request.header("content-type"), _meant(request)
    boundary = _BOUNDARY.search(content_type)
    if boundary is not None:
        content_type = _BOUNDARY.sub("boundary", content_type)
        body = _FILE_NAME.sub(b"", request.body.replace(boundary[1].encode(), b""))
        body = _DISPOSITION.sub(b"", body, 1)
    headers = [(name.lower(), text) for name, text in request.headers]
    others = sorted(
        pair for pair in headers if pair[0] not in _NEUTRAL_HEADERS and pair not in _WITHOUT_EFFECT
    )
    accepted = request.header("accept") or "*/*"
    if "*/*" not in accepted and accepted not in {JSON, _ANY_JSON, _ANY_PICTURE}:
        others.append(("accept", accepted))
    if "q=0" in request.header("accept-encoding"):
        others.append(("accept-encoding", request.header("accept-encoding")))
    media = _CHARSET.sub("", content_type).strip().lower()
    method = "GET" if request.method == "HEAD" else request.method
    query = sorted(pair for pair in request.pairs if pair[0] not in unknown)
    return (method, parts.netloc, path, *query, media, body, *others)


def _meant(request: Request) -> object:
    """Returns the content of a body: JSON in one spelling, the fields of a form, or the bytes."""
    if request.json is not NO_JSON:
        return json.dumps(request.json, sort_keys=True)
    return request.form_pairs or request.body


def _meaning_of(exchange: Exchange) -> tuple[object, ...]:
    return normal_form(exchange.request, frozenset(unknown_parameters(exchange)))


def plain_request(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the earlier request that an exchange repeats; of several, the most similar one.

    It succeeded, or was refused and is repeated by HEAD; and no write since can have changed the
    response. Updates in between do not matter to an update, whose own body decides its response.
    """
    reads = (*history.near(*_READS), history.last(DOCUMENT))  # the document never changes
    recent = history.near(exchange.operation) if exchange.operation else filter(None, reads)
    alike = [before for before in recent if _is_repeated(exchange, before, history)]
    return min(alike, key=lambda before: len(rewritten_parts(exchange, before)), default=None)


def _is_repeated(exchange: Exchange, before: Exchange, history: History) -> bool:
    """Returns whether an exchange repeats another, and so must get an equivalent response."""
    request = exchange.request
    if before.identity != exchange.identity or before.request == request:
        return False
    is_refused = request.method == "HEAD" and before.response.is_refusal
    if not (
        before.response.is_success or (is_refused and before.status != HTTPStatus.TOO_MANY_REQUESTS)
    ):
        return False
    wants_json = request.header("accept") in {JSON, _ANY_JSON}
    is_json = before.response.media_type == JSON or not wants_json
    is_plain = is_json and not unknown_parameters(before)
    if not is_plain or _meaning_of(before) != _meaning_of(exchange):
        return False
    if exchange.site == "authorization":  # codes work once, and a page belongs to its browser
        is_token = before.operation == TOKEN and request.form.get("grant_type") == "password"
        return is_token or before.operation == TOKEN_INFO
    if exchange.operation == UPLOAD_AVATAR and not leaves_room(exchange, history):
        return False  # a deployment may limit the avatars of an account
    is_update = exchange.operation in UPDATES and not history.is_gone(exchange.value)
    return is_update or before.operation in _LASTING or history.still_since(before)


UPDATES: Final = frozenset({UPDATE_PROFILE, UPDATE_AVATAR, SET_AVATAR})

_LASTING: Final = frozenset({DOCUMENT, QR_CODE})
"""The operations whose responses no write of verify changes."""

_READS: Final = tuple(each for each in (*RESOURCE, TOKEN_INFO) if each.startswith("GET"))
"""The operations that HEAD can request too; HEAD itself is no operation of a document."""

_repeats = found(plain_request, "the same request succeeded before in another form")


Part = Callable[[Exchange], object]


def rewritten_parts(exchange: Exchange, before: Exchange) -> list[str]:
    """Returns the rules whose parts two equivalent requests write differently."""
    return [rule for rule, part in WRITTEN_PARTS.items() if part(before) != part(exchange)]


def _differs(rule: str) -> Condition:
    """Returns the condition that the request writes the part of this rule differently than before.

    Where several parts differ, the same response confirms the rule of each. Another response could
    come from any of them, so none is judged, and the probe repeats the request with each alone.
    """

    def differs(exchange: Exchange, history: History) -> bool:
        before = proven(plain_request(exchange, history))
        rewritten = rewritten_parts(exchange, before)
        if before.request.method != exchange.request.method or rule not in rewritten:
            return False
        return rewritten == [rule] or is_answered_alike(exchange, before)

    return tells("the same request succeeded before and was written otherwise", differs)


def _address(exchange: Exchange) -> object:
    """Returns path and query as written, without undeclared parameters."""
    unknown, parts = unknown_parameters(exchange), urlsplit(exchange.request.url)
    return parts.path, [
        pair
        for pair in parts.query.split("&")
        if pair and unquote_plus(pair.partition("=")[0]) not in unknown
    ]


def _negotiation(exchange: Exchange) -> object:
    sent = exchange.request
    names = [name for name, _ in sent.headers if name.lower() == "authorization"]
    spaces = sent.header("authorization").count(" ")
    texts = (sent.header(name) for name in ("accept", "accept-encoding", "if-none-match"))
    others = [name for name, text in sent.headers if (name.lower(), text) in _BROWSERS]
    return [names, spaces, *texts, *others]


def _content(exchange: Exchange) -> object:
    """Returns body and content headers as written, without the body of a multipart form."""
    request = exchange.request
    body = b"" if media_type(request.headers).startswith("multipart/") else request.body
    return body, *(request.header(name) for name in ("content-type", "transfer-encoding"))


def answers_alike(exchange: Exchange, history: History) -> CheckResult:
    """Judges whether a request gets the same response as the equivalent one before."""
    before = proven(plain_request(exchange, history))
    is_same = is_answered_alike(exchange, before)
    actual = f"status {exchange.status}, before {before.status}"
    if not is_same and exchange.status == before.status:
        meant = response_meaning(before), response_meaning(exchange)
        is_json = NO_JSON not in (before.body, exchange.body)
        actual = as_pairs({"the body": meant}) if is_json else "another body"
    actual += "".join(f", sent with {header}" for header in _other_headers(exchange, before))
    return expect(is_same, f"the answer as before, status {before.status}", actual, before)


def _other_headers(exchange: Exchange, before: Exchange) -> Iterator[str]:
    """Yields the headers that the request before lacks, without credentials and lengths."""
    others = dict(before.request.headers)
    for name, text in exchange.request.headers:
        if others.get(name) != text and name not in {"content-length", "authorization"}:
            yield f"{name}: {text}"


def is_answered_alike(exchange: Exchange, before: Exchange) -> bool:
    """Returns whether two equivalent requests got the same status and equivalent content."""
    if exchange.status != before.status:
        return False
    if exchange.request.method == "GET":
        return response_meaning(before) == response_meaning(exchange)
    wanted = changes_in(exchange) if exchange.operation in UPDATES - {SET_AVATAR} else {}
    shown = [each.json_object.get(name) for each in (before, exchange) for name in wanted]
    return shown[: len(wanted)] == shown[len(wanted) :]


def response_meaning(exchange: Exchange) -> object:
    """Returns the comparable content of a response, without URLs, which may be signed."""
    if exchange.response.media_type.startswith("image/"):
        return picture_of(exchange)[:2]
    return exchange.response.body if exchange.body is NO_JSON else _unordered(exchange.body)


def _unordered(value: Any) -> object:
    """Returns JSON in one order, without members that hold URLs."""
    if isinstance(value, dict):
        return {
            name: _unordered(member)
            for name, member in sorted(value.items())
            if not name.endswith(("url", "_image"))
        }
    if isinstance(value, list):
        return sorted((_unordered(item) for item in value), key=as_json)
    return value


WRITTEN_PARTS: Final[Mapping[str, Part]] = {
    "equivalent-address": _address,
    "equivalent-headers": _negotiation,
    "bearer-scheme-any-case": lambda it: it.request.header("authorization").partition(" ")[0],
    "equivalent-content": _content,
    "unknown-query-parameters-accepted": unknown_parameters,
}
"""Rule to the part of a request that it allows to be written in several ways."""


for _rule in WRITTEN_PARTS:
    check(_rule, when=[_repeats, _differs(_rule)])(answers_alike)


is_head = tells("the method is HEAD", lambda it, _: it.request.method == "HEAD")
head_is_served = tells(
    "HEAD is not refused as a method that is not served",
    lambda it, _: it.status not in HEAD_IS_NOT_SERVED,
)


@check("head-like-get", when=[is_head, _repeats], is_choice=True)
def head_is_a_method(exchange: Exchange, history: History) -> CheckResult:
    """HEAD is served where GET is; a deployment that refuses the method is noted."""
    is_served = head_is_served(exchange, history)
    return expect(is_served, "HEAD wherever GET is served", f"status {exchange.status}")


@check("head-like-get", when=[is_head, _repeats, head_is_served])
def head_is_a_get_without_content(exchange: Exchange, history: History) -> CheckResult:
    """HEAD has the status and the headers of GET, and no content (RFC 9110, 9.3.2)."""
    before = proven(plain_request(exchange, history))
    get, head = before.response, exchange.response
    differing = [
        name
        for name in ("content-type", "content-length", "etag")
        if get.header(name) and head.header(name) not in {"", get.header(name)}
    ]
    is_right = head.status == get.status and not head.body and not differing
    parts = in_parts(
        another=differing, with_a_body_of=[f"{len(head.body)} bytes"][: len(head.body)]
    )
    actual = f"status {head.status}, {parts}"
    return expect(is_right, f"status {get.status} and the headers of GET", actual, before)


# The probes. Each repeats a request that succeeded, rewritten in several parts at once.

Rewrite = Callable[[Request], Request]


def _with(name: str, text: str) -> Rewrite:
    def rewritten(request: Request) -> Request:
        others = tuple(pair for pair in request.headers if pair[0] != name)
        return replace(request, headers=(*others, (name, text)))

    return rewritten


def _as_browsers_do(request: Request) -> Request:
    return replace(request, headers=(*request.headers, *_BROWSERS))


def _by_scheme(scheme: str) -> Rewrite:
    return lambda request: _with("authorization", f"{scheme} {request.token}")(request)


def _with_source(request: Request) -> Request:
    """Adds the query parameter that an official client sends with every lookup."""
    return replace(request, url=f"{request.url}?source=understudy")


def _percent_encoded(request: Request) -> Request:
    address, mark, query = request.url.partition("?")
    root, _, last = address.rpartition("/")
    return replace(request, url=f"{root}/%{ord(last[0]):02X}{last[1:]}{mark}{query}")


def _encoded_name(request: Request) -> Request:
    """Encodes a letter of the resource's name; a finding's commands insert the identifier anew."""
    url = request.url.replace("/me/avatars", "/me/%61vatars", 1)
    return replace(request, url=url.replace("/profile", "/pr%6ffile", 1))


def _encoded_query(request: Request) -> Request:
    """Encodes the first letter of names and values; not of tokens, which commands insert anew."""
    address, mark, query = request.url.partition("?")
    encoded = re.sub(
        r"(^|&|(?<!token)=)([A-Za-z0-9])", lambda it: f"{it[1]}%{ord(it[2]):02x}", query
    )
    return replace(request, url=f"{address}{mark}{encoded}")


def _capital_name(request: Request) -> Request:
    """Writes the name of the Authorization header in capitals."""
    headers = tuple((n.upper() if n == "authorization" else n, t) for n, t in request.headers)
    return replace(request, headers=headers)


def _spaced(request: Request) -> Request:
    """Writes two spaces before the token (RFC 9110, 11.4)."""
    return _with("authorization", request.header("authorization").replace(" ", "  ", 1))(request)


def _capital_type(request: Request) -> Request:
    kind, mark, parameters = request.header("content-type").partition(";")
    return _with("content-type", f"{kind.upper()}{mark}{parameters}")(request)


def _escaped(request: Request) -> Request:
    """Writes JSON indented and with escapes, in names too; a form with %20 and an encoded name."""
    if request.json is NO_JSON:
        body = request.body.replace(b"+", b"%20").replace(b"grant_type", b"gr%61nt%5ftype")
        return replace(request, body=body)
    text = json.dumps(request.json, indent=1).replace("/", r"\/")
    escaped = re.sub(r'"([a-z])', lambda it: rf'"\u{ord(it[1]):04x}', text)
    return replace(request, body=f"\r\n\t{escaped}\n".encode())


def _as_head(request: Request) -> Request:
    return replace(request, method="HEAD")


def _reordered(request: Request) -> Request:
    address, mark, query = request.url.partition("?")
    return replace(request, url=f"{address}{mark}{'&'.join(reversed(query.split('&')))}")


def _typed(parameter: str) -> Rewrite:
    """Returns a rewrite that adds a parameter to the content type (RFC 9110, 5.6.6)."""
    return lambda it: _with("content-type", it.header("content-type") + parameter)(it)


def _quoted_boundary(request: Request) -> Request:
    """Uses a boundary that must be quoted (RFC 2046, 5.1.1), and a file name beyond ASCII.

    Media type, disposition and header name are in other case (RFC 9110, 8.3.1; RFC 2183, 2).
    """
    plain = proven(_BOUNDARY.search(request.header("content-type")))[1]
    body = request.body.replace(plain.encode(), _SPECIAL_BOUNDARY.encode())
    body = _FILE_NAME.sub('; filename="Pórt 🎭; (1)"'.encode(), body)
    body = body.replace(b"Content-Disposition: form-data", b"content-disposition:Form-Data", 1)
    content_type = f'Multipart/Form-Data; boundary="{_SPECIAL_BOUNDARY}"'
    return _with("content-type", content_type)(replace(request, body=body))


_SPECIAL_BOUNDARY: Final = "under(study)+1/2:3=4,5?6"


def _chunked(request: Request) -> Request:
    others = tuple(pair for pair in request.headers if pair[0] != "content-length")
    return replace(request, headers=(*others, ("transfer-encoding", "chunked")))


_AS_LIBRARIES: Final = _with("accept", "application/json, text/plain, */*")
_AS_JSON: Final = _with("accept", JSON)
_AS_ANY_JSON: Final = _with("accept", _ANY_JSON)
_AS_ANY_PICTURE: Final = _with("accept", _ANY_PICTURE)
_GZIP: Final = _with("accept-encoding", "gzip")
_IDENTITY: Final = _with("accept-encoding", "identity")
_TAG: Final = _with(*_TAGGED)
_LOWER, _UPPER = _by_scheme("bearer"), _by_scheme("BEARER")
_CHARSET_ADDED, _CHARSET_SPACED = _typed("; charset=utf-8"), _typed(' ;charset="UTF-8"')


def _repeat(
    client: ProbeClient, exchange: Exchange, *rewrites: Rewrite, other: Exchange | None = None
) -> Exchange:
    """Repeats a request with all rewrites at once; if the response differs, with each alone.

    Args:
        client: Sends the requests.
        exchange: The plain request and its response.
        rewrites: Changes to the request that keep it equivalent.
        other: Another update of the same members, sent in between so that each repetition shows.
    """
    request = exchange.request
    for rewrite in rewrites:
        request = rewrite(request)
    repeated = client.gateway.send(request, client.source)
    if is_answered_alike(repeated, exchange) or not rewrites[1:]:
        return repeated
    for rewrite in rewrites:
        if other is not None:
            client.gateway.send(other.request, client.source)
        client.gateway.send(rewrite(exchange.request), client.source)
    return repeated


@probe(
    *("equivalent-address", "equivalent-headers", "head-like-get"),
    *("bearer-scheme-any-case", "unknown-query-parameters-accepted", "conditional-reads"),
    needs=("slug",),
)
def equivalent_reads(client: ProbeClient) -> Parts:
    """Repeats reads with an encoded letter, other headers and an unknown parameter, and by HEAD."""
    slug, address = (
        client.known.slug,
        {"email_hash": (*client.known.own_hashes, made_up_hash(1))[0]},
    )
    code = {"size": "160", "version": "1"}
    as_owner = (_UPPER, _spaced, _AS_JSON, _as_browsers_do, _encoded_name)
    as_own = (*as_owner, _AS_ANY_JSON, _capital_name)
    all_of_it = (_encoded_query, _TAG, _as_browsers_do)
    reads: tuple[tuple[str, str, Mapping[str, str], Sequence[Rewrite], Sequence[Rewrite]], ...] = (
        (f"/profiles/{slug}", "owner", {}, (_percent_encoded, _with_source, _LOWER), as_owner[:4]),
        (f"/profiles/{slug}", "anonymous", {}, (_percent_encoded, _with_source), ()),
        ("/me/profile", "owner", {}, (_LOWER, _with_source, _TAG), as_own),
        ("/me/avatars", "owner", {}, (_LOWER, _TAG), as_owner),
        (
            "/me/associated-email",
            "owner",
            address,
            (_percent_encoded, _LOWER),
            (_AS_ANY_JSON, _capital_name, *all_of_it),
        ),
        (
            f"/qr-code/{slug}",
            "anonymous",
            code,
            (_reordered, _percent_encoded),
            (*all_of_it, _AS_ANY_PICTURE),
        ),
    )
    if client.has("owner"):  # the anonymous lookup would test nothing more
        reads = (reads[0], *reads[2:])
    for place, (path, who, query, special, more) in enumerate(reads):
        if not client.has(who):
            continue
        coded = (_GZIP, _IDENTITY) if (client.seed + place) % 2 else (_IDENTITY, _GZIP)
        for rewrites in ((_AS_LIBRARIES, coded[0], *special), (coded[1], *more)):
            plain = client.recall(path, who, query, is_lasting=query is code)
            yield _repeat(client, plain, *rewrites)
        plain = client.recall(path, who, query, is_lasting=query is code)
        yield _repeat(client, plain, _as_head, _TAG)
    yield _repeat(client, client.recall("/openapi", is_lasting=True), _as_head)


@probe("equivalent-content", needs=("owner", "writes"))
def equivalent_update(client: ProbeClient) -> None:
    """Repeats an update after another one: with a charset, with escapes, and chunked."""
    first, other = (update(client, location=text) for text in ("Pórt 🎭", "Understudy"))
    rewrites = (_CHARSET_ADDED, _chunked, _AS_LIBRARIES, _LOWER, _escaped)
    _repeat(client, first, *rewrites, other=other)


@probe(
    *("equivalent-content", "equivalent-address", "avatar-urls-resolve", "avatar-email-assign"),
    needs=("owner", "writes", "uploads", "hashes"),
)
def equivalent_avatar_writes(client: ProbeClient) -> Parts:
    """Repeats an upload, an update and an assignment: chunked, with a charset, and so on."""
    uploaded = [upload(client, patterned(4), select_avatar="false")]
    uploaded.append(_repeat(client, uploaded[0], _quoted_boundary, _chunked, _AS_LIBRARIES))
    url = str(uploaded[1].json_object.get("image_url", ""))
    yield client.get(url) if url.startswith("http") else None
    path, ratings = f"/me/avatars/{id_of(uploaded[0])}", ({"rating": "PG"}, {"rating": "R"})
    rated, other = (client.send("PATCH", path, "owner", json=each) for each in ratings)
    yield _repeat(client, rated, _CHARSET_SPACED, _chunked, _capital_type, other=other)
    address = client.known.own_hashes[-1]
    assigned, other = (assign(client, id_of(each), address) for each in uploaded)
    yield _repeat(client, assigned, _CHARSET_ADDED, _chunked, _percent_encoded, other=other)
    yield avatars(client, address)


@probe(
    *("equivalent-content", "equivalent-headers", "equivalent-address", "head-like-get"),
    needs=("app", "password", "tokens", "auth_url"),
)
def equivalent_token_requests(client: ProbeClient) -> Parts:
    """Repeats a token request with a charset and chunked, and a validation in another order."""
    plain = post(client, password_form(client.app, scope=" ".join(SCOPES)))
    # Alone, as a server that does not know the media type in capitals never reads its charset.
    yield _repeat(client, plain, _CHARSET_ADDED, _chunked, _AS_LIBRARIES, _escaped)
    yield _repeat(client, plain, _capital_type)
    query = {"client_id": client.app.client_id, "token": token_in(client, plain)}
    described = client.auth("GET", "/oauth2/token-info", query=query)
    _repeat(client, described, _as_head)  # at once: a later part could be too far from it
    yield _repeat(client, described, _reordered, _AS_LIBRARIES, _GZIP, _encoded_query)

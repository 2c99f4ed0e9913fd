"""Judges that a request in another dress gets the same answer (RFC 9110; 9112; 3986; 7578).

The same request can be written in many ways that mean the same: chunked, with a charset, with
percent-encoded letters. A check finds the plain request that an exchange repeats by the normal form
of both, so that recorded traffic is judged too; and the probes repeat in another dress what
succeeded, with a dress for each operation that the seed draws.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from understudy.exchange.messages import NO_JSON, Exchange, Request
from understudy.interface.operations import (
    ASSOCIATED_EMAIL,
    LOOKUP,
    OWN_PROFILE,
    QR_CODE,
    RESOURCE,
    TOKEN,
    TOKEN_INFO,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
)
from understudy.verify.account_history import changes_in, update
from understudy.verify.browsing import password_form, post, token_in
from understudy.verify.causes import latest_attempts, same_request_before
from understudy.verify.checks import (
    CheckResult,
    Condition,
    Judge,
    check,
    expect,
    found,
    is_get,
    proven,
    tells,
)
from understudy.verify.history import History, made_up_hash
from understudy.verify.pictures import an_avatar, picture, picture_of, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.avatar_uploads import leaves_room
from understudy.verify.value_texts import as_json

NOT_MODIFIED, LENGTH_REQUIRED = 304, 411
HEAD_IS_NOT_SERVED: Final = frozenset({405, 501})

_DRESS: Final = frozenset(
    {"accept", "accept-encoding", "authorization", "content-length", "content-type", "user-agent"}
    | {"transfer-encoding", "host", "connection"}
)
"""Headers that may differ between two requests of one meaning; all others are part of it."""

_UNRESERVED: Final = re.compile(r"%([46][1-9A-Fa-f]|[57][0-9Aa]|3[0-9]|2[DdEe]|5[Ff]|7[Ee])")
"""Percent-encoded letters, digits and ``-._~``, which mean themselves (RFC 3986, 6.2.2.2)."""

_CHARSET: Final = re.compile(r"; *charset=\"?utf-8\"?", re.IGNORECASE)
_BOUNDARY: Final = re.compile(r"boundary=\"?([^\";]+)\"?", re.IGNORECASE)


DECLARED: Final[Mapping[str, frozenset[str]]] = {
    LOOKUP: frozenset(),
    OWN_PROFILE: frozenset(),
    ASSOCIATED_EMAIL: frozenset({"email_hash"}),
    QR_CODE: frozenset({"size", "version", "utm_medium", "utm_campaign", "type"}),
}
"""Operation to its query parameters; any other one changes nothing (interface, Versioning)."""


def unknown_parameters(exchange: Exchange) -> list[str]:
    """Returns the names of the query parameters that the operation does not declare."""
    declared = DECLARED.get(exchange.operation)
    names = [name for name, _ in exchange.request.pairs if "[" not in name]
    return [name for name in names if declared is not None and name not in declared]


@lru_cache(maxsize=1024)
def normal_form(request: Request, unknown: frozenset[str] = frozenset()) -> tuple[object, ...]:
    """Returns what a request means, however it is written; headers that negotiate are left out.

    Args:
        request: The request.
        unknown: Names of query parameters that mean nothing.
    """
    parts = urlsplit(request.url)
    path = _UNRESERVED.sub(lambda found: unquote(found[0]), parts.path)
    content_type, body = request.header("content-type"), request.body
    boundary = _BOUNDARY.search(content_type)
    if boundary is not None:
        content_type = _BOUNDARY.sub("boundary", content_type)
        body = body.replace(boundary[1].encode(), b"")
    others = sorted(pair for pair in request.headers if pair[0] not in _DRESS)
    if "*/*" not in (request.header("accept") or "*/*"):
        others.append(("accept", request.header("accept")))
    if "q=0" in request.header("accept-encoding"):
        others.append(("accept-encoding", request.header("accept-encoding")))
    media = _CHARSET.sub("", content_type).strip().lower()
    method = "GET" if request.method == "HEAD" else request.method
    query = sorted(pair for pair in request.pairs if pair[0] not in unknown)
    return (method, parts.netloc, path, *query, media, body, *others)


def _meaning_of(exchange: Exchange) -> tuple[object, ...]:
    return normal_form(exchange.request, frozenset(unknown_parameters(exchange)))


def plain_request(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest success that an exchange repeats in another dress, nothing written since."""
    request = exchange.request
    if exchange.operation == TOKEN and request.form.get("grant_type") != "password":
        return None  # a code works once
    if exchange.site == "authorization" and exchange.operation not in {TOKEN, TOKEN_INFO}:
        return None  # a page is of its browser
    if exchange.operation == UPLOAD_AVATAR and not leaves_room(exchange, history):
        return None  # a deployment may bound how many avatars an account has
    operations = [exchange.operation] if exchange.operation else _READS
    for before in history.near(*operations):
        is_own = before.identity == exchange.identity and before.response.is_success
        is_still = history.still_since(before) or exchange.site == "authorization"
        is_other = before.request != request and not unknown_parameters(before)
        if is_own and is_still and is_other and _meaning_of(before) == _meaning_of(exchange):
            return before
    return None


_READS: Final = tuple(each for each in (*RESOURCE, TOKEN_INFO) if each.startswith("GET"))
"""The operations that HEAD may ask for too, which no document names."""

_repeats = found(plain_request, "the same request succeeded before in another dress")


Part = Callable[[Exchange], object]


def _differs(part: Part) -> Condition:
    """Returns the condition that a part of the request is written otherwise than before."""

    def differs(exchange: Exchange, history: History) -> bool:
        before = proven(plain_request(exchange, history))
        is_same_method = before.request.method == exchange.request.method
        return is_same_method and part(before) != part(exchange)

    return tells("the same request succeeded before and was written otherwise", differs)


def _address(exchange: Exchange) -> object:
    unknown, request = unknown_parameters(exchange), exchange.request
    return urlsplit(request.url).path, [each for each in request.pairs if each[0] not in unknown]


def _headers(*names: str) -> Part:
    return lambda exchange: [exchange.request.header(name) for name in names]


def _scheme(exchange: Exchange) -> object:
    return exchange.request.header("authorization").partition(" ")[0]


def answers_alike(exchange: Exchange, history: History) -> CheckResult:
    """Returns whether a request gets the answer that it got in another dress."""
    before = proven(plain_request(exchange, history))
    is_late = exchange.status == LENGTH_REQUIRED and exchange.request.header("transfer-encoding")
    is_same = bool(is_late) or exchange.status == before.status
    actual = f"status {exchange.status}, before {before.status}"
    if is_same and exchange.request.method == "GET":
        is_same = _meaning(before) == _meaning(exchange)
        actual = actual if is_same else "another body"
    return expect(is_same, f"the answer as before, status {before.status}", actual, before)


def _meaning(exchange: Exchange) -> object:
    """Returns what a response says, without addresses of pictures, which may be signed."""
    if exchange.response.media_type.startswith("image/"):
        return picture_of(exchange)[:2]
    return exchange.response.body if exchange.body is NO_JSON else _unordered(exchange.body)


def _unordered(value: Any) -> object:
    if isinstance(value, dict):
        return {
            name: _unordered(member)
            for name, member in sorted(value.items())
            if not name.endswith(("url", "_image"))
        }
    if isinstance(value, list):
        return sorted((_unordered(item) for item in value), key=as_json)
    return value


def _named(name: str) -> Judge:
    def judge(exchange: Exchange, history: History) -> CheckResult:
        """A request gets the answer that it got in another dress."""
        return answers_alike(exchange, history)

    judge.__name__ = name.replace("-", "_")
    return judge


for _rule, _part in (
    ("equivalent-address", _address),
    ("equivalent-headers", _headers("accept", "accept-encoding")),
    ("bearer-scheme-any-case", _scheme),
    ("equivalent-content", _headers("content-type", "transfer-encoding")),
    ("unknown-query-parameters-accepted", unknown_parameters),
):
    check(_rule, when=[_repeats, _differs(_part)])(_named(_rule))


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
    one, other = before.response, exchange.response
    differing = [
        name
        for name in ("content-type", "content-length")
        if one.header(name) and other.header(name) not in {"", one.header(name)}
    ]
    is_right = other.status == one.status and not other.body and not differing
    actual = f"status {other.status}, {len(other.body)} bytes, other {as_json(differing)}"
    return expect(is_right, f"status {one.status} and the headers of GET", actual, before)


names_a_tag = tells(
    "the request names the tag of a response that the client has",
    lambda it, _: bool(it.request.header("if-none-match")),
)


@check(
    "conditional-reads",
    when=[is_get, names_a_tag, found(same_request_before, "the client has read the same before")],
)
def only_what_the_client_has_is_left_out(exchange: Exchange, history: History) -> CheckResult:
    """304 says that the client has the response; not that another client has, or had before an edit."""
    before = proven(same_request_before(exchange, history))
    has_tag = before.response.header("etag") in exchange.request.header("if-none-match")
    has_tag = has_tag and bool(before.response.header("etag"))
    edits = [
        edit
        for edit in history.of(UPDATE_PROFILE)
        if edit.number > before.number and edit.identity.account == exchange.identity.account
    ]
    is_old = exchange.operation == OWN_PROFILE and any(
        before.json_object.get(name) != value
        for edit in edits[:1]
        if edit.response.is_success
        for name, value in changes_in(edit).items()
    )
    is_right = exchange.status != NOT_MODIFIED or (has_tag and not is_old)
    steps = (before, *latest_attempts(before, history))
    return expect(is_right, "the content, which is not the client's", "status 304", *steps)


# The probes. Each repeats what succeeded, in a dress that the seed draws.

Dress = Callable[[Request], Request]


def _with(name: str, text: str) -> Dress:
    def dressed(request: Request) -> Request:
        others = tuple(pair for pair in request.headers if pair[0] != name)
        return replace(request, headers=(*others, (name, text)))

    return dressed


def _by_scheme(scheme: str) -> Dress:
    return lambda request: _with("authorization", f"{scheme} {request.token}")(request)


def _with_source(request: Request) -> Request:
    """Adds what an official client adds to every lookup."""
    return replace(request, url=f"{request.url}?source=understudy")


def _percent_encoded(request: Request) -> Request:
    address, mark, query = request.url.partition("?")
    root, _, last = address.rpartition("/")
    return replace(request, url=f"{root}/%{ord(last[0]):02X}{last[1:]}{mark}{query}")


def _turned(request: Request) -> Request:
    address, mark, query = request.url.partition("?")
    return replace(request, url=f"{address}{mark}{'&'.join(reversed(query.split('&')))}")


def _with_charset(request: Request) -> Request:
    content_type = request.header("content-type")
    return _with("content-type", f"{content_type}; charset=utf-8")(request)


def _quoted_boundary(request: Request) -> Request:
    content_type = _BOUNDARY.sub(r'boundary="\1"', request.header("content-type"))
    return _with("content-type", content_type)(request)


def _chunked(request: Request) -> Request:
    others = tuple(pair for pair in request.headers if pair[0] != "content-length")
    return replace(request, headers=(*others, ("transfer-encoding", "chunked")))


_AS_LIBRARIES: Final = _with("accept", "application/json, text/plain, */*")
NEGOTIATIONS: Final[Sequence[Dress]] = (
    _with("accept-encoding", "gzip"),
    _with("accept-encoding", "identity"),
)


def _again(client: ProbeClient, exchange: Exchange, dress: Dress) -> Exchange:
    """Sends a request once more, in a dress."""
    return client.gateway.send(dress(exchange.request), client.source)


def _as_head(request: Request) -> Request:
    return replace(request, method="HEAD")


@probe(
    *("equivalent-address", "equivalent-headers", "head-like-get"),
    *("bearer-scheme-any-case", "unknown-query-parameters-accepted"),
    needs=("slug",),
)
def reads_in_another_dress(client: ProbeClient) -> Parts:
    """Reads with an encoded letter, other headers and an unknown parameter, and by HEAD."""
    slug, address = (
        client.known.slug,
        {"email_hash": (*client.known.own_hashes, made_up_hash(1))[0]},
    )
    code = {"size": "160", "version": "1"}
    lower, upper = _by_scheme("bearer"), _by_scheme("BEARER")
    reads: tuple[tuple[str, str, Mapping[str, str], Sequence[Dress]], ...] = (
        (f"/profiles/{slug}", "owner", {}, (_percent_encoded, _with_source, lower, upper)),
        (f"/profiles/{slug}", "anonymous", {}, (_percent_encoded, _with_source)),
        ("/me/profile", "owner", {}, (lower,)),
        ("/me/avatars", "owner", {}, (lower,)),
        ("/me/associated-email", "owner", address, (_percent_encoded,)),
        (f"/qr-code/{slug}", "anonymous", code, (_turned,)),
    )
    if client.has("owner"):  # what the public reads differs in nothing that a dress changes
        reads = (reads[0], *reads[2:])
    for place, (path, who, query, special) in enumerate(reads):
        drawn = NEGOTIATIONS[(client.seed + place) % len(NEGOTIATIONS)]
        for dress in (_AS_LIBRARIES, drawn, *special, _as_head) if client.has(who) else ():
            yield _again(client, client.recall(path, who, query), dress)


@probe("equivalent-content", needs=("owner", "writes"))
def update_in_another_dress(client: ProbeClient) -> Parts:
    """Updates the profile twice alike: with a charset, and chunked."""
    for dress in (_with_charset, _chunked):
        yield _again(client, update(client, location="Port Understudy"), dress)


@probe("equivalent-content", needs=("owner", "writes", "uploads", "hashes"))
def avatar_writes_in_another_dress(client: ProbeClient) -> Parts:
    """Uploads with a quoted boundary and chunked; rates and assigns with a charset and chunked."""
    yield _again(client, upload(client, picture(), select_avatar="false"), _quoted_boundary)
    yield _again(client, upload(client, picture(), select_avatar="false"), _chunked)
    path = f"/me/avatars/{an_avatar(client)}"
    assigned = {"email_hash": client.known.own_hashes[-1]}
    for dress in (_with_charset, _chunked):
        rated = client.send("PATCH", path, "owner", json={"rating": "PG"})
        yield _again(client, rated, dress)
    yield _again(
        client, client.send("POST", f"{path}/email", "owner", json=assigned), _with_charset
    )


@probe(
    *("equivalent-content", "equivalent-headers", "equivalent-address"),
    needs=("app", "password", "tokens", "auth_url"),
)
def token_requests_in_another_dress(client: ProbeClient) -> Parts:
    """Requests tokens with a charset, chunked, and as libraries accept; asks in another order."""
    plain = post(client, password_form(client.app))
    for dress in (_with_charset, _chunked, _AS_LIBRARIES):
        yield _again(client, plain, dress)
    query = {"client_id": client.app.client_id, "token": token_in(client, plain)}
    yield _again(client, client.auth("GET", "/oauth2/token-info", query=query), _turned)


@probe("conditional-reads", needs=("owner", "other", "writes"))
def reads_with_the_tag_of_another(client: ProbeClient) -> Parts:
    """Reads with the tag that another account was given, and with one of before an edit."""
    for path in ("/me/profile", "/me/avatars"):
        client.recall(path, "owner")
        tag = client.recall(path, "other").response.header("etag") or '"understudy-made-up"'
        yield client.get(path, "owner", headers={"if-none-match": tag})
    before = client.get("/me/profile", "owner")
    tag = before.response.header("etag")
    if tag:
        update(client, company=f"{before.json_object.get('company', '')} & Understudy"[-40:])
        yield client.get("/me/profile", "owner", headers={"if-none-match": tag})

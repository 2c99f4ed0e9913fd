"""Mutants made from the operations: another status, type or header, another identity, no write."""

from collections.abc import Iterator
from typing import Any

import httpx
from tests.proofs.mutants.edge import (
    LIST,
    OWN,
    TOKEN,
    Change,
    Send,
    answer,
    asking,
    at,
    is_avatar,
    json_of,
    said,
    who,
)
from tests.proofs.mutants.mechanical import add

OPERATIONS: dict[str, tuple[Any, tuple[str, ...], int]] = {
    "lookup": (lambda r: at(r, "GET", "/profiles/"), ("profile-lookup-statuses",), 201),
    "an unknown lookup": (lambda r: at(r, "GET", "/profiles/"), ("profile-unknown-404",), 410),
    "QR code": (lambda r: at(r, "GET", "/qr-code/"), ("qr-no-authentication",), 201),
    "deletion": (lambda r: is_avatar(r, "DELETE"), ("avatar-delete-status",), 200),
    "assignment": (lambda r: is_avatar(r, "POST"), ("avatar-email-status",), 200),
    "upload": (lambda r: at(r, "POST", LIST), ("avatar-upload-status",), 201),
}


def _statuses() -> None:
    for name, (is_meant, rules, status) in OPERATIONS.items():
        add(f"{name} answered with {status}", rules, _restatused(is_meant, status))
    for name in ("avatar_not_found", "profile_not_found"):
        rule = ("avatar-unknown-404",) if name.startswith("avatar") else ("profile-unknown-404",)
        add(f"{name} answered with 400", rule, _coded(name, 400))
    add(
        "missing scopes answered with 401",
        ("scope-per-operation",),
        _coded("insufficient_scope", 401),
    )
    add("private profiles answered with 404", ("profile-private",), _coded("private_profile", 404))
    add(
        "unknown e-mails answered with 404",
        ("unknown-selected-email-hash",),
        _coded("unknown_email", 404),
    )
    add(
        "assignments to strange e-mails answered with 404",
        ("avatar-email-unknown-hash",),
        _coded("unknown_email", 404),
    )
    add("oblong pictures answered with 422", ("upload-square",), _coded("uncropped_image", 422))
    add(
        "strange pictures answered with 415",
        ("upload-image-types",),
        _coded("unsupported_image", 415),
    )


def _restatused(is_meant: Any, status: int) -> Change:
    def change(request: httpx.Request, send: Send) -> httpx.Response:
        response = send(request)
        wanted = 404 if status == 410 else 0
        is_right = response.status_code == wanted if wanted else response.is_success
        return answer(response, status=status) if is_meant(request) and is_right else response

    return change


def _coded(code: str, status: int) -> Change:
    def change(request: httpx.Request, send: Send) -> httpx.Response:
        response = send(request)
        body = said(response)
        is_meant = isinstance(body, dict) and body.get("code") == code
        return answer(response, status=status) if is_meant else response

    return change


READS = (OWN, LIST, "/me/associated-email")


def _identities() -> Iterator[tuple[str, tuple[str, ...], Change]]:
    """Swaps who asks: nobody may do what a token may, a poor token what a rich one may."""
    swaps = (
        ("nobody", "", ("me-needs-oauth-token",)),
        ("a wrong token", "understudy-wrong-token", ("me-needs-oauth-token",)),
        ("an API key", "ada-api-key", ("me-needs-oauth-token",)),
        ("an expired token", "ada-expired", ("me-needs-oauth-token",)),
        ("a token without scopes", "ada-auth-only", ("scope-per-operation",)),
        ("a token without auth", "ada-no-auth", ("scope-per-operation",)),
    )
    for name, token, rules in swaps:
        yield f"{name} reads the account", rules, _swapped(token, "GET")
    for name, token, rules in (
        *swaps[:3:2],
        swaps[-1],
        ("a reading token", "ada-read-only", ("scope-per-operation",)),
    ):
        yield f"{name} edits the account", rules, _swapped(token, "PATCH", "DELETE", "POST")


def _swapped(token: str, *methods: str) -> Change:
    def change(request: httpx.Request, send: Send) -> httpx.Response:
        is_me = "/me/" in str(request.url) and request.method in methods
        if is_me and who(request) == token:
            return send(asking(request, token="ada-full"))
        return send(request)

    return change


SKIPPED: tuple[tuple[str, Any, tuple[str, ...], Any], ...] = (
    (
        "an update of the profile is not kept",
        lambda r: at(r, "PATCH", OWN),
        ("profile-patch-seven-fields", "profile-patch-partial"),
        OWN,
    ),
    (
        "a deletion is not carried out",
        lambda r: is_avatar(r, "DELETE"),
        ("avatar-delete-no-content", "avatar-list-of-caller"),
        None,
    ),
    (
        "an assignment is not carried out",
        lambda r: is_avatar(r, "POST"),
        ("avatar-email-assign",),
        None,
    ),
)


def _skipped(is_meant: Any, path: str | None) -> Change:
    """Answers as after the write, and leaves it out."""

    def change(request: httpx.Request, send: Send) -> httpx.Response:
        if not is_meant(request) or who(request) != "ada-full":
            return send(request)
        if path is None:
            return httpx.Response(204)
        shown = send(asking(request, path=path, method="GET", body=b""))
        if shown.status_code != 200:
            return send(request)
        given = json_of(request)
        if not isinstance(given, dict) or not all(isinstance(t, str) for t in given.values()):
            return send(request)
        return answer(shown, body={**said(shown), **given})

    return change


TYPES: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("lookup", lambda r: at(r, "GET", "/profiles/"), ("json-bodies", "error-shape")),
    ("list", lambda r: at(r, "GET", LIST), ("json-bodies",)),
    ("own profile", lambda r: at(r, "GET", OWN), ("json-bodies",)),
    ("QR code", lambda r: at(r, "GET", "/qr-code/"), ("qr-png",)),
    ("token", lambda r: at(r, "POST", TOKEN), ("json-bodies",)),
    ("token-info", lambda r: at(r, "GET", "/oauth2/token-info"), ("json-bodies",)),
)


def _typed(is_meant: Any) -> Change:
    def change(request: httpx.Request, send: Send) -> httpx.Response:
        response = send(request)
        if not is_meant(request):
            return response
        return answer(response, headers={"content-type": "text/plain; charset=utf-8"})

    return change


HEADERS: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    ("x-ratelimit-limit", None, ("rate-limit-headers",)),
    ("x-ratelimit-remaining", None, ("rate-limit-headers",)),
    ("x-ratelimit-reset", None, ("rate-limit-headers",)),
    ("x-ratelimit-limit", "60", ("rate-limit-anonymous", "rate-limit-headers")),
    ("x-ratelimit-reset", "1", ("rate-limit-window",)),
    ("cache-control", None, ("token-not-cached", "authorize-page-not-framed")),
    ("pragma", None, ("token-not-cached",)),
    ("www-authenticate", None, ("invalid-token-refused",)),
    ("referrer-policy", None, ("authorize-page-not-framed",)),
    ("access-control-allow-origin", "*", ("token-no-cors",)),
)


def _headed(name: str, text: str | None) -> Change:
    def change(request: httpx.Request, send: Send) -> httpx.Response:
        response = send(request)
        if text is not None and name.startswith("x-") and name not in response.headers:
            return response
        return answer(response, headers={name: text})

    return change


def exchanges() -> None:
    """Makes those of whole exchanges."""
    _statuses()
    for name, rules, change in _identities():
        add(name, rules, change)
    for name, is_meant, rules, path in SKIPPED:
        add(name, rules, _skipped(is_meant, path))
    for name, is_meant, rules in TYPES:
        add(f"{name} as plain text", rules, _typed(is_meant))
    for name, text, rules in HEADERS:
        add(f"header {name} is {text}", rules, _headed(name, text))


exchanges()

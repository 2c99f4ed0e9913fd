"""The form of errors: status, code and body (interface, Errors; RFC 9110).

Most checks here are one call of ``_check_error``: the rule, the status and code, the operations,
and the conditions under which this error is the only possible one.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import (
    AVATAR_CHANGES,
    LIST_AVATARS,
    LOOKUP,
    ME,
    OWN_PROFILE,
    QR_CODE,
    RESOURCE,
    SET_AVATAR,
    TOKEN,
    TOKEN_INFO,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
)
from understudy.openapi.media_types import is_json
from understudy.verify.account_history import (
    ABLE,
    changes_in,
    has_texts_only,
    is_live,
    is_sound_change,
    names_editable_only,
    names_others,
    names_unknown_address,
)
from understudy.verify.checks import (
    CheckResult,
    Condition,
    check,
    demands,
    document_allows_no_such,
    expect,
    is_anonymous,
    is_get,
    is_unknown_identifier,
    may_manage,
    may_read,
    proven,
    sends_no_credentials,
    status_is,
    tells,
    was_refused,
)
from understudy.verify.history import MADE_UP, History
from understudy.verify.pictures import has_one_parameter
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.avatar_edits import does_not_exist, has_unknown_member
from understudy.verify.rules.avatar_lists import names_foreign_address
from understudy.verify.rules.avatar_uploads import (
    SAFE_SIZE,
    file_in,
    is_not_square,
    is_of_accepted_type,
    is_small,
    is_square,
    query_is_in_order,
    sends_one_file,
)
from understudy.verify.rules.bearer import (
    has_profile,
    lacks_a_scope,
    scopes_are_known,
    token_is_invalid,
)
from understudy.verify.rules.lookups import is_private_profile
from understudy.verify.shapes import schema_error
from understudy.verify.switches import error_form, reading
from understudy.verify.value_texts import as_json

_PLAIN: Final = (OWN_PROFILE, LIST_AVATARS)
"""Operations of the account that need no input, so that only the credentials can be wrong."""

_PLAIN_NUMBER: Final = 2**31 - 1
_NO_SIZE: Final = "understudy"
_ONE_FILE: Final = (may_manage, query_is_in_order, sends_one_file)


is_of_no_picture_type = tells(
    "the file is a BMP or no picture, which no deployment accepts",
    lambda it, history: proven(file_in(it, history)).form in {"", "BMP"},
)
is_not_small = tells(
    "the file is so large that a deployment may refuse it",
    lambda it, history: proven(file_in(it, history)).size > SAFE_SIZE,
)
size_is_a_word = tells(
    "the size is a word", lambda it, _: it.request.query.get("size", "").isalpha()
)


def is_one_number(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body has one value, a boolean or a number of 32 bits."""
    values = list(changes_in(exchange).values())
    return len(values) == 1 and isinstance(values[0], int) and abs(values[0]) <= _PLAIN_NUMBER


def _expect_form(exchange: Exchange, form: str) -> CheckResult:
    actual = error_form(exchange)
    is_of_status = int(form[:3]) != exchange.status
    return expect(actual == form, form, actual)._replace(is_of_status=is_of_status)


def _check_error(rule: str, form: str, *, on: Sequence[str], when: Sequence[Condition]) -> None:
    """Registers a check that a refusal has this status and code, and a reading of the actual ones.

    Args:
        rule: Id of the rule.
        form: The status and the code, as ``error_form`` returns them.
        on: The operations that it judges.
        when: What must hold of the request, so that nothing else is wrong with it.
    """
    demands(*on)(rule, [*when, was_refused], _expect_form, form, is_shape=True)
    reading(rule, on=on, when=[*when, was_refused], read=error_form)


_check_error("error-no-token", "401", on=_PLAIN, when=[sends_no_credentials])
_check_error("error-invalid-token", "401 invalid_token", on=_PLAIN, when=[token_is_invalid])
_check_error(
    "error-missing-scope",
    "403 insufficient_scope",
    on=(*_PLAIN, UPDATE_PROFILE),
    when=[has_profile, scopes_are_known, lacks_a_scope, names_editable_only, has_texts_only],
)
_check_error(
    "error-unknown-profile",
    "404 profile_not_found",
    on=[LOOKUP],
    when=[is_unknown_identifier, is_anonymous],
)
_check_error(
    "error-private-profile",
    "403 private_profile",
    on=[LOOKUP],
    when=[is_private_profile, is_anonymous, status_is(HTTPStatus.FORBIDDEN)],
)
_check_error(
    "error-unknown-avatar",
    "404 avatar_not_found",
    on=AVATAR_CHANGES,
    when=[does_not_exist, is_sound_change, may_manage],
)
_check_error(
    "error-unknown-address",
    "403 unknown_email",
    on=[LIST_AVATARS],
    when=[names_foreign_address, may_read],
)
_check_error(
    "error-unknown-address",
    "403 unknown_email",
    on=[SET_AVATAR],
    when=[is_live, names_unknown_address, may_manage],
)
_check_error(
    "error-picture-type",
    "400 unsupported_image",
    on=[UPLOAD_AVATAR],
    when=[*_ONE_FILE, is_small, is_of_no_picture_type],
)
_check_error(
    "error-picture-shape",
    "400 uncropped_image",
    on=[UPLOAD_AVATAR],
    when=[*_ONE_FILE, is_small, is_of_accepted_type, is_not_square],
)
_check_error(
    "error-upload-size",
    "413 image_too_large",
    on=[UPLOAD_AVATAR],
    when=[*_ONE_FILE, is_not_small, is_of_accepted_type, is_square],
)
_check_error(
    "error-invalid-member",
    "400 invalid_body",
    on=[UPDATE_PROFILE],
    when=[*ABLE, names_editable_only, is_one_number, document_allows_no_such],
)
_check_error(
    "error-unknown-member",
    "400 invalid_body",
    on=[UPDATE_PROFILE],
    when=[*ABLE, names_others],
)
_check_error(
    "error-unknown-member",
    "400 invalid_body",
    on=[UPDATE_AVATAR],
    when=[has_unknown_member, may_manage, is_live],
)
_check_error(
    "error-invalid-parameter",
    "400 invalid_parameter",
    on=[QR_CODE],
    when=[is_get, has_one_parameter, size_is_a_word],
)


@probe("error-invalid-parameter", needs=("slug",))
def code_with_a_word_as_size(client: ProbeClient) -> None:
    """Requests a QR code with a word as its size."""
    client.get(f"/qr-code/{client.known.slug}", query={"size": _NO_SIZE})


# Bodies of responses: JSON, and errors in the interface's shape (interface, Errors).


PREVIEW = 80
"""Bytes of a body that a finding shows."""


has_body = tells(
    "the response has a body", lambda it, _: bool(it.response.body) and it.request.method != "HEAD"
)
is_error = tells("the status is an error", lambda it, _: it.status >= HTTPStatus.BAD_REQUEST)
is_json_object = tells("the body is a JSON object with members", lambda it, _: bool(it.json_object))


def is_of_resource_api(exchange: Exchange, _history: History) -> bool:
    """Tells whether a request to the resource API names one of its operations, or none at all."""
    is_known = exchange.operation in {*RESOURCE, ""}
    return exchange.site == "resource" and is_known and exchange.request.method != "HEAD"


def _shown(exchange: Exchange) -> str:
    preview = exchange.response.body[:PREVIEW].decode(errors="replace")
    return f"{exchange.response.media_type}: {as_json(preview)}"


@check(
    "json-bodies",
    on=[name for name in (*RESOURCE, TOKEN, TOKEN_INFO) if name != QR_CODE],
    when=[has_body],
)
def body_is_json(exchange: Exchange, _history: History) -> CheckResult:
    """A body is JSON, and its content type declares it."""
    is_typed = is_json(exchange.response.media_type)
    return expect(is_typed and exchange.body is not NO_JSON, "a body of JSON", _shown(exchange))


@check("error-members", on=RESOURCE, when=[is_error, is_json_object], is_shape=True)
def error_has_its_members(exchange: Exchange, _history: History) -> CheckResult:
    """An error has a message, and a code that is a string."""
    error = schema_error(exchange.body, "Error")
    return expect(not error, "error as a text, and code as one", error)


@check("error-shape", when=[is_of_resource_api, is_error], is_shape=True)
def error_is_json_with_a_message(exchange: Exchange, _history: History) -> CheckResult:
    """Every error of the resource API is JSON with a message under ``error``."""
    message = exchange.json_object.get("error")
    is_right = isinstance(message, str) and exchange.response.media_type == "application/json"
    return expect(is_right, "JSON with a message under error", _shown(exchange))


# What HTTP demands of refusals (RFC 9110, 11.1, 15.5.2 and 15.5.6).


@check("unauthorized-challenge", on=RESOURCE, when=[status_is(HTTPStatus.UNAUTHORIZED)])
def refusal_has_challenge(exchange: Exchange, _history: History) -> CheckResult:
    """A 401 names an accepted authentication scheme in WWW-Authenticate (RFC 9110, 15.5.2)."""
    challenge = exchange.response.header("www-authenticate")
    scheme = challenge.partition(" ")[0].lower()
    is_right = scheme == "bearer" if exchange.operation in {*ME, LOOKUP} else bool(challenge)
    return expect(is_right, "401 with WWW-Authenticate", f"WWW-Authenticate: {as_json(challenge)}")


@check("method-not-allowed-allow", when=[status_is(HTTPStatus.METHOD_NOT_ALLOWED)])
def refusal_names_methods(exchange: Exchange, _history: History) -> CheckResult:
    """A 405 lists the methods of the path in Allow, without the refused one (RFC 9110, 15.5.6)."""
    allowed = exchange.response.header("allow")
    names = {name.strip() for name in allowed.split(",")}
    is_right = bool(allowed) and exchange.request.method not in names
    return expect(is_right, "405 with the other methods in Allow", f"Allow: {as_json(allowed)}")


@probe("unauthorized-challenge", "me-needs-oauth-token", "error-no-token", "head-like-get")
def reads_without_credentials(client: ProbeClient) -> Parts:
    """Reads the avatars and the own profile without credentials, the latter by HEAD too."""
    yield client.get("/me/avatars")
    yield [client.send(method, "/me/profile") for method in ("GET", "HEAD")]


@probe("method-not-allowed-allow", needs=("writes",))
def method_that_a_profile_does_not_take(client: ProbeClient) -> None:
    """Sends PUT for a profile that does not exist, so that nothing changes where PUT is allowed."""
    client.send("PUT", f"/profiles/{MADE_UP}-slug")

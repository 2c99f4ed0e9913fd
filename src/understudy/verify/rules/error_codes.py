"""Statuses and codes of errors, which the interface leaves open (interface, Errors)."""

from typing import Final

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import (
    AVATAR_CHANGES,
    LIST_AVATARS,
    LOOKUP,
    OWN_PROFILE,
    QR_CODE,
    SET_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
)
from understudy.verify.avatar_history import is_live, is_sound_change, names_unknown_address
from understudy.verify.checks import CheckResult, check, expect, proven
from understudy.verify.conditions import (
    document_allows_no_such,
    is_anonymous,
    is_get,
    is_unknown_identifier,
    may_manage,
    may_read,
    sends_no_credentials,
    status_is,
    was_refused,
)
from understudy.verify.history import History
from understudy.verify.needed_scopes import lacks_a_scope
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import probe
from understudy.verify.profile_history import ABLE, changes_in, names_editable_only
from understudy.verify.qr_pictures import has_one_parameter
from understudy.verify.rules.avatar_deletion import does_not_exist
from understudy.verify.rules.avatar_lists import names_foreign_address
from understudy.verify.rules.avatar_uploads import (
    SURELY_TAKEN,
    file_in,
    is_not_square,
    is_of_taken_type,
    is_small,
    is_square,
    query_is_in_order,
    sends_one_file,
)
from understudy.verify.rules.bearer import has_profile, scopes_are_known, token_is_invalid
from understudy.verify.rules.lookups import is_private_profile

FORBIDDEN: Final = 403
_PLAIN: Final = (OWN_PROFILE, LIST_AVATARS)
"""Operations of the account with which nothing but the credentials can be wrong."""

_PLAIN_NUMBER: Final = 2**31 - 1
_NO_SIZE: Final = "understudy"
_ONE_FILE: Final = (may_manage, query_is_in_order, sends_one_file)


def error_form(exchange: Exchange) -> str:
    """Returns the status and the error code of a response, as a switch takes them."""
    code = exchange.json_object.get("code")
    return f"{exchange.status} {code}" if isinstance(code, str) and code else str(exchange.status)


def _expect_error(exchange: Exchange, wanted: str) -> CheckResult:
    actual = error_form(exchange)
    return expect(actual == wanted, wanted, actual)


def is_of_no_picture_type(exchange: Exchange, history: History) -> bool:
    """Tells whether the file is of a type that no reading takes: a BMP, or no picture."""
    return proven(file_in(exchange, history)).form in {"", "BMP"}


def is_not_small(exchange: Exchange, history: History) -> bool:
    """Tells whether the file is so large that a deployment may refuse it."""
    return proven(file_in(exchange, history)).size > SURELY_TAKEN


def size_is_a_word(exchange: Exchange, _history: History) -> bool:
    """Tells whether the size is a word."""
    return exchange.request.query.get("size", "").isalpha()


def is_one_number(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body has one value, a number or boolean that no limit of a server refuses."""
    values = list(changes_in(exchange).values())
    return len(values) == 1 and isinstance(values[0], int) and abs(values[0]) <= _PLAIN_NUMBER


@check("error-no-token", on=_PLAIN, when=[sends_no_credentials, was_refused], is_shape=True)
def no_token_is_401(exchange: Exchange, _history: History) -> CheckResult:
    """A request without a token is refused with 401 and no code."""
    return _expect_error(exchange, "401")


@check("error-invalid-token", on=_PLAIN, when=[token_is_invalid, was_refused], is_shape=True)
def invalid_token_has_its_code(exchange: Exchange, _history: History) -> CheckResult:
    """A request with an invalid token is refused with 401 and the code invalid_token."""
    return _expect_error(exchange, "401 invalid_token")


@check(
    "error-missing-scope",
    on=(*_PLAIN, UPDATE_PROFILE),
    when=[has_profile, scopes_are_known, lacks_a_scope, was_refused],
    is_shape=True,
)
def missing_scope_has_its_code(exchange: Exchange, _history: History) -> CheckResult:
    """A request without a scope is refused with 403 and the code insufficient_scope."""
    return _expect_error(exchange, "403 insufficient_scope")


@check(
    "error-unknown-profile",
    on=[LOOKUP],
    when=[is_unknown_identifier, is_anonymous, was_refused],
    is_shape=True,
)
def unknown_profile_has_its_code(exchange: Exchange, _history: History) -> CheckResult:
    """A lookup of an unknown identifier is refused with the code profile_not_found."""
    return _expect_error(exchange, "404 profile_not_found")


@check(
    "error-private-profile",
    on=[LOOKUP],
    when=[is_private_profile, is_anonymous, status_is(FORBIDDEN)],
    is_shape=True,
)
def private_profile_has_its_code(exchange: Exchange, _history: History) -> CheckResult:
    """A lookup of a private profile is refused with the code private_profile."""
    return _expect_error(exchange, "403 private_profile")


@check(
    "error-unknown-avatar",
    on=AVATAR_CHANGES,
    when=[does_not_exist, is_sound_change, may_manage, was_refused],
    is_shape=True,
)
def unknown_avatar_has_its_code(exchange: Exchange, _history: History) -> CheckResult:
    """A change of an avatar that does not exist is refused with the code avatar_not_found."""
    return _expect_error(exchange, "404 avatar_not_found")


@check(
    "error-unknown-address",
    on=[LIST_AVATARS],
    when=[names_foreign_address, may_read, was_refused],
    is_shape=True,
)
def list_for_unknown_address_has_its_code(exchange: Exchange, _history: History) -> CheckResult:
    """The list for an address that is not the caller's is refused with the code unknown_email."""
    return _expect_error(exchange, "403 unknown_email")


@check(
    "error-unknown-address",
    on=[SET_AVATAR],
    when=[is_live, names_unknown_address, may_manage, was_refused],
    is_shape=True,
)
def assignment_to_unknown_address_has_its_code(
    exchange: Exchange, _history: History
) -> CheckResult:
    """An assignment to an unknown address is refused with the code unknown_email."""
    return _expect_error(exchange, "403 unknown_email")


@check(
    "error-picture-type",
    on=[UPLOAD_AVATAR],
    when=[*_ONE_FILE, is_small, is_of_no_picture_type, was_refused],
    is_shape=True,
)
def picture_type_has_its_code(exchange: Exchange, _history: History) -> CheckResult:
    """A file that is no picture of a type that is taken has the code unsupported_image."""
    return _expect_error(exchange, "400 unsupported_image")


@check(
    "error-picture-shape",
    on=[UPLOAD_AVATAR],
    when=[*_ONE_FILE, is_small, is_of_taken_type, is_not_square, was_refused],
    is_shape=True,
)
def picture_shape_has_its_code(exchange: Exchange, _history: History) -> CheckResult:
    """A picture that is not square has the code uncropped_image."""
    return _expect_error(exchange, "400 uncropped_image")


@check(
    "error-upload-size",
    on=[UPLOAD_AVATAR],
    when=[*_ONE_FILE, is_not_small, is_of_taken_type, is_square, was_refused],
    is_shape=True,
)
def upload_size_has_its_code(exchange: Exchange, _history: History) -> CheckResult:
    """A file that is too large has the code image_too_large."""
    return _expect_error(exchange, "413 image_too_large")


@check(
    "error-invalid-member",
    on=[UPDATE_PROFILE],
    when=[*ABLE, names_editable_only, is_one_number, document_allows_no_such, was_refused],
    is_shape=True,
)
def invalid_member_has_its_code(exchange: Exchange, _history: History) -> CheckResult:
    """An update with a value that is not a text has the code invalid_body."""
    return _expect_error(exchange, "400 invalid_body")


@check(
    "error-invalid-parameter",
    on=[QR_CODE],
    when=[is_get, has_one_parameter, size_is_a_word, was_refused],
    is_shape=True,
)
def invalid_parameter_has_its_code(exchange: Exchange, _history: History) -> CheckResult:
    """A size that is a word has the code invalid_parameter."""
    return _expect_error(exchange, "400 invalid_parameter")


@probe("error-invalid-parameter", needs=("slug",))
def code_with_a_word_as_size(client: ProbeClient) -> None:
    """Requests a QR code whose size is a word."""
    client.get(f"/qr-code/{client.known.slug}", query={"size": _NO_SIZE})

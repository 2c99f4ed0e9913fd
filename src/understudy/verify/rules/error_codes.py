"""Statuses and codes of errors, which the interface leaves open (interface, Errors).

Every check here is the same comparison, so that a check is one call: the rule, the status and the
code, the operations, and what makes that error the only one that fits.
"""

from collections.abc import Sequence
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import (
    AVATAR_CHANGES,
    LIST_AVATARS,
    LOOKUP,
    OWN_PROFILE,
    QR_CODE,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
)
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
    was_refused,
)
from understudy.verify.history import History
from understudy.verify.needed_scopes import lacks_a_scope
from understudy.verify.pictures import has_one_parameter
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import probe
from understudy.verify.rules.avatar_deletion import does_not_exist
from understudy.verify.rules.avatar_edits import has_unknown_member
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


def error_form(exchange: Exchange, member: str = "code") -> str:
    """Returns the status and the error code of a response, as a switch takes them.

    Args:
        exchange: The exchange.
        member: The member of the body that is the code.
    """
    code = exchange.json_object.get(member)
    return f"{exchange.status} {code}" if isinstance(code, str) and code else str(exchange.status)


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


def _check_error(
    rule: str, form: str, *, on: Sequence[str], when: Sequence[Condition], name: str = ""
) -> None:
    """Registers a check that a refusal has this status and this code.

    Args:
        rule: Id of the rule.
        form: The status and the code, as ``error_form`` returns them.
        on: The operations that it judges.
        when: What must hold of the request, so that nothing else is wrong with it.
        name: Name of the check, where the rule has another one; that of the rule without it.
    """

    def has_form(exchange: Exchange, _history: History) -> CheckResult:
        actual = error_form(exchange)
        return expect(actual == form, form, actual)

    has_form.__name__ = name or rule.replace("-", "_")
    has_form.__doc__ = f"The refusal is {form}."
    check(rule, on=on, when=[*when, was_refused], is_shape=True)(has_form)


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
    when=[is_private_profile, is_anonymous, status_is(FORBIDDEN)],
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
    name="error_unknown_address_of_assignment",
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
    when=[*_ONE_FILE, is_small, is_of_taken_type, is_not_square],
)
_check_error(
    "error-upload-size",
    "413 image_too_large",
    on=[UPLOAD_AVATAR],
    when=[*_ONE_FILE, is_not_small, is_of_taken_type, is_square],
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
    name="error_unknown_member_of_avatar",
)
_check_error(
    "error-invalid-parameter",
    "400 invalid_parameter",
    on=[QR_CODE],
    when=[is_get, has_one_parameter, size_is_a_word],
)


@probe("error-invalid-parameter", needs=("slug",))
def code_with_a_word_as_size(client: ProbeClient) -> None:
    """Requests a QR code whose size is a word."""
    client.get(f"/qr-code/{client.known.slug}", query={"size": _NO_SIZE})

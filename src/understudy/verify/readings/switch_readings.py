"""Tells from an exchange which option of a switch a deployment takes.

A reading is a pure function of an exchange and what was exchanged before, as a check is, so probes,
experiments and recorded traffic settle the same questions.
"""

from collections.abc import Iterator, Sequence
from hashlib import md5
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import (
    COUNTED,
    DELETE_AVATAR,
    LIST_AVATARS,
    LOOKUP,
    OWN_PROFILE,
    QR_CODE,
    SET_AVATAR,
    TOKEN,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
)
from understudy.verify.account_history import (
    ABLE,
    has_texts_only,
    names_editable_only,
    names_others,
)
from understudy.verify.checks import (
    TOO_MANY,
    is_anonymous,
    is_public_profile,
    is_unknown_identifier,
    may_manage,
    may_read,
    succeeded,
)
from understudy.verify.history import History
from understudy.verify.pictures import has_no_parameters
from understudy.verify.rate_limit_history import (
    has_count_headers,
    is_too_many,
    nothing_was_left,
)
from understudy.verify.readings.error_readings import ERROR_READINGS
from understudy.verify.readings.oauth_error_readings import OAUTH_ERROR_READINGS
from understudy.verify.readings.precedence import PRECEDENCE_READINGS
from understudy.verify.readings.query_readings import QUERY_READINGS
from understudy.verify.readings.scope_readings import SCOPE_READINGS
from understudy.verify.readings.switch_reading import Read, SwitchReading
from understudy.verify.readings.windows import (
    began_with_a_request,
    ends_with_the_hour,
    has_moved_on,
)
from understudy.verify.rules.avatar_lists import names_foreign_address
from understudy.verify.rules.avatar_uploads import is_small, is_square, sends_one_file
from understudy.verify.rules.bearer import (
    is_oauth,
    lacks_auth,
    lacks_scope_to_change,
    scopes_are_known,
    token_is_invalid,
)
from understudy.verify.rules.lookups import is_private_profile
from understudy.verify.rules.rate_limit_counts import limit_header_names, must_have_count_headers
from understudy.verify.rules.token_requests import uses_basic_authentication

WEBP: Final = b"RIFF"
"""The first bytes of a WebP file."""


def _status(exchange: Exchange) -> str:
    return str(exchange.status)


def _by_success(success: str, refusal: str) -> Read:
    """Returns what reads one option from a success and the other from a refusal."""

    def read(exchange: Exchange) -> str:
        if exchange.response.is_success:
            return success
        return refusal if exchange.response.is_refusal else _status(exchange)

    return read


def _of_qr_code(exchange: Exchange) -> str:
    return "picture" if exchange.response.is_success else _status(exchange)


def _of_basic(exchange: Exchange) -> str:
    """Reads the token endpoint: it refuses the client, or only the code that verify made up."""
    error = exchange.json_object.get("error")
    return "refuse" if error == "invalid_client" else "accept"


def is_by_md5(exchange: Exchange, history: History) -> bool:
    """Tells whether the identifier is the MD5 hash of a known e-mail address."""
    emails = (*history.known.emails, *history.known.other_emails)
    return exchange.value in {md5_of(email) for email in emails}


def md5_of(email: str) -> str:
    """Returns the MD5 hash of an e-mail address, as old clients send it."""
    return md5(email.strip().lower().encode(), usedforsecurity=False).hexdigest()


def sends_webp(exchange: Exchange, _history: History) -> bool:
    """Tells whether the picture of an upload is a WebP."""
    return WEBP in exchange.request.body and b"WEBPVP8" in exchange.request.body


def is_served(exchange: Exchange, _history: History) -> bool:
    """Tells whether the request was answered although the limit is used up."""
    return exchange.status != TOO_MANY


RATE_LIMITS: Final = "rate-limit-anonymous"
WINDOW_RULE: Final = "rate-limit-window"

READINGS: Final[Sequence[SwitchReading]] = (
    SwitchReading(
        "email-hash-normalised", (LOOKUP,), (is_by_md5,), _by_success("md5-too", "sha256")
    ),
    SwitchReading("profile-private", (LOOKUP,), (is_private_profile, is_anonymous), _status),
    SwitchReading(
        "qr-unknown-hash", (QR_CODE,), (is_unknown_identifier, has_no_parameters), _of_qr_code
    ),
    SwitchReading(
        "unknown-selected-email-hash",
        (LIST_AVATARS,),
        (names_foreign_address, may_read),
        _by_success("ignore", "refuse"),
    ),
    SwitchReading("avatar-upload-status", (UPLOAD_AVATAR,), (succeeded,), _status),
    SwitchReading(
        "upload-image-types",
        (UPLOAD_AVATAR,),
        (may_manage, sends_one_file, is_small, sends_webp, is_square),
        _by_success("webp-heic-too", "jpeg-png-gif"),
    ),
    SwitchReading("avatar-delete-status", (DELETE_AVATAR,), (succeeded,), _status),
    SwitchReading("avatar-email-status", (SET_AVATAR,), (succeeded,), _status),
    SwitchReading(
        "profile-patch-unknown-members",
        (UPDATE_PROFILE,),
        (*ABLE, names_others),
        _by_success("ignore", "refuse"),
    ),
    SwitchReading(
        "invalid-token-refused",
        (LOOKUP,),
        (token_is_invalid, is_public_profile),
        _by_success("anonymous", "refuse"),
    ),
    SwitchReading(
        "scope-per-operation",
        (OWN_PROFILE, LIST_AVATARS),
        (is_oauth, scopes_are_known, lacks_auth),
        _by_success("ignored", "enforced"),
    ),
    SwitchReading(
        "scope-per-operation",
        (UPDATE_PROFILE,),
        (is_oauth, scopes_are_known, lacks_scope_to_change, names_editable_only, has_texts_only),
        _by_success("ignored", "enforced"),
    ),
    SwitchReading("token-credentials-in-form", (TOKEN,), (uses_basic_authentication,), _of_basic),
    SwitchReading(RATE_LIMITS, COUNTED, (is_too_many,), lambda _exchange: "on", is_of_limits=True),
    SwitchReading("rate-limit-headers", COUNTED, (must_have_count_headers,), limit_header_names),
    SwitchReading(
        WINDOW_RULE,
        COUNTED,
        (has_count_headers, ends_with_the_hour),
        lambda _exchange: "clock-hour",
    ),
    SwitchReading(
        WINDOW_RULE,
        COUNTED,
        (has_count_headers, began_with_a_request),
        lambda _exchange: "first-request",
    ),
    SwitchReading(
        WINDOW_RULE, COUNTED, (has_count_headers, has_moved_on), lambda _exchange: "a sliding hour"
    ),
    SwitchReading(
        RATE_LIMITS,
        COUNTED,
        (has_count_headers, nothing_was_left, is_served, succeeded),
        lambda _exchange: "warn",
    ),
    *PRECEDENCE_READINGS,
    *QUERY_READINGS,
    *SCOPE_READINGS,
    *OAUTH_ERROR_READINGS,
    *ERROR_READINGS,
)
"""The exchanges that show an option of each switch of ``rules.yaml``."""


def options_shown(exchange: Exchange, history: History) -> Iterator[tuple[str, str]]:
    """Yields each rule that an exchange shows a reading of, with the option."""
    for reading in READINGS:
        option = reading.option(exchange, history)
        if option is not None:
            yield reading.rule, option

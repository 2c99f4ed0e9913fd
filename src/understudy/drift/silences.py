"""Names what the interface leaves open and no assumption is about: codes, headers, optional members.

An assumption of ``rules.yaml`` says what understudy chose where a client notices. Here is what
deployments choose freely, with the sentence of the interface that leaves it to them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from understudy.drift.differences import ABSENT, Difference
from understudy.drift.relations import COUNTED_REQUESTS
from understudy.interface.operations import AVATARS, OWN_PROFILE, QR_CODE, UPDATE_PROFILE
from understudy.verify.rate_limit_history import UNAUTHORIZED

Applies = Callable[[Difference], bool]


@dataclass(frozen=True, slots=True)
class Silence:
    """Something that the interface leaves open.

    Attributes:
        id: What reports call it.
        statement: What is open, with the section of the interface.
        applies: Tells whether a difference is of this kind.
    """

    id: str
    statement: str
    applies: Applies


def silence_about(difference: Difference) -> Silence | None:
    """Returns what the interface leaves open, where a difference breaks no rule at either side."""
    return next((silence for silence in SILENCES if silence.applies(difference)), None)


def _is_code(difference: Difference) -> bool:
    return difference.aspect in {"error code", "member code"} and _is_refused(difference)


def _is_header(difference: Difference) -> bool:
    return difference.aspect.startswith("header ")


def _is_refused(difference: Difference) -> bool:
    return not (difference.exchange.response.is_success or difference.other.response.is_success)


def _is_refusal_of_another_status(difference: Difference) -> bool:
    return difference.aspect == "status" and (
        difference.exchange.response.is_refusal and difference.other.response.is_refusal
    )


def _is_status_not_shown(difference: Difference) -> bool:
    """Tells whether the status is open; not that a token works which the other one refuses."""
    operations = {*AVATARS, OWN_PROFILE, UPDATE_PROFILE}
    both = difference.exchange, difference.other
    is_of_token = any(it.status == UNAUTHORIZED for it in both) and not _is_refused(difference)
    is_open = difference.exchange.operation in operations and not is_of_token
    return difference.aspect == "status" and is_open


def _is_optional_member(difference: Difference) -> bool:
    is_member = difference.aspect.startswith("member ")
    return is_member and ABSENT in {difference.ours, difference.theirs}


def _is_page(difference: Difference) -> bool:
    exchange = difference.exchange
    return exchange.site == "authorization" and not exchange.operation


def _is_of_no_operation(difference: Difference) -> bool:
    return not difference.exchange.operation


def _is_picture_size(difference: Difference) -> bool:
    """Tells whether QR codes are of another size, or one was drawn where the other was refused."""
    exchange, other = difference.exchange, difference.other
    is_drawn_or_not = {exchange.response.is_success, other.response.is_success} == {True, False}
    is_refused = exchange.response.is_refusal or other.response.is_refusal
    is_of_size = "size" in exchange.request.query and is_drawn_or_not and is_refused
    is_other = difference.aspect == "picture" or (difference.aspect == "status" and is_of_size)
    return is_other and exchange.operation == QR_CODE


def _is_count(difference: Difference) -> bool:
    return difference.aspect == COUNTED_REQUESTS


SILENCES: Final[Sequence[Silence]] = (
    Silence(
        "open-error-codes",
        "Values of an error's code field are not shown (interface, Errors).",
        _is_code,
    ),
    Silence(
        "open-headers",
        "The interface names no response headers beside those of its rules.",
        _is_header,
    ),
    Silence(
        "open-sign-in-pages",
        "The pages of the authorization server's sign-in are not described (interface, Authentication).",
        _is_page,
    ),
    Silence(
        "open-other-requests",
        "Requests that are no operation of the interface, such as those that its URLs lead to, are not "
        "described.",
        _is_of_no_operation,
    ),
    Silence(
        "open-optional-members",
        "A member that is not required can be left out (interface, Resources and their fields).",
        _is_optional_member,
    ),
    Silence(
        "rate-limit-counted-operations",
        "Which requests a limit counts, and how often, is not shown (interface, Limits, 4).",
        _is_count,
    ),
    Silence(
        "open-qr-bounds",
        "QR size bounds are not shown (interface, Limits, 4).",
        _is_picture_size,
    ),
    Silence(
        "open-statuses",
        "Status codes of the avatar and own-profile endpoints are not shown (interface, Endpoints).",
        _is_status_not_shown,
    ),
    Silence(
        "open-refusal-statuses",
        "The status of a refusal is only shown for an unknown profile and a used-up limit (interface, "
        "Errors).",
        _is_refusal_of_another_status,
    ),
)
"""The first that applies is named."""

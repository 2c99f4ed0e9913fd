"""The rules that verify cannot judge by the interface alone, each with its reason; every other has a check."""

from collections.abc import Mapping
from typing import Final

_DASHBOARD: Final = "the interface gives the developer dashboard no URL to send a request to"

_BY_FACTS: Final = "understudy learn tries the number, and verify --facts judges by it"

UNJUDGED: Final[Mapping[str, str]] = {
    "application-has-id-and-secret": _DASHBOARD,
    "dashboard-redirect-urls": _DASHBOARD,
    "api-key-by-application": _DASHBOARD,
    "application-deletion-ends-tokens": _DASHBOARD,
    **dict.fromkeys(
        (
            "display-name-length",
            "description-length",
            "pronunciation-length",
            "pronouns-length",
            "location-length",
            "job-title-length",
            "company-length",
            "upload-largest-side",
            "avatars-most",
            "qr-smallest-size",
        ),
        _BY_FACTS,
    ),
    "token-constant-time": "over a network the differences are smaller than its noise",
}

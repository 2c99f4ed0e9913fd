"""The rules that cannot be judged from outside, each with its reason; every other has a check."""

from collections.abc import Mapping
from typing import Final

_DASHBOARD: Final = "the interface gives the developer dashboard no URL to send a request to"

UNJUDGED: Final[Mapping[str, str]] = {
    "application-has-id-and-secret": _DASHBOARD,
    "dashboard-redirect-urls": _DASHBOARD,
    "api-key-by-application": _DASHBOARD,
    "application-deletion-ends-tokens": _DASHBOARD,
    "token-constant-time": "over a network the differences are smaller than its noise",
}

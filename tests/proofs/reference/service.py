"""The one value that both applications share, and how a request reaches it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from flask import current_app
from tests.proofs.reference.grants import Grants
from tests.proofs.reference.limits import RateLimits
from tests.proofs.reference.state import State

EXTENSION = "reference"


@dataclass(frozen=True)
class Addresses:
    """Where the service is reached, without a slash at the end.

    Attributes:
        site: Where profile pages and pictures are; the resource API is at ``/v3`` below it.
        auth_url: The authorization server.
    """

    site: str
    auth_url: str

    @property
    def base_url(self) -> str:
        """The resource API (interface, Versioning, 2)."""
        return f"{self.site}/v3"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the operator decides.

    Attributes:
        approve: A username; authorization requests are granted in their name without a page.
        anonymous_limit: Requests an hour for a network address.
        token_limit: Requests an hour for a bearer token.
        choices: Name of a switch of ``rules.yaml`` to one of its options; where a switch is not
            named, the reference does as it thinks best, which need not be the mock's default.
    """

    approve: str | None = None
    anonymous_limit: int = 100
    token_limit: int = 1000
    choices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Service:
    """All that a request needs; time and randomness come in here."""

    state: State
    grants: Grants
    addresses: Addresses
    clock: Callable[[], datetime]
    random: Callable[[], str]
    options: Options = field(default_factory=Options)
    limits: RateLimits = field(default_factory=RateLimits)


def service() -> Service:
    """Returns the service behind the request at hand."""
    return cast(Service, current_app.extensions[EXTENSION])


def number(switch: str, otherwise: int) -> int:
    """Returns the number that the operator chose, where the interface leaves one open."""
    return int(service().options.choices.get(switch, otherwise))


def chose(switch: str, option: str) -> bool:
    """Tells whether the operator chose an option, where the interface leaves several."""
    return service().options.choices.get(switch) == option

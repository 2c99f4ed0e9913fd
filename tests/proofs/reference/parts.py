"""What a reference is built of, so that a fault can put a broken part in the place of a sound one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from flask.typing import ResponseReturnValue
from tests.proofs.reference.grants import Grants
from tests.proofs.reference.limits import RateLimits
from tests.proofs.reference.state import State

View = Callable[..., ResponseReturnValue]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of a reference.

    Attributes:
        state: Keeps people and pictures.
        grants: Issues codes and tokens.
        limits: Counts requests.
        views: Functions that respond in the place of sound ones, by endpoint, as ``avatars.delete``.
    """

    state: type[State] = State
    grants: type[Grants] = Grants
    limits: type[RateLimits] = RateLimits
    views: Mapping[str, View] = field(default_factory=dict)


SOUND = Parts()

"""A fault of the reference: one part of it, written as a hurried developer writes it.

Not a deviation at the edge: what is broken here is the state itself, so every view of it agrees
with the fault, and nothing but a comparison with what the interface promises shows it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Barrier, Event, current_thread

from tests.proofs.reference.grants import Grants
from tests.proofs.reference.limits import RateLimits
from tests.proofs.reference.parts import Parts, View
from tests.proofs.reference.state import State


@dataclass(frozen=True)
class Fault:
    """A broken reference.

    Attributes:
        name: What is broken, in a few words.
        rules: The rules that it breaks; one of them has to catch it.
        parts: What the reference is built of.
    """

    name: str
    rules: tuple[str, ...]
    parts: Parts


FAULTS: list[Fault] = []
MOMENT = 0.05
"""Seconds between reading and writing, in which another request may write."""
PATIENCE = 30
"""Seconds that one of two requests waits for the other, where both are known to come."""
MEETING = Barrier(2)


def pause():
    """Waits between reading and writing, so that requests at the same moment meet there.

    In this process verify names its threads that send together; a server cannot know who comes.
    """
    if current_thread().name.startswith("together"):
        MEETING.wait(PATIENCE)
    else:
        Event().wait(MOMENT)


def in_state(*rules: str) -> Callable[[type[State]], type[State]]:
    """Registers a broken store of people and pictures."""

    def register(state: type[State]) -> type[State]:
        FAULTS.append(Fault(state.__name__, rules, Parts(state=state)))
        return state

    return register


def in_grants(*rules: str) -> Callable[[type[Grants]], type[Grants]]:
    """Registers a broken issuer of codes and tokens."""

    def register(grants: type[Grants]) -> type[Grants]:
        FAULTS.append(Fault(grants.__name__, rules, Parts(grants=grants)))
        return grants

    return register


def in_limits(*rules: str) -> Callable[[type[RateLimits]], type[RateLimits]]:
    """Registers a broken counter of requests."""

    def register(limits: type[RateLimits]) -> type[RateLimits]:
        FAULTS.append(Fault(limits.__name__, rules, Parts(limits=limits)))
        return limits

    return register


def in_view(endpoint: str, *rules: str) -> Callable[[View], View]:
    """Registers a broken view."""

    def register(view: View) -> View:
        FAULTS.append(Fault(view.__name__, rules, Parts(views={endpoint: view})))
        return view

    return register


def in_views(name: str, rules: tuple[str, ...], views: Mapping[str, View]) -> None:
    """Registers views that are broken together, by endpoint."""
    FAULTS.append(Fault(name, rules, Parts(views=views)))

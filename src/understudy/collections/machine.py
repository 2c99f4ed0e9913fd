"""Plays scenarios on any document: items are created, read, changed and deleted in random order.

Rules that the fixed sequence of a collection found broken are not reported again.
"""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from understudy.collections.client import WHOLE, CollectionClient, InferredRun, collection_client
from understudy.collections.known_items import KnownItem
from understudy.collections.model import ResourceCollection, Role
from understudy.verify.findings import steps_of
from understudy.verify.permits import NotPermitted
from understudy.verify.run import RuleBroken
from understudy.verify.scenarios import play_machine, scenario_settings


class ItemsMachine(RuleBasedStateMachine):
    """The Hypothesis state machine of a collection: its rules are requests to random items."""

    def __init__(
        self, state: InferredRun, collection: ResourceCollection, known: Collection[str]
    ) -> None:
        super().__init__()
        self.state = state
        self.collection = collection
        self.known = known
        self.roles = collection.roles
        self.items: list[KnownItem] = []

    def can(self, role: Role) -> bool:
        """Tells whether the collection has an operation, and an item for it."""
        return role in self.roles and any(not it.is_lost for it in self.items)

    @initialize()
    def begin(self) -> None:
        """Creates the parents and the first item."""
        source = f"scenario items of {self.collection.path}"
        self.client = collection_client(self.state, self.collection, source)
        self.create()

    @rule()
    def create(self) -> None:
        """Creates an item."""
        self._judged(lambda: self.items.append(self.client.create()))

    @precondition(lambda self: self.can("read"))
    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        """Reads an item, which may have been deleted."""
        self._with_item(data, self.client.read)

    @precondition(lambda self: self.can("list"))
    @rule(limit=st.sampled_from([2, WHOLE]))
    def list_items(self, limit: int) -> None:
        """Lists the items."""
        self._judged(lambda: self.client.list_items(limit))

    @precondition(lambda self: self.can("update"))
    @rule(data=st.data())
    def update(self, data: st.DataObject) -> None:
        """Changes one member of an item."""
        self._with_item(data, self.client.update, is_present=True)

    @precondition(lambda self: self.can("replace"))
    @rule(data=st.data())
    def replace(self, data: st.DataObject) -> None:
        """Replaces an item."""
        self._with_item(data, self.client.replace, is_present=True)

    @precondition(lambda self: self.can("delete"))
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """Deletes an item, which may have been deleted before."""
        self._with_item(data, self.client.delete)

    def _with_item(
        self,
        data: st.DataObject,
        operation: Callable[[KnownItem], Any],
        *,
        is_present: bool = False,
    ) -> None:
        items = self.client.model.present if is_present else self.items
        if items:
            index = data.draw(st.integers(0, len(items) - 1))
            self._judged(lambda: operation(items[index]))

    def _judged(self, operation: Callable[[], Any]) -> None:
        """Calls an operation, and ends the sequence if it breaks a rule not known as broken.

        Raises:
            RuleBroken: A response breaks a rule.
        """
        client: CollectionClient = self.client
        client.broken.clear()
        try:
            operation()
        except NotPermitted:
            return  # no rule forbids that the service refuses it
        for name, result in client.broken:
            if name not in self.known:
                steps = steps_of(client.steps[-1], result.evidence)
                broken = RuleBroken(name, result.expected, result.actual, steps)
                self.state.run.broken = broken
                raise broken

    def teardown(self) -> None:
        """Deletes the items that the sequence created."""
        self.state.undo.restore()


def play_items(
    state: InferredRun,
    collection: ResourceCollection,
    known: Collection[str],
    examples: int,
    steps: int,
) -> str:
    """Creates, changes and deletes items of a collection in random order.

    Failing sequences are not shrunk, which would take thousands of requests: a judgement names the
    few exchanges that it is based on.

    Args:
        state: The inferred state of the run.
        collection: The collection.
        known: Rules that are known to be broken there.
        examples: Number of sequences.
        steps: Largest number of operations in a sequence.

    Returns:
        The id of the broken rule, or an empty string.

    Raises:
        Refusal: The budget or the time is used up.
    """
    chosen = settings(scenario_settings(examples, steps), phases=(Phase.generate,))
    return play_machine(state.run, partial(ItemsMachine, state, collection, known), chosen)

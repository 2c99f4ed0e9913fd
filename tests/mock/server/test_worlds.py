"""A world is its baseline with what was changed laid over it: a dict, seen from outside."""

from copy import deepcopy

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from understudy.mock.server.worlds import Collection, RecordChange, World

NOTES: Collection[str] = Collection("notes")
OTHER: Collection[str] = Collection("other")
BASELINE = {"notes": {"a": "first", "b": "second"}}
KEYS = st.sampled_from("abcd")


class WorldBesideADict(RuleBasedStateMachine):
    """Puts and removes in both, and compares."""

    def __init__(self) -> None:
        super().__init__()
        self.baseline = deepcopy(BASELINE)
        self.world = World("one", self.baseline)
        self.neighbour = World("two", self.baseline)
        self.model = dict(BASELINE["notes"])

    @rule(key=KEYS, record=st.text(max_size=3))
    def put(self, key: str, record: str) -> None:
        self.world.put(NOTES, key, record)
        self.model[key] = record

    @rule(key=KEYS)
    def remove(self, key: str) -> None:
        self.world.remove(NOTES, key)
        self.model.pop(key, None)

    @rule(key=KEYS)
    def get(self, key: str) -> None:
        assert self.world.get(NOTES, key) == self.model.get(key)

    @invariant()
    def both_hold_the_same(self) -> None:
        assert dict(self.world.items(NOTES)) == self.model
        assert len(list(self.world.items(NOTES))) == len(self.model)
        assert list(self.world.keys(NOTES)) == [key for key, _ in self.world.items(NOTES)]
        assert self.world.count(NOTES) == len(self.model)

    @invariant()
    def nobody_else_notices(self) -> None:
        assert self.baseline == BASELINE
        assert dict(self.neighbour.items(NOTES)) == BASELINE["notes"]
        assert dict(self.world.items(OTHER)) == {}


TestWorldBesideADict = WorldBesideADict.TestCase
TestWorldBesideADict.settings = settings(max_examples=40, stateful_step_count=20)


def test_the_baselines_order_stays_and_what_is_added_comes_after() -> None:
    world = World("one", BASELINE)
    world.put(NOTES, "c", "third")
    world.put(NOTES, "a", "changed")
    assert list(world.items(NOTES)) == [("a", "changed"), ("b", "second"), ("c", "third")]


def test_removing_what_is_not_there_changes_nothing() -> None:
    world = World("one", BASELINE)
    world.remove(NOTES, "z")
    assert world._overlay == {}


def test_a_change_is_a_value_that_can_be_carried_out_anywhere() -> None:
    world = World("one", BASELINE)
    world.apply(RecordChange("notes", "a", None))
    assert world.get(NOTES, "a") is None

"""Partial updates of the own profile in any order, beside a dict."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from understudy.mock.server.call import Call, Principal
from understudy.mock.server.clock import Clock
from understudy.mock.server.worlds import World
from understudy.mock.service import own_profile, profiles
from understudy.mock.store.people import PEOPLE, SLUGS_BY_HASH, Email, Person, Profile

START = datetime(2026, 1, 1, tzinfo=UTC)
EDITS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(own_profile.EDITABLE, st.text(max_size=12))
)


class ProfileEdits(RuleBasedStateMachine):
    """The profile of one person, and what it should say."""

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        profile = Profile(display_name="Mia", timezone="Europe/Oslo")
        self.before = Person("mia", "the caller", (Email("mia@example.com"),), profile)
        baseline: dict[str, Any] = {PEOPLE.name: {"mia": self.before}, SLUGS_BY_HASH.name: {}}
        self.world = World("edits", baseline, clock=Clock(lambda: self.now))
        self.expected = dict.fromkeys(own_profile.EDITABLE, "") | {"display_name": "Mia"}
        self.edited: str | None = None

    def call(self) -> Call:
        principal = Principal("mia", "oauth", frozenset(), "token")
        return Call(self.world, "http://127.0.0.1:8080", {}, principal)

    @rule(edits=EDITS)
    def update(self, edits):
        said = own_profile.update_own_profile(self.call(), body=edits).body.value
        self.expected |= edits
        if edits:
            self.edited = self.now.strftime("%Y-%m-%dT%H:%M:%SZ")
        assert said == own_profile.get_own_profile(self.call()).body.value

    @rule(edits=EDITS, extra=st.sampled_from(["hash", "timezone", "verified_accounts"]))
    def update_with_a_member_that_only_a_newer_document_lets_through(self, edits, extra):
        call = self.call()
        own_profile.update_own_profile(call, body={**edits, extra: "changed"})
        assert extra in call.notes[0]
        self.update(edits)

    @rule(minutes=st.integers(1, 10_000))
    def wait(self, minutes):
        self.now += timedelta(minutes=minutes)

    @invariant()
    def lookup_says_what_the_model_says(self):
        said = profiles.get_profile(self.call(), "mia").body.value
        assert {name: said[name] for name in own_profile.EDITABLE} == self.expected
        assert said.get("last_profile_edit") == self.edited
        assert said["timezone"] == "Europe/Oslo"

    @invariant()
    def the_baseline_stays_as_it_was(self):
        assert self.world.baseline[PEOPLE.name]["mia"] is self.before


ProfileEdits.TestCase.settings = settings(max_examples=60, stateful_step_count=20)
TestProfileEdits = ProfileEdits.TestCase


def test_an_edit_of_texts_keeps_what_is_stored_beside_them_and_drops_what_is_unset_there():
    person = Person("mia", "", (Email("mia@example.com"),), extra={"level": 1, "motto": ""})
    again = own_profile.edited(person, {"location": "Oslo"})
    assert (again.profile, again.extra) == (Profile(location="Oslo"), {"level": 1})


@pytest.mark.parametrize("value", ["", None, 7, True, ["Oslo"], {}])
def test_what_is_no_text_is_never_stored_as_one(value):
    person = Person("mia", "", (Email("mia@example.com"),), Profile(location="Bergen"))
    again = own_profile.edited(person, {"location": value, "company": "Fjord"})
    assert isinstance(again.profile.location, str)
    assert again.profile.company == "Fjord"

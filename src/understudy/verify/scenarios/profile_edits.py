"""Updates parts of the own profile in any order, beside a model."""

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from understudy.verify.scenarios.machine import Machine
from understudy.verify.shapes import EDITABLE

TEXTS = st.sampled_from(["", "Understudy", "Zwei Wörter", "a" * 60, "<b>", "0", " x "])
EDITS = st.dictionaries(st.sampled_from(EDITABLE), TEXTS, max_size=3)
REFUSED = st.sampled_from([{"hash": "x"}, {"timezone": "Etc/UTC"}, {"location": 7}])


class ProfileEdits(Machine):
    """The profile of the test account, and its expected values."""

    needs: ClassVar[tuple[str, ...]] = ("owner", "writes", "slug")

    @initialize()
    def begin(self) -> None:
        """Sets every field to the same text at the start."""
        self.look()
        self.update(dict.fromkeys(EDITABLE, "Before"))

    def look(self) -> None:
        """Takes the current values as the expected ones."""
        profile = self.send("GET", "/me/profile", "owner").json_object
        self.expected = {name: profile.get(name) for name in EDITABLE}

    @rule(edits=EDITS)
    def update(self, edits: dict[str, str]) -> None:
        """Changes some fields."""
        exchange = self.send("PATCH", "/me/profile", "owner", json=edits)
        if exchange.response.is_success:
            self.expected |= edits

    @rule(edits=EDITS, more=REFUSED)
    def update_with_refused_member(self, edits: dict[str, str], more: dict[str, object]) -> None:
        """Adds a member that cannot be changed; nothing else may change."""
        exchange = self.send("PATCH", "/me/profile", "owner", json={**edits, **more})
        if exchange.response.is_success:  # another deployment may drop what it does not know
            self.look()

    @rule(who=st.sampled_from(["owner", "anonymous"]))
    def read(self, who: str) -> None:
        """Reads the profile as owner or anonymous and compares it with the model."""
        exchange = self.send("GET", f"/profiles/{self.client.known.slug}", who)
        actual = {name: exchange.json_object.get(name) for name in EDITABLE}
        self.expect("profile-patch-partial", actual, self.expected)

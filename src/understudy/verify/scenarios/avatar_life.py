"""Upload, select, change, assign and delete avatars in any order, beside a model of the account.

Only avatars of the scenario's own are changed, so that everything can be put back.
"""

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from understudy.verify.history import avatars_in
from understudy.verify.probes.uploads import picture
from understudy.verify.scenarios.machine import Machine

RATINGS = st.sampled_from(["G", "PG", "R", "X"])
TEXTS = st.sampled_from(["", "An understudy", "Ein Bild", "<i>"])
CHANGES = st.fixed_dictionaries({}, optional={"rating": RATINGS, "alt_text": TEXTS})


class AvatarLife(Machine):
    """The avatars that the scenario made, and what they should be."""

    needs: ClassVar[tuple[str, ...]] = ("owner", "writes", "uploads", "hashes")

    @initialize()
    def look(self) -> None:
        """Begins with what stands there."""
        self.held: dict[str, dict[str, object]] = {}
        found = avatars_in(self.send("GET", "/me/avatars", "owner"))
        self.others = {str(avatar.get("image_id")) for avatar in found}

    @rule(wish=st.sampled_from(["true", "false"]))
    def upload(self, wish: str) -> None:
        """Uploads a picture."""
        files = {"data": ("understudy.png", picture(), "image/png")}
        query = {"select_avatar": wish}
        said = self.send("POST", "/me/avatars", "owner", query=query, files=files).json_object
        if "image_id" in said:
            made = {"rating": said.get("rating"), "alt_text": said.get("alt_text")}
            self.held[str(said["image_id"])] = made

    @precondition(lambda self: self.held)
    @rule(data=st.data(), changes=CHANGES)
    def update(self, data: st.DataObject, changes: dict[str, object]) -> None:
        """Rates or describes one."""
        image = data.draw(st.sampled_from(sorted(self.held)))
        self.send("PATCH", f"/me/avatars/{image}", "owner", json=changes)
        self.held[image] |= changes

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def assign(self, data: st.DataObject) -> None:
        """Sets one for an address."""
        image = data.draw(st.sampled_from(sorted(self.held)))
        hash_ = data.draw(st.sampled_from(self.client.known.own_hashes))
        path = f"/me/avatars/{image}/email"
        self.send("POST", path, "owner", json={"email_hash": hash_})

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """Deletes one."""
        image = data.draw(st.sampled_from(sorted(self.held)))
        self.send("DELETE", f"/me/avatars/{image}", "owner")
        del self.held[image]

    @rule()
    def read(self) -> None:
        """Lists them."""
        found = avatars_in(self.send("GET", "/me/avatars", "owner"))
        actual = {
            str(avatar.get("image_id")): {n: avatar.get(n) for n in ("rating", "alt_text")}
            for avatar in found
        }
        own = {image: said for image, said in actual.items() if image not in self.others}
        self.expect("avatar-list-of-caller", sorted(own), sorted(self.held))
        self.expect("avatar-patch-partial", own, self.held)

    def teardown(self) -> None:
        """Deletes what is left, so that the next sequence begins as this one did."""
        for image in self.__dict__.get("held", {}):
            self.client.send("DELETE", f"/me/avatars/{image}", "owner")

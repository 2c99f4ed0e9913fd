"""Uploads, selects, changes, assigns and deletes avatars in any order, beside a model.

Only the scenario's own avatars are changed, so that everything can be undone.
"""

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from understudy.verify.history import avatars_in
from understudy.verify.pictures import picture
from understudy.verify.scenarios.machine import Machine

RATINGS = st.sampled_from(["G", "PG", "R", "X"])
TEXTS = st.sampled_from(["", "An understudy", "Ein Bild", "<i>"])
CHANGES = st.fixed_dictionaries({}, optional={"rating": RATINGS, "alt_text": TEXTS})


class AvatarLife(Machine):
    """The avatars that the scenario uploaded, and their expected values."""

    needs: ClassVar[tuple[str, ...]] = ("owner", "writes", "uploads", "hashes")

    @initialize()
    def look(self) -> None:
        """Reads the existing avatars."""
        self.avatars: dict[str, dict[str, object]] = {}
        existing = avatars_in(self.send("GET", "/me/avatars", "owner"))
        self.others = {str(avatar.get("image_id")) for avatar in existing}

    @rule(select_avatar=st.sampled_from(["true", "false"]))
    def upload(self, select_avatar: str) -> None:
        """Uploads a picture."""
        files = {self.client.upload_field: ("understudy.png", picture(), "image/png")}
        query = {"select_avatar": select_avatar}
        avatar = self.send("POST", "/me/avatars", "owner", query=query, files=files).json_object
        if "image_id" in avatar:
            fields = {"rating": avatar.get("rating"), "alt_text": avatar.get("alt_text")}
            self.avatars[str(avatar["image_id"])] = fields

    @precondition(lambda self: self.avatars)
    @rule(data=st.data(), changes=CHANGES)
    def update(self, data: st.DataObject, changes: dict[str, object]) -> None:
        """Changes an avatar's rating or text alternative."""
        image = data.draw(st.sampled_from(list(self.avatars)))  # in order of uploads
        self.send("PATCH", f"/me/avatars/{image}", "owner", json=changes)
        self.avatars[image] |= changes

    @precondition(lambda self: self.avatars)
    @rule(data=st.data())
    def assign(self, data: st.DataObject) -> None:
        """Selects an avatar for an e-mail address."""
        image = data.draw(st.sampled_from(list(self.avatars)))  # in order of uploads
        hash_ = data.draw(st.sampled_from(self.client.known.own_hashes))
        path = f"/me/avatars/{image}/email"
        self.send("POST", path, "owner", json={"email_hash": hash_})

    @precondition(lambda self: self.avatars)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """Deletes an avatar."""
        image = data.draw(st.sampled_from(list(self.avatars)))  # in order of uploads
        self.send("DELETE", f"/me/avatars/{image}", "owner")
        del self.avatars[image]

    @rule()
    def read(self) -> None:
        """Lists the avatars and compares them with the model."""
        listed = avatars_in(self.send("GET", "/me/avatars", "owner"))
        actual = {
            str(avatar.get("image_id")): {n: avatar.get(n) for n in ("rating", "alt_text")}
            for avatar in listed
        }
        own = {image: fields for image, fields in actual.items() if image not in self.others}
        self.expect("avatar-list-of-caller", sorted(own), sorted(self.avatars))
        self.expect("avatar-patch-partial", own, self.avatars)

    def teardown(self) -> None:
        """Deletes the remaining avatars, so that the next sequence begins like this one."""
        for image in self.__dict__.get("avatars", {}):
            self.client.send("DELETE", f"/me/avatars/{image}", "owner")

"""Upload, select, change and delete avatars in any order, beside a model of one account."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from understudy.errors import BadRequest, NotFound
from understudy.mock.server.call import Call, HandlerResponse, Principal, Upload
from understudy.mock.server.worlds import World
from understudy.mock.service import avatars, linked_pictures, own_profile
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import IMAGES, PEOPLE, SLUGS_BY_HASH, Email, Person
from understudy.openapi.bundled import fixtures_directory

PICTURE = (fixtures_directory() / "images" / "portrait-birch.jpg").read_bytes()
EMAILS = ("mia@example.com", "mia@example.org")
HASHES = tuple(email_hash(email) for email in EMAILS)
CHANGES = st.fixed_dictionaries(
    {}, optional={"rating": st.sampled_from(["G", "PG", "R", "X"]), "alt_text": st.text(max_size=9)}
)


@dataclass
class Held:
    """An avatar as the model knows it."""

    rating: str = "G"
    alt_text: str = ""


def done(response: HandlerResponse | Coroutine[Any, Any, HandlerResponse]) -> HandlerResponse:
    """Waits for a handler that has to; a picture that was checked before is added at once."""
    return response if isinstance(response, HandlerResponse) else asyncio.run(response)


class AvatarLife(RuleBasedStateMachine):
    """The account of one person with two addresses."""

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        person = Person("mia", "the caller", tuple(Email(email) for email in EMAILS))
        slugs = dict.fromkeys(HASHES, "mia")
        self.world = World("life", {PEOPLE.name: {"mia": person}, SLUGS_BY_HASH.name: slugs})
        self.held: dict[str, Held] = {}
        self.selected: dict[str, str | None] = dict.fromkeys(HASHES)

    def call(self) -> Call:
        principal = Principal("mia", "oauth", frozenset(), "token")
        return Call(self.world, "http://127.0.0.1:8080", {}, principal)

    @rule(target=ids, place=st.sampled_from([0, 1]), select=st.sampled_from([None, True, False]))
    def upload(self, place, select):
        uploading = avatars.upload_avatar(
            self.call(),
            selected_email_hash=HASHES[place],
            select_avatar=select,
            body={"data": Upload("me.jpg", PICTURE, "data")},
        )
        said = done(uploading).body
        self.held[said["image_id"]] = Held()
        if select or (select is None and self.selected[HASHES[place]] is None):
            self.selected[HASHES[place]] = said["image_id"]
        assert said["selected"] == (self.selected[HASHES[place]] == said["image_id"])
        return said["image_id"]

    @rule(content=st.binary(max_size=40))
    def upload_what_is_no_picture(self, content):
        uploading = avatars.upload_avatar(self.call(), body={"data": Upload("x", content, "data")})
        with pytest.raises(BadRequest, match="send a JPEG, PNG or GIF"):
            done(uploading)

    @rule(image_id=ids, changes=CHANGES)
    def update(self, image_id, changes):
        said = avatars.update_avatar(self.call(), image_id, body=changes).body
        for name, value in changes.items():
            setattr(self.held[image_id], name, value)
        assert (said["rating"], said["alt_text"]) == (
            self.held[image_id].rating,
            self.held[image_id].alt_text,
        )

    @rule(image_id=ids, hash_=st.sampled_from(HASHES))
    def assign(self, image_id, hash_):
        body = {"email_hash": hash_}
        assert avatars.set_avatar_for_email(self.call(), image_id, body=body).status == 204
        self.selected[hash_] = image_id

    @rule(image_id=consumes(ids))
    def delete(self, image_id):
        assert avatars.delete_avatar(self.call(), image_id).status == 204
        del self.held[image_id]
        self.selected = {h: None if s == image_id else s for h, s in self.selected.items()}
        assert self.world.get(IMAGES, image_id) is None
        for operation in (avatars.delete_avatar, avatars.update_avatar):
            with pytest.raises(NotFound):
                operation(self.call(), image_id)

    @invariant()
    def the_list_is_the_models(self):
        for hash_ in HASHES:
            said = avatars.list_avatars(self.call(), selected_email_hash=hash_).body.value
            assert [avatar["image_id"] for avatar in said] == list(self.held)
            chosen = [avatar["image_id"] for avatar in said if avatar["selected"]]
            assert chosen == [s for s in [self.selected[hash_]] if s]

    @invariant()
    def every_address_shows_its_picture_or_none(self):
        for hash_ in HASHES:
            showing = linked_pictures.get_avatar(self.call(), hash_, size="8", default="404")
            try:
                status = asyncio.run(showing).status
            except NotFound:
                status = 404
            assert status == (200 if self.selected[hash_] else 404)
            assert own_profile.is_email_associated(self.call(), email_hash=hash_).body["associated"]


AvatarLife.TestCase.settings = settings(max_examples=40, stateful_step_count=25)
TestAvatarLife = AvatarLife.TestCase

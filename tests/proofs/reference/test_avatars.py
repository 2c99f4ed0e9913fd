"""Avatars: listed, uploaded, selected for an e-mail, changed, deleted, and nobody else's."""

from datetime import timedelta

import pytest
from tests.proofs.reference.people import BRAM, ISOLDE, picture

FIRST, SECOND, BRAMS = "a1" * 16, "a2" * 16, "b1" * 16
GREEN = picture("G", "green", "JPEG")


def upload(client, content: bytes = GREEN, **query: str):
    return client.post("/me/avatars", params=query, files={"data": ("any name", content)})


def selected(client, email_hash: str) -> list[str]:
    found = client.get("/me/avatars", params={"selected_email_hash": email_hash}).json()
    return [avatar["image_id"] for avatar in found if avatar["selected"]]


def test_a_list_holds_the_callers_own(isolde, bram):
    assert [a["image_id"] for a in isolde.get("/me/avatars").json()] == [FIRST, SECOND]
    assert [a["image_id"] for a in bram.get("/me/avatars").json()] == [BRAMS]


def test_which_is_selected_is_told_for_the_email_that_is_named(isolde):
    assert selected(isolde, ISOLDE.hashes[0]) == [FIRST]
    assert selected(isolde, ISOLDE.hashes[1]) == []
    assert all("selected" not in avatar for avatar in isolde.get("/me/avatars").json())


@pytest.mark.parametrize("email_hash", ["", "nobody", BRAM.hashes[0]])
def test_nothing_is_selected_for_an_email_that_is_not_the_callers(isolde, email_hash):
    assert selected(isolde, email_hash) == []


def test_an_upload_is_listed_and_its_address_shows_it(isolde, nobody):
    answer = upload(isolde)
    avatar = answer.json()
    assert (answer.status_code, avatar["rating"], avatar["alt_text"]) == (201, "G", "")
    assert avatar in isolde.get("/me/avatars").json()
    shown = nobody.get(avatar["image_url"])
    assert (shown.headers["content-type"], shown.content) == ("image/jpeg", GREEN)


@pytest.mark.parametrize("text", ["true", "1"])
def test_an_upload_may_be_selected(isolde, nobody, text):
    avatar = upload(isolde, selected_email_hash=ISOLDE.hashes[0], select_avatar=text).json()
    assert avatar["selected"] is True
    assert selected(isolde, ISOLDE.hashes[0]) == [avatar["image_id"]]
    assert nobody.get(f"/profiles/{ISOLDE.slug}").json()["avatar_url"] == avatar["image_url"]


@pytest.mark.parametrize("text", ["false", "0"])
def test_an_upload_may_be_left_unselected(isolde, text):
    upload(isolde, selected_email_hash=ISOLDE.hashes[1], select_avatar=text)
    assert selected(isolde, ISOLDE.hashes[1]) == []


@pytest.mark.parametrize("query", [{}, {"select_avatar": "null"}])
def test_an_upload_is_selected_where_the_email_has_none_yet(isolde, query):
    avatar = upload(isolde, selected_email_hash=ISOLDE.hashes[1], **query).json()
    upload(isolde, selected_email_hash=ISOLDE.hashes[1], **query)
    assert selected(isolde, ISOLDE.hashes[1]) == [avatar["image_id"]]


def test_without_an_email_the_primary_one_is_meant(isolde):
    avatar = upload(isolde, select_avatar="true").json()
    assert selected(isolde, ISOLDE.hashes[0]) == [avatar["image_id"]]
    assert selected(isolde, ISOLDE.hashes[1]) == []


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ({"select_avatar": "perhaps"}, GREEN),
        ({"selected_email_hash": BRAM.hashes[0]}, GREEN),
        ({}, b"no picture"),
        ({}, GREEN[:200]),
    ],
)
def test_a_refused_upload_adds_nothing(isolde, query, content):
    assert upload(isolde, content, **query).status_code == 400
    assert len(isolde.get("/me/avatars").json()) == 2


def test_an_upload_is_a_form_with_the_field_data(isolde):
    assert isolde.post("/me/avatars", content=GREEN).status_code == 415
    assert isolde.post("/me/avatars", files={"image": GREEN}).status_code == 400
    assert upload(isolde, bytes(11 * 1024 * 1024)).status_code == 413


def test_a_picture_is_selected_for_each_email_alone(isolde):
    body = {"email_hash": ISOLDE.hashes[1]}
    answer = isolde.post(f"/me/avatars/{SECOND}/email", json=body)
    assert (answer.status_code, answer.content) == (204, b"")
    assert selected(isolde, ISOLDE.hashes[0]) == [FIRST]
    assert selected(isolde, ISOLDE.hashes[1]) == [SECOND]


@pytest.mark.parametrize("body", [{"email_hash": BRAM.hashes[0]}, {"email_hash": 7}, {}])
def test_a_picture_stands_for_ones_own_email_only(isolde, bram, body):
    assert isolde.post(f"/me/avatars/{SECOND}/email", json=body).status_code == 400
    assert selected(bram, BRAM.hashes[0]) == [BRAMS]


def test_rating_and_alternative_text_change_alone(isolde, clock):
    clock.move(timedelta(days=1))
    rated = isolde.patch(f"/me/avatars/{FIRST}", json={"rating": "PG"}).json()
    assert (rated["rating"], rated["alt_text"]) == ("PG", "Isolde before the lamp")
    assert rated["updated_date"] == "2026-05-05T10:00:00Z"
    named = isolde.patch(f"/me/avatars/{FIRST}", json={"alt_text": ""}).json()
    assert (named["rating"], named["alt_text"]) == ("PG", "")
    assert named in isolde.get("/me/avatars").json()


@pytest.mark.parametrize("body", [{"rating": "pg"}, {"rating": None}, {"alt_text": 1}, {"id": ""}])
def test_a_refused_update_changes_nothing(isolde, body):
    before = isolde.get("/me/avatars").json()
    assert isolde.patch(f"/me/avatars/{FIRST}", json=body).status_code == 400
    assert isolde.get("/me/avatars").json() == before


def test_a_deleted_picture_stands_for_nobody(isolde, nobody):
    url = nobody.get(f"/profiles/{ISOLDE.slug}").json()["avatar_url"]
    answer = isolde.delete(f"/me/avatars/{FIRST}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert [a["image_id"] for a in isolde.get("/me/avatars").json()] == [SECOND]
    profile = nobody.get(f"/profiles/{ISOLDE.slug}").json()
    assert (profile["avatar_url"], profile["avatar_alt_text"]) == ("", "")
    assert nobody.get(url).status_code == 404


@pytest.mark.parametrize("image_id", ["unknown", BRAMS])
def test_another_persons_picture_is_not_there(isolde, bram, image_id):
    body = {"email_hash": ISOLDE.hashes[0]}
    assert [
        isolde.delete(f"/me/avatars/{image_id}").status_code,
        isolde.patch(f"/me/avatars/{image_id}", json={"rating": "X"}).status_code,
        isolde.post(f"/me/avatars/{image_id}/email", json=body).status_code,
    ] == [404, 404, 404]
    assert bram.get("/me/avatars").json()[0]["rating"] == "G"

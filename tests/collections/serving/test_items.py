"""Items of inferred collections: created, read, changed, deleted, and each by its rules."""

from datetime import UTC, datetime

import pytest

MERGE = {"content-type": "application/merge-patch+json"}
JSON_PATCH = {"content-type": "application/json-patch+json"}


def test_what_is_created_is_read_at_its_location(ask):
    created = ask("POST", "/lists", json={"name": "Home", "secret": "hidden"})
    assert created.status_code == 201
    assert created.json().keys() == {"id", "createdAt", "name"}
    assert ask("GET", created.headers["location"]).json() == created.json()


@pytest.mark.usefixtures("milk")
def test_what_is_created_is_listed_below_its_parent_alone(ask, home):
    other = ask("GET", "/lists").json()[0]["id"]
    titles = [it["title"] for it in ask("GET", f"{home}/todos").json()["data"]]
    assert titles == ["Milk"]
    assert "Milk" not in [it["title"] for it in ask("GET", f"/lists/{other}/todos").json()["data"]]


def test_defaults_and_the_parent_are_filled_in_and_optional_members_are_not(ask, home):
    created = ask("POST", f"{home}/todos", json={"title": "Eggs"}).json()
    assert (created["priority"], created["status"]) == (3, "open")
    assert home.endswith(created["listId"])
    assert "notes" not in created


def test_integers_identify_in_order_and_none_is_used_twice(ask, home, milk):
    number = ask("GET", milk).json()["id"]
    ask("DELETE", milk)
    assert ask("POST", f"{home}/todos", json={"title": "Eggs"}).json()["id"] == number + 1


def test_times_are_those_of_the_world(ask, mock, home):
    mock.world.clock.put(datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC), rate=0)
    path = ask("POST", f"{home}/todos", json={"title": "Eggs"}).headers["location"]
    mock.world.clock.put(datetime(2031, 1, 2, 3, 4, 5, tzinfo=UTC), rate=0)
    changed = ask("PATCH", path, headers=MERGE, content='{"priority": 1}').json()
    assert (changed["createdAt"], changed["updatedAt"]) == (
        "2030-01-02T03:04:05Z",
        "2031-01-02T03:04:05Z",
    )


def test_put_replaces_what_a_client_may_write(ask, milk):
    before = ask("GET", milk).json()
    after = ask("PUT", milk, json={"title": "Cheese"}).json()
    assert "notes" not in after
    assert (after["title"], after["id"], after["listId"]) == (
        "Cheese",
        before["id"],
        before["listId"],
    )


def test_a_merge_patch_changes_and_removes_members(ask, milk):
    changed = ask("PATCH", milk, headers=MERGE, content='{"notes": null, "priority": 5}').json()
    assert ("notes" in changed, changed["priority"], changed["title"]) == (False, 5, "Milk")


def test_a_patch_changes_neither_the_identifier_nor_what_only_the_server_sets(ask, milk):
    before = ask("GET", milk).json()
    content = '[{"op": "replace", "path": "/id", "value": 77}, {"op": "remove", "path": "/listId"}]'
    after = ask("PATCH", milk, headers=JSON_PATCH, content=content).json()
    assert (after["id"], after["listId"]) == (before["id"], before["listId"])


def test_a_json_patch_is_applied_as_a_whole_or_not_at_all(ask, milk):
    steps = '{"op": "replace", "path": "/title", "value": "Cheese"}'
    failing = f'[{steps}, {{"op": "test", "path": "/priority", "value": 1}}]'
    assert ask("PATCH", milk, headers=JSON_PATCH, content=failing).status_code == 409
    assert ask("GET", milk).json()["title"] == "Milk"
    assert ask("PATCH", milk, headers=JSON_PATCH, content=f"[{steps}]").json()["title"] == "Cheese"


def test_a_patch_whose_result_breaks_the_schema_is_refused(ask, milk):
    content = '[{"op": "remove", "path": "/title"}]'
    refused = ask("PATCH", milk, headers=JSON_PATCH, content=content)
    assert (refused.status_code, refused.json()["status"]) == (400, 400)
    assert "title" in refused.json()["message"]
    assert "--state-model" in refused.headers["x-mock-state"]


def test_an_action_leads_to_the_state_of_its_name(ask, milk):
    assert ask("POST", f"{milk}/complete").json()["status"] == "done"
    assert ask("GET", milk).json()["status"] == "done"


def test_what_is_deleted_is_gone_with_all_that_is_below_it(ask, home, milk):
    assert ask("DELETE", home).status_code == 204
    answers = [ask("GET", path) for path in (home, milk, f"{home}/todos")]
    assert [it.status_code for it in answers] == [404, 404, 404]
    assert answers[0].json().keys() == {"message", "status"}
    (entry,) = [
        it
        for it in ask("GET", "/__admin/requests").json()["requests"]
        if it["request"]["method"] == "DELETE"
    ][:1]
    notes = ask("GET", f"/__admin/requests/{entry['id']}").json()["explanation"]["notes"]
    assert "deleted 1 below it, of /lists/{listId}/todos" in notes


@pytest.mark.usefixtures("home")
def test_a_name_that_must_be_unique_is_refused_the_second_time(ask):
    refused = ask("POST", "/lists", json={"name": "Home"})
    assert (refused.status_code, refused.json()["status"]) == (409, 409)
    assert "--state-model" in refused.headers["x-mock-state"]


def test_nothing_is_created_below_a_parent_that_does_not_exist(ask):
    path = "/lists/00000000-0000-4000-a000-000000000000/todos"
    assert ask("POST", path, json={"title": "Eggs"}).status_code == 404
    assert ask("GET", path).status_code == 404


@pytest.mark.parametrize(("tag", "status"), [('"other"', 412), ("*", 200), (None, 200)])
def test_a_condition_that_is_declared_is_held(ask, milk, tag, status):
    headers = {} if tag is None else {"If-Match": tag}
    assert ask("PUT", milk, json={"title": "Cheese"}, headers=headers).status_code == status


def test_an_entity_tag_changes_with_the_item(ask, milk):
    first, again = (ask("GET", milk).headers["etag"] for _ in range(2))
    assert first == again
    changed = ask("PUT", milk, json={"title": "Cheese"}, headers={"If-Match": first})
    assert changed.status_code == 200
    assert ask("GET", milk).headers["etag"] != first


def test_a_single_resource_keeps_what_was_changed(ask):
    before = ask("GET", "/me/settings").json()
    after = {**before, "language": "Welsh"}
    assert ask("PATCH", "/me/settings", json={"language": "Welsh"}).json() == after
    assert ask("GET", "/me/settings").json() == after


def test_an_operation_without_state_responds_from_the_document(ask):
    response = ask("POST", "/search", json={"query": "milk"})
    assert response.headers["x-mock-response"] == "generated"
    assert "x-mock-state" not in response.headers


def test_members_that_the_document_does_not_declare_are_kept_whatever_their_size(ask):
    content = '{"name": "Far", "distance": 1e30, "steps": [36893488147419103232, 7]}'
    headers = {"content-type": "application/json"}
    created = ask("POST", "/lists", content=content, headers=headers)
    assert (created.json()["distance"], created.json()["steps"]) == (1e30, [2.0**65, 7])
    assert ask("GET", created.headers["location"]).json() == created.json()

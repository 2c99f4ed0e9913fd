"""The admin API and the console know at every replica what happened at the others."""

from tests.mock.admin.conftest import Driver

Replicas = tuple[Driver, Driver]


def test_a_request_that_a_page_has_sent_waits_for_no_lock_of_its_own(replicas: Replicas) -> None:
    one, other = replicas
    other.get("/v3/profiles/ada?n=1")
    sent = one.admin("POST", "/send", {"like": 1})
    assert sent == {"request": 2, "status": 200}
    assert other.admin("GET", "/requests")["meta"]["total"] == 2


def test_the_console_of_a_world_is_at_every_replica(replicas: Replicas) -> None:
    one, other = replicas
    one.admin("POST", "/worlds", {"name": "w"})
    assert other.get("/__world/w/__console").status_code == 200


def test_what_was_exercised_in_a_world_that_any_replica_deleted_counts(replicas: Replicas) -> None:
    one, other = replicas
    one.admin("POST", "/worlds", {"name": "w"})
    other.get("/__world/w/v3/profiles/ada")
    one.admin("DELETE", "/worlds/w")
    for driver in replicas:
        operations = driver.admin("GET", "/exercised?worlds=all")["operations"]
        counts = {it["operation"]: it["requests"] for it in operations}
        assert (counts["getProfile"], sum(counts.values())) == (1, 1)


def test_a_name_that_is_like_that_of_another_replicas_world_is_suggested(
    replicas: Replicas,
) -> None:
    one, other = replicas
    one.admin("POST", "/worlds", {"name": "build-7"})
    refused = other.get("/__world/build-8/v3/profiles/ada")
    assert "did you mean 'build-7'" in refused.json()["detail"]


def test_a_world_is_rewound_to_before_a_replica_loaded_it(replicas: Replicas) -> None:
    one, other = replicas
    before = one.get("/v3/me/profile", token="ada-full").json()
    one.ask("PATCH", "/v3/me/profile", json={"location": "Undone"}, token="ada-full")
    one.admin("PUT", "/limits/ada", {"limit": 700})
    one.admin("POST", "/reset")
    one.get("/v3/profiles/ada")
    assert other.admin("GET", "/changes") == one.admin("GET", "/changes")
    assert other.admin("GET", "/changes")["reaches"] == 1
    other.admin("POST", "/changes/rewind", {"request": 2})
    assert one.get("/v3/me/profile", token="ada-full").json() == before
    assert one.admin("GET", "/changes") == other.admin("GET", "/changes")


def test_numbers_go_on_where_a_world_is_reset_by_a_replica_that_lacks_the_last(
    replicas: Replicas,
) -> None:
    one, other = replicas
    one.get("/v3/profiles/ada")
    for _ in range(2):
        other.get("/v3/profiles/ada")
    one.admin("POST", "/reset")
    one.get("/v3/profiles/ada")
    assert [it["id"] for it in other.admin("GET", "/requests")["requests"]] == [4]

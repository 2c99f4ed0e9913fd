"""The target file of a recording names every role that was seen, so that all of it is compared."""

import tomllib
from typing import Any

from understudy.record.recorded_fixtures import target_file

PERSONS: dict[str, dict[str, Any]] = {
    "someone": {"emails": [{"email": "someone@example.com"}]},
    "own": {"emails": [{"email": "own@example.com"}, {"email": "own@example.org"}]},
    "other": {"emails": [{"email": "other@example.com"}]},
    "hidden": {"emails": [{"email": "hidden@example.com"}], "visibility": "private"},
}


def token(name, person, *scopes, kind="oauth"):
    return {"token": name, "person": person, "kind": kind, "scopes": list(scopes)}


TOKENS = [
    token("t-other", "other", "auth", "read", "manage"),
    token("t-own", "own", "auth", "read", "manage"),
    token("t-reader", "own", "auth", "read"),
    token("t-hidden", "hidden", "auth", "read"),
    token("t-key", "own", kind="api_key"),
]
ROLES = {
    "t-own": "owner",
    "t-reader": "reader",
    "t-other": "other",
    "t-hidden": "private",
    "t-key": "api_key",
}


def test_every_role_of_the_source_that_was_seen_is_named():
    assert tomllib.loads(target_file(TOKENS, ROLES, PERSONS)) == {
        "base_url": "http://127.0.0.1:8080/v3",
        "auth_url": "http://127.0.0.1:8081",
        "mode": "full",
        "credentials": {
            "access_token": "t-own",
            "read_only_token": "t-reader",
            "other_access_token": "t-other",
            "private_access_token": "t-hidden",
            "api_key": "t-key",
        },
        "known": {
            "slug": "own",
            "emails": ["own@example.com", "own@example.org"],
            "other_slug": "other",
            "other_emails": ["other@example.com"],
            "private_slug": "hidden",
            "people": ["someone"],
        },
    }


def test_the_token_with_the_most_scopes_is_the_own_one_where_the_source_names_none():
    settings = tomllib.loads(target_file(TOKENS, {}, PERSONS))
    assert settings["credentials"] == {
        "access_token": "t-other",
        "other_access_token": "t-own",
    }


def test_people_without_a_token_are_known_by_their_slugs():
    settings = tomllib.loads(target_file([], {}, PERSONS))
    assert "credentials" not in settings
    assert settings["known"]["slug"] == "someone"
    assert settings["known"]["people"] == ["own", "other"]

"""A deployment that evicts, truncates, forgets or limits: an account loses nothing by a run."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.proofs.hostile import WAYS, Hostile, belongings, harmed

from understudy.api.bundled_target import TARGET
from understudy.api.in_process import time_of
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.learner import Learnt, learn
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out

AVATARS = ("avatars-most", "upload-largest-side", "avatar-body-both-wrong", "upload-image-types")
TEXTS = ("job-title-length", "description-length", "scope-body-both-wrong")


Learn = Callable[..., Learnt]


@pytest.fixture
def learn_at(mock: Any, wire: Any, tmp_path: Path) -> Learn:
    def run(way: str, most: int, *rules: str, is_permitted: bool = True) -> Learnt:
        permit = replace(TARGET.permit, fill_account=is_permitted, long_texts=False)
        target = replace(TARGET, permit=permit, is_mock=False)
        time, journal = time_of(mock), tmp_path / "t.journal"
        hostile = Hostile(wire, way, most, now=time.now)
        allowance = Allowance(pause=timedelta(hours=2))
        deployment = Deployment(target, hostile, time, allowance, journal=journal)
        return learn(deployment, RunOptions(rules=rules))

    return run


@pytest.fixture
def account(wire: Any) -> Callable[[], Any]:
    """Returns what the owner would miss: texts, avatars, their pictures' colours, the selection."""
    return lambda: belongings(wire, TARGET.credentials.access_token)


@pytest.mark.parametrize("most", [2, 3])
@pytest.mark.parametrize("way", ["evicts", "forgets", "truncates"])
def test_nothing_is_lost_by_a_run_that_may_fill_the_account(
    way: str, most: int, learn_at: Learn, account: Any
) -> None:
    before = account()
    learn_at(way, most, *AVATARS)
    assert account() == before


@pytest.mark.parametrize("way", sorted({*WAYS} - {"evicts", "forgets", "truncates"}))
def test_nothing_is_lost_at_a_deployment_that_does_something_else(
    way: str, learn_at: Learn, account: Any
) -> None:
    before = account()
    learn_at(way, 3, "upload-square", "avatar-delete-status", *TEXTS)
    assert account() == before


def test_a_deletion_that_removes_other_avatars_is_the_last_change(learn_at: Learn) -> None:
    learnt = learn_at("deletes all for one", 3, "avatar-delete-status", "avatar-body-both-wrong")
    (why,) = [it.why for it in learnt.facts.unsettled]
    assert "is gone after one of its changes, so nothing more is changed" in why
    assert all("was uploaded again as" in line for line in learnt.outcome.not_restored)
    assert learnt.outcome.not_restored


def test_an_evicted_avatar_is_uploaded_again_and_said_to_have_another_identifier(
    learn_at: Learn, account: Any, tmp_path: Path
) -> None:
    before, number = account(), len(account()[1])
    learnt = learn_at("evicts", number, "avatars-most")
    assert account() == before
    (line,) = learnt.outcome.not_restored
    assert "its picture was uploaded again as" in line
    assert learn_at("evicts", number + 5, "avatar-delete-status").outcome.not_restored == ()
    assert [path.name for path in tmp_path.iterdir()] == ["t.journal.lock"]


def test_an_account_that_has_avatars_is_not_filled_up_without_permission(learn_at: Learn) -> None:
    (question,) = learn_at("evicts", 50, "avatars-most", is_permitted=False).facts.unsettled
    assert "[permit] fill_account = true" in question.why


def test_a_list_that_stops_to_grow_ends_the_search_and_is_said(learn_at: Learn) -> None:
    (question,) = learn_at("forgets", 8, "avatars-most").facts.unsettled
    assert "the list of avatars did not grow with an upload: it has 8" in question.why


def test_a_text_that_may_not_be_taken_back_is_not_replaced(
    learn_at: Learn, gateway: Any, account: Any
) -> None:
    client = ProbeClient(gateway(TARGET), "test")
    client.send("PATCH", "/me/profile", "owner", json={"description": "Map maker. " * 14})
    before = account()
    facts = learn_at("cuts texts", 50, *TEXTS).facts
    assert account() == before
    assert "description has 154 characters" in " ".join(each.why for each in facts.unsettled)


@pytest.mark.parametrize("way", ["cuts texts", "limits by the hour", "resets other members"])
def test_verify_loses_nothing_at_a_deployment_that_does_something_else_with_an_edit(
    way: str,
) -> None:
    assert harmed("verify", way, 50) == []


def test_what_no_client_can_undo_is_said_with_what_was_there(mock: Any, wire: Any) -> None:
    hostile = Hostile(wire, "edits every avatar")
    deployment = Deployment(replace(TARGET, is_mock=False), hostile, time_of(mock))
    outcome = carry_out(deployment, RunOptions(rules=("avatar-patch-partial",)))
    assert outcome.not_restored
    assert all(" and was rating " in line for line in outcome.not_restored)


def test_lists_of_a_profile_that_an_edit_empties_are_said_and_end_the_changes(
    mock: Any, wire: Any
) -> None:
    hostile = Hostile(wire, "empties lists")
    deployment = Deployment(replace(TARGET, is_mock=False), hostile, time_of(mock))
    rules = ("profile-patch-partial", "profile-patch-empty-unsets")
    outcome = carry_out(deployment, RunOptions(rules=rules))
    assert "interests: 0 of 2 left after a change of the run" in " ".join(outcome.not_restored)
    edits_and_restoring = 2
    assert hostile.edits <= edits_and_restoring

"""What is learnt of a deployment is true of it, and a change of it is found by verify."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import astuple
from tests.proofs import at_reference
from tests.proofs.controls import OWNERS, SWITCHES, at_random, lifted, options
from tests.proofs.learning import Fickle, judged, learnt, reference, score
from tests.proofs.reference.in_process import InProcess
from tests.proofs.reference.service import Options

from understudy.interface.facts import Facts, facts_text
from understudy.verify.deployment import Allowance
from understudy.verify.learner import learn
from understudy.verify.rules.bearer import SCOPE_RULES
from understudy.verify.run import RunOptions

FULL = {"most-avatars": "50"}
"""A number of avatars that a run uploads; larger ones are not settled."""

CHOICES = {**at_random(4), **FULL}
RATE_LIMITS = "rate-limits"
AT_THE_LIMIT = {RATE_LIMITS, "rate-limit-error"}
"""Switches that only a limit that is used up shows."""


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("facts") / "reference.facts.yaml"
    path.write_text(facts_text(learnt(CHOICES)), encoding="utf-8")
    return str(path)


def broken(choices: Mapping[str, str], facts: str, *rules: str) -> set[str]:
    return {finding.rule.id for finding in judged(choices, facts, *rules).findings}


def test_every_switch_but_that_of_limits_is_settled_and_the_mock_follows() -> None:
    choices = {**at_random(8), **FULL}
    result = score(choices, learnt(choices))
    assert (result.wrong, result.open, result.strays) == ({}, AT_THE_LIMIT, set())
    assert result.once == set()


def test_a_deployment_as_it_was_learnt_breaks_only_the_implied_rule_that_it_lifts(
    facts: str,
) -> None:
    assert broken(CHOICES, facts) == set(lifted(CHOICES)) - {OWNERS[RATE_LIMITS]}


@pytest.mark.parametrize("switch", sorted(set(SWITCHES) - AT_THE_LIMIT))
def test_a_deployment_that_changed_since_breaks_the_rule_of_the_fact(
    facts: str, switch: str
) -> None:
    rule = OWNERS[switch]
    other = next(o for name, o in options() if name == switch and o != CHOICES[switch])
    assert broken({**CHOICES, switch: other}, facts, rule) == {rule}


def test_a_number_says_what_was_tried_beside_it_and_what_that_cost() -> None:
    choices = {"avatar-upload-status": "200", "upload-largest": "1000000"}
    (fact,) = learnt(choices, "upload-size-limit").facts
    taken, refused = (each.partition(" # ")[2] for each in fact.shown_by)
    assert (taken, refused) == ("as owner: 200, at 1000000", "as owner: 413, at 1000001")
    assert fact.reading == "1000000"
    assert (fact.seen, fact.requests, fact.sure) == (4, 11, "seen twice")


def test_more_avatars_than_a_run_uploads_are_not_settled() -> None:
    facts = learnt({"most-avatars": "5000"}, "avatars-most")
    (question,) = facts.unsettled
    assert (facts.facts, question.rule) == ((), "avatars-most")
    assert question.why.endswith(" was accepted; a run uploads 100 avatars at most")


def learnt_of_a_fickle_one(rule: str, part: str, in_a_row: int) -> Facts:
    wire = Fickle(InProcess(Options(choices={"qr-largest-size": "2000"})), part, in_a_row)
    return learn(reference({}, wire=wire), RunOptions(rules=(rule,))).facts


@pytest.mark.parametrize(
    ("rule", "part", "in_a_row", "why"),
    [
        ("profile-private", "/profiles/tamsin-underleaf", 1, "404: .*; 403: "),
        ("scope-known", "authorize", 3, "as assumed, and then status 403"),
        ("qr-size-bounds", "size=2000", 1, "2000 was accepted and 2000 was refused"),
    ],
)
def test_an_answer_that_a_repetition_contradicts_is_not_settled(
    rule: str, part: str, in_a_row: int, why: str
) -> None:
    facts = learnt_of_a_fickle_one(rule, part, in_a_row)
    assert facts.facts == ()
    assert re.search(why, facts.unsettled[0].why)


def test_a_fact_for_whose_repetition_the_budget_does_not_reach_was_seen_once() -> None:
    deployment = replace(reference(CHOICES), allowance=Allowance(requests=3))
    (fact,) = learn(deployment, RunOptions(rules=("profile-private",))).facts.facts
    assert (fact.reading, fact.seen, fact.sure) == (
        CHOICES["private-profile-lookup"],
        1,
        "seen once",
    )


def test_a_facts_file_names_no_person_token_or_identifier_of_the_target(facts: str) -> None:
    text, target = Path(facts).read_text(encoding="utf-8"), at_reference.target()
    known = chain.from_iterable(
        [each] if isinstance(each, str) else each or () for each in astuple(target.known)
    )
    application = (target.application.client_id, target.application.username)
    private = {*target.secrets(), *known, *target.known.own_hashes, *filter(None, application)}
    assert private
    assert [each for each in private if each in text] == []


def test_a_second_run_shows_a_fact_by_the_same_commands() -> None:
    rules = ("avatar-delete-status", "avatar-upload-status")
    first, second = (learnt(CHOICES, *rules).facts for _ in range(2))
    assert first == second


def test_only_the_questions_that_are_named_are_settled() -> None:
    facts = learnt(CHOICES, "avatar-delete-status", "qr-unknown-hash")
    assert [fact.rule for fact in facts.facts] == ["qr-unknown-hash", "avatar-delete-status"]


def test_the_scopes_that_reading_needs_are_not_settled_where_no_scope_is_enforced() -> None:
    sends_revoked_token = "code-replay-revokes"
    learned = learnt({"scopes": "ignored"}, *SCOPE_RULES.values(), sends_revoked_token).facts
    assert [fact.rule for fact in learned] == [sends_revoked_token]


def test_the_code_of_a_request_over_the_limit_is_learnt_where_the_limit_may_be_used_up() -> None:
    deployment = reference({"rate-limit-error": "429 slow_down"})
    permit = msgspec.structs.replace(deployment.target.permit, exhaust_rate_limit=True)
    target = msgspec.structs.replace(deployment.target, permit=permit)
    (fact,) = learn(
        replace(deployment, target=target), RunOptions(rules=("error-rate-limit",))
    ).facts.facts
    assert (fact.reading, fact.sure) == ("429 slow_down", "seen once")

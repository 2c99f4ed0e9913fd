"""A finding says whether the same requests showed it again, and has the earlier ones that they need."""

import httpx
import pytest
from tests.proofs.mutants.callers import ASSOCIATED
from tests.proofs.mutants.edge import MUTANTS, Mutant, answer, at, query_of, said
from tests.proofs.mutants.runner import reproductions
from tests.proofs.mutants.verifying import verified

RULE = "associated-email"


def always():
    def change(request, send):
        response = send(request)
        is_asked = at(request, "GET", ASSOCIATED) and "email_hash" in query_of(request)
        return answer(response, body={"associated": "yes"}) if is_asked else response

    return change


def once():
    asked: list[httpx.Request] = []

    def change(request, send):
        response = send(request)
        if at(request, "GET", ASSOCIATED) and said(response).get("associated") and not asked:
            asked.append(request)
            return answer(response, body={"associated": False})
        return response

    return change


def after_another():
    """An own address is denied right after the question about another own one."""
    before: list[str] = []

    def change(request, send):
        response = send(request)
        if not at(request, "GET", ASSOCIATED):
            return response
        is_own, address = bool(said(response).get("associated")), str(request.url)
        is_after_own = bool(before) and before[0] != address
        before[:] = [address] if is_own else []
        return answer(response, body={"associated": False}) if is_own and is_after_own else response

    return change


@pytest.mark.parametrize(
    ("fault", "again", "steps"),
    [
        (always, "failed again", 1),
        (once, "the same requests did not fail again", 1),
        (after_another, "failed again with the requests before it", 2),
    ],
)
def test_a_finding_says_whether_the_same_requests_showed_it_again(fault, again, steps):
    outcome = verified(Mutant(fault.__name__, (RULE,), fault), (RULE,), is_mock=False)
    finding = outcome.findings[0]
    assert (finding.again, len(finding.steps)) == (again, steps)


def test_a_finding_whose_requests_are_not_permitted_any_more_says_why():
    name = "a_deletion_by_another_account_is_refused_and_carried_out"
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    outcome = verified(mutant, mutant.rules, is_mock=False)
    reasons = {finding.again.partition(": ")[0] for finding in outcome.findings}
    assert reasons == {"not sent again"}
    assert "nothing more is uploaded" in outcome.findings[0].again


def test_what_is_sent_once_more_is_counted_and_judged_by_nothing_else():
    mutant = Mutant("always", (RULE,), always)
    outcome = verified(mutant, (RULE,), is_mock=False)
    again = [each for each in outcome.exchanges if each.source == "finding shown again"]
    assert again
    assert sum(finding.count for finding in outcome.findings) + len(again) <= outcome.requests
    assert outcome.not_restored == ()


SAMPLE = (  # by name, so that a new mutant does not choose others
    "a_deletion_unselects_another_avatar_for_the_second_address",
    "head_has_no_content_at_all",
    "setting_for_the_first_address_sets_for_the_second",
)


@pytest.mark.parametrize("name", SAMPLE)
def test_the_printed_commands_show_every_finding_of_a_whole_run_again(name):
    assert [finding for finding, reason in reproductions(name) if reason] == []

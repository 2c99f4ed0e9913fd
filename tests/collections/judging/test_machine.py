"""The state machine finds what only another order of requests shows."""

from collections import Counter

import pytest
from tests.collections.judging.service import HARBOURS, NOTES, Service
from tests.collections.judging.verifying import deployed, verified

from understudy.collections.rules import INFERRED
from understudy.verify.run import RunOptions, start
from understudy.verify.scenarios import scenarios


class ForgetsTheThirdChangeOfAnItem(Service):
    """The fixed sequence changes each item twice at most."""

    def __init__(self):
        super().__init__()
        self.changes: Counter[str] = Counter()

    def update(self, who, path, identifier, sent):
        self.changes[identifier] += 1
        if self.changes[identifier] > 2:
            return self.read(who, path, identifier)
        return super().update(who, path, identifier, sent)


@pytest.fixture
def play():
    def play(service, document=NOTES):
        run = start(deployed(service, document), RunOptions(rules=tuple(INFERRED)))
        assert run.state is not None
        run.state.judge(run)
        found = [it.rule.id for it in run.evaluator.findings]
        scenarios(10)(run)
        return found, run.evaluator.findings[len(found) :]

    return play


@pytest.mark.parametrize("document", [NOTES, HARBOURS], ids=lambda path: path.stem)
def test_a_service_that_keeps_its_items_breaks_nothing_in_any_order(play, document):
    service = Service()
    assert play(service, document) == ([], [])
    assert not any(service.collections.values())


def test_what_only_another_order_shows_is_a_finding_of_the_few_requests_it_rests_on(play):
    service = ForgetsTheThirdChangeOfAnItem()
    before, (finding,) = play(service)
    assert before == []
    assert finding.rule.id == "inferred-update-merged"
    first, *changes, last = [step.request.method for step in finding.steps]
    assert (first, last) == ("POST", "GET")
    assert changes.count("PATCH") >= 3
    assert set(changes) <= {"PATCH", "GET"}
    assert len({step.value for step in finding.steps[1:]}) == 1
    assert not any(service.collections.values())


def test_what_the_fixed_sequence_has_shown_is_not_looked_for_again(play):
    class IgnoresPatch(Service):
        def update(self, who, path, identifier, sent):  # noqa: ARG002 - the method that it replaces
            return self.read(who, path, identifier)

    before, after = play(IgnoresPatch())
    assert before == ["inferred-update-merged"]
    assert after == []


def test_what_is_broken_below_an_item_is_looked_for_in_the_collection_of_the_item(monkeypatch):
    class ListsBerthsOfNoHarbour(Service):
        def listed(self, who, path, query):
            return [] if path.endswith("/berths") else super().listed(who, path, query)

    def play_items(_state, collection, known, *_numbers):
        played[collection.path] = known

    played: dict[str, frozenset[str]] = {}
    monkeypatch.setattr("understudy.collections.machine.play_items", play_items)
    verified(ListsBerthsOfNoHarbour(), HARBOURS, phases=(("scenarios", scenarios(1)),))
    assert played == {
        "/harbours": frozenset(),
        "/harbours/{harbourId}/berths": {"inferred-create-listed"},
    }


def test_a_scenario_that_the_budget_ends_prints_nothing_before_a_report(capsys):
    outcome = verified(Service(), requests=90, phases=(("scenarios", scenarios(10)),))
    assert any("scenario" in it.source for it in outcome.exchanges)
    assert capsys.readouterr().out == ""

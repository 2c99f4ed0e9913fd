"""Every inferred rule can fail: a service that breaks it is noted, and found where it is stated."""

from io import StringIO

import pytest
from rich.console import Console
from tests.collections.judging.mutants import MUTANTS, IgnoresPatch
from tests.collections.judging.service import HARBOURS, NOTES, Service
from tests.collections.judging.verifying import target, verified

from understudy.collections import judging
from understudy.collections.judging import judge_collection
from understudy.collections.rules import CERTAIN, INFERRED
from understudy.errors import StartupError
from understudy.reports.formats import FORMATS
from understudy.reports.terminal import print_report
from understudy.verify.reports import report_of


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.kind.__name__)
def test_a_mutant_breaks_its_rule_which_is_a_finding_where_http_says_so(mutant):
    outcome = verified(mutant.kind(), mutant.document, rules=INFERRED)
    of_rule = [it for it in (*outcome.findings, *outcome.notes) if it.rule.id == mutant.rule]
    assert of_rule
    assert {it.is_note for it in of_rule} == {mutant.rule not in CERTAIN}
    assert outcome.internal_errors == ()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.kind.__name__)
def test_it_is_a_finding_where_the_target_accepts_the_rule_as_stated(mutant):
    judged = target(accept_as_stated=(mutant.rule,))
    outcome = verified(mutant.kind(), mutant.document, judged, rules=(mutant.rule,))
    assert {finding.rule.id for finding in outcome.findings} == {mutant.rule}
    assert {it.status for it in outcome.rules if it.rule.id == mutant.rule} == {"failed"}


class DeletesOneCallersNotesForAnother(Service):
    def delete(self, who, path, identifier):
        owners = [who, *(it for it, at in self.collections if at == path)]
        return any(self.items(it, path).pop(identifier, None) is not None for it in owners)


class ReplacesOneCallersNotesForAnother(Service):
    def replace(self, who, path, identifier, sent):
        owners = (it for (it, at), items in self.collections.items() if identifier in items)
        return super().replace(next(owners, who), path, identifier, sent)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Service, set()),
        (DeletesOneCallersNotesForAnother, {"DELETE"}),
        (ReplacesOneCallersNotesForAnother, {"PUT"}),
    ],
)
def test_an_item_that_another_account_can_change_is_found(kind, expected):
    outcome = verified(kind(), judged=target(mode="full"), rules=("inferred-owner-only",))
    assert {it.exchange.request.method for it in outcome.findings} == expected
    assert outcome.not_restored == ()


class CountsReadsBeforeItShowsThem(Service):
    def read(self, who, path, identifier):
        item = super().read(who, path, identifier)
        if item is not None and "depth" in item:
            item = {**item, "depth": item["depth"] + 1}
            self.items(who, path)[identifier] = item
        return item


def test_a_member_that_changes_by_itself_is_no_finding_of_the_write_before_it():
    outcome = verified(CountsReadsBeforeItShowsThem(), HARBOURS, rules=INFERRED)
    broken = {it.rule.id for it in (*outcome.findings, *outcome.notes)}
    assert broken == {"inferred-read-repeatable"}


@pytest.mark.parametrize("document", [NOTES, HARBOURS], ids=lambda path: path.stem)
def test_the_service_itself_breaks_no_rule(document):
    outcome = verified(Service(), document)
    assert [it.summary for it in (*outcome.findings, *outcome.notes)] == []
    assert (outcome.not_restored, outcome.remaining, outcome.internal_errors) == ((), (), ())


@pytest.fixture(scope="module")
def found():
    rule = "inferred-update-merged"
    return verified(IgnoresPatch(), judged=target(accept_as_stated=(rule,)), rules=(rule,))


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"har"}))  # which has traffic alone
def test_every_report_names_the_rule(found, name):
    assert "inferred-update-merged" in FORMATS[name](report_of(found, target().secrets()))


def test_a_finding_has_one_fingerprint_in_every_run_so_that_a_baseline_can_accept_it(found):
    rule = "inferred-update-merged"
    again = verified(IgnoresPatch(), judged=target(accept_as_stated=(rule,)), rules=(rule,))
    assert {it.fingerprint for it in again.findings} == {it.fingerprint for it in found.findings}


def test_a_rule_that_is_not_inferred_cannot_be_accepted_as_stated():
    with pytest.raises(StartupError, match=r"accept_as_stated: there is no rule 'document'"):
        verified(Service(), judged=target(accept_as_stated=("document",)))


def test_verbose_output_has_the_commands_that_show_a_note():
    outcome = verified(IgnoresPatch(), rules=("inferred-update-merged",))
    printed = StringIO()
    report = report_of(outcome, target().secrets())
    print_report(Console(file=printed, width=200), report, is_verbose=True)
    assert "ITEM_1=/me/notes/$(curl" in printed.getvalue()


def test_a_collection_that_no_request_can_be_made_for_keeps_no_other_from_being_judged(monkeypatch):
    def judge(state, collection):
        if collection.path == "/harbours":
            msg = "#/paths is not a schema"
            raise StartupError(msg)
        judge_collection(state, collection)

    monkeypatch.setattr(judging, "judge_collection", judge)
    outcome = verified(Service(), HARBOURS, rules=INFERRED)
    ended = {it.rule.id: (it.status, it.reason) for it in outcome.rules}
    assert ended["inferred-replace-kept"] == ("passed", "")
    assert outcome.internal_errors == ()


def test_a_list_that_can_be_cut_and_has_no_next_page_is_not_judged_as_whole(tmp_path):
    document = tmp_path / "notes.yaml"
    offset = (
        "        - {name: offset, in: query, schema: {type: integer, minimum: 0, default: 0}}\n"
    )
    document.write_text(NOTES.read_text().replace(offset, ""))
    service = Service()
    assert verified(service, document, rules=INFERRED).notes == ()
    assert "offset" not in document.read_text()


def test_every_inferred_rule_that_a_document_has_the_operations_for_is_judged_and_has_a_mutant():
    judged = {
        (document.stem, it.rule.id)
        for document in (NOTES, HARBOURS)
        for it in verified(Service(), document, rules=INFERRED).rules
        if it.status == "passed"
    }
    names = ("counted", "limited", "filtered", "sorted", "defaulted")
    queries = {f"inferred-list-{it}" for it in names}
    others = {
        f"inferred-{it}"
        for it in (
            "update-merged",
            "singleton-kept",
            "create-defaulted",
            "create-guarded",
            "create-unique",
            "scope-needed",
        )
    }
    lacking = {
        "harbours": queries | others | {"inferred-match-obeyed"},
        "notes": {"inferred-parent-own", "inferred-parent-gone"},
    }
    assert judged == {
        (name, rule)
        for name in ("notes", "harbours")
        for rule in INFERRED.keys() - lacking.get(name, set())
    }
    assert INFERRED.keys() == {mutant.rule for mutant in MUTANTS}

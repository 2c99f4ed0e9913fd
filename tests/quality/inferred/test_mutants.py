"""Every inferred rule can fail: a service that breaks it is noted, and found where it is stated."""

import pytest
from tests.quality.inferred.mutants import MUTANTS
from tests.quality.inferred.service import HARBOURS, NOTES, Service
from tests.quality.inferred.verifying import target, verified

from understudy.verify.inferred_rules import INFERRED


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.kind.__name__)
def test_a_mutant_is_noted_by_the_rule_that_it_breaks(mutant):
    outcome = verified(mutant.kind(), mutant.document, rules=INFERRED)
    assert mutant.rule in {note.rule.id for note in outcome.notes}
    assert outcome.findings == ()
    assert outcome.internal_errors == ()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.kind.__name__)
def test_it_is_a_finding_where_the_target_accepts_the_rule_as_stated(mutant):
    judged = target(accept_as_stated=(mutant.rule,))
    outcome = verified(mutant.kind(), mutant.document, judged, rules=(mutant.rule,))
    assert {finding.rule.id for finding in outcome.findings} == {mutant.rule}
    assert {it.status for it in outcome.rules if it.rule.id == mutant.rule} == {"failed"}


@pytest.mark.parametrize("document", [NOTES, HARBOURS], ids=lambda path: path.stem)
def test_the_service_itself_breaks_no_rule(document):
    outcome = verified(Service(), document)
    assert [it.summary for it in (*outcome.findings, *outcome.notes)] == []
    assert (outcome.not_restored, outcome.remaining, outcome.internal_errors) == ((), (), ())


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
    lacking = {"harbours": {"inferred-update-merged", "inferred-singleton-kept"}}
    assert judged == {
        (name, rule)
        for name in ("notes", "harbours")
        for rule in INFERRED.keys() - lacking.get(name, set())
    }
    assert INFERRED.keys() == {mutant.rule for mutant in MUTANTS}

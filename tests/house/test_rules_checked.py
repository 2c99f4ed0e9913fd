"""Every rule has a check that can judge it, or stands in the table of those that nobody can."""

from understudy.collections.rules import INFERRED
from understudy.verify import rules
from understudy.verify.catalogue import catalogue
from understudy.verify.checks import CHECKS
from understudy.verify.evaluator import UNJUDGED
from understudy.verify.probing import PROBES

OWN = {"answers", "document", "generated"}
"""Rules of verify itself, which are in no catalogue."""

RULES = (
    set(catalogue()) - OWN - set(INFERRED)
)  # tests/collections/judging holds those of any document
CHECKED = {rule for registered in CHECKS for rule in registered.rules}
PROBED = {rule for probe in PROBES for rule in probe.rules}


def test_every_rule_has_a_check_or_a_reason():
    assert rules.SECTIONS
    assert CHECKED | set(UNJUDGED) == RULES
    assert CHECKED & set(UNJUDGED) == set()


def test_every_rule_with_a_check_has_a_probe_that_gives_it_an_occasion():
    assert set() == CHECKED - PROBED
    assert set() == PROBED - CHECKED


def test_every_probe_has_a_name_of_its_own_and_says_what_it_does():
    names = [probe.name for probe in PROBES]
    assert len(set(names)) == len(names)
    assert [probe.name for probe in PROBES if not probe.run.__doc__] == []

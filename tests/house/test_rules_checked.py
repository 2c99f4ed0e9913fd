"""Every rule is whole: what judges it, what shows it, and a mutant that proves that it can fail.

One test says everything that a rule lacks, so that nobody adds its parts one failure at a time.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress

from msgspec.structs import replace
from tests.house.documentation import ROOT
from tests.proofs.mutants import verifying
from tests.proofs.mutants.edge import MUTANTS
from tests.verify.reduced import reduced

from understudy.api import in_process
from understudy.collections.rules import INFERRED
from understudy.mock.service.own_profile import LONGEST
from understudy.verify import rules  # noqa: F401 - registers every check and probe
from understudy.verify.catalogue import catalogue
from understudy.verify.checks import CHECKS
from understudy.verify.deployment import Deployment
from understudy.verify.evaluator import UNJUDGED
from understudy.verify.ledger import Ledger
from understudy.verify.permits import Refusal
from understudy.verify.probe_client import MissingNeedError, ProbeClient
from understudy.verify.probing import PROBES, Probe, measured
from understudy.verify.run import gateway_of
from understudy.verify.shapes import bundled
from understudy.verify.switches import NUMBER_READINGS, READINGS

LOADED = verifying.MODULES
"""Named, so that importing this registers every check, probe, reading and mutant."""

OWN = {"answers", "document", "generated", "plain-errors"}
"""Rules of verify itself, which are in no catalogue.

The service of this interface is not judged by ``plain-errors``; tests/proofs/field breaks it.
"""

RULES = {
    name: rule
    for name, rule in catalogue().items()
    if name not in OWN | set(INFERRED)  # tests/proofs/inferred holds those of any document
}
CHECKED = {rule for registered in CHECKS for rule in registered.rules}
PROBED = {rule for probe in PROBES for rule in probe.rules}
READ = {reading.rule for reading in READINGS} | {reading.rule for reading in NUMBER_READINGS}
BROKEN = {rule for mutant in MUTANTS for rule in mutant.rules}


def test_every_rule_is_whole():
    named = {*RULES, *CHECKED, *PROBED, *READ, *BROKEN, *UNJUDGED} - OWN - set(INFERRED)
    lacking = {name: list(missing(name)) for name in sorted(named)}
    assert {name: parts for name, parts in lacking.items() if parts} == {}


def missing(name: str) -> Iterator[str]:
    """Yields every part that a rule lacks, in words that say where it is added."""
    probes = [probe for probe in PROBES if name in probe.rules]
    if name not in RULES:
        yield "an entry in openapi/rules.yaml"
    elif (switch := RULES[name].switch) is not None:
        yield from missing_of_switch(name, switch.name)
    if name in UNJUDGED:
        return
    if name not in CHECKED:
        yield "a check in verify/rules, or a reason in UNJUDGED"
    if not probes:
        yield "a probe in verify/rules"
    if name not in BROKEN:
        yield "a mutant in tests/proofs/mutants"
    for probe in probes:
        yield from missing_of_probe(probe)


def missing_of_switch(rule: str, name: str) -> Iterator[str]:
    """Yields what a switch lacks: a reading, and the code that obeys it in mock and reference."""
    if rule not in READ:
        yield "a reading of its switch, in verify/rules"
    for place, text in OBEYING.items():
        if f'"{name}"' not in text and name not in LONGEST.values():
            yield f"code that obeys the switch {name}, in {place}"


def missing_of_probe(probe: Probe) -> Iterator[str]:
    """Yields what a probe lacks: its measure, and what it uses of a target without naming it."""
    if probe.name not in measured():
        yield f"the parts of the probe {probe.name} in schedule.json (make schedule)"
    if probe.name not in _NEEDS:
        target = reduced(probe.needs)
        try:
            with in_process.InProcess(MOCK) as wire, suppress(Refusal):
                deployment = Deployment(target, wire, in_process.time_of(MOCK))
                ledger = Ledger(None, deployment.time.now())
                gateway = gateway_of(deployment, bundled("service.yaml"), ledger)
                list(probe.steps(ProbeClient(gateway, f"probe {probe.name}")))
            _NEEDS[probe.name] = ""
        except MissingNeedError as error:
            _NEEDS[probe.name] = f"probe {probe.name}: {error}"
    if _NEEDS[probe.name]:
        yield _NEEDS[probe.name]


OBEYING = {
    place: "".join(path.read_text() for path in sorted((ROOT / place).rglob("*.py")))
    for place in ("src/understudy/mock", "tests/proofs/reference")
}
"""Where each option of a switch is obeyed, to the code that stands there."""

MOCK = in_process.mock()
_NEEDS: dict[str, str] = {}


def test_every_probe_has_a_name_of_its_own_and_says_what_it_does():
    names = [probe.name for probe in PROBES]
    assert len(set(names)) == len(names)
    assert [probe.name for probe in PROBES if not probe.run.__doc__] == []


def test_everything_that_a_new_rule_lacks_is_said_at_once(monkeypatch):
    def lookup(client: ProbeClient) -> None:
        client.get(f"/profiles/{client.known.slug}")

    hasty = Probe("hasty", ("brand-new",), (), (), lookup)
    monkeypatch.setattr(sys.modules[__name__], "PROBES", [hasty])
    switched = RULES["avatar-email-status"]
    assert switched.switch is not None
    switch = replace(switched.switch, name="brand-newer")
    monkeypatch.setitem(RULES, "brand-new", replace(switched, switch=switch))
    assert list(missing("brand-new")) == [
        "a reading of its switch, in verify/rules",
        "code that obeys the switch brand-newer, in src/understudy/mock",
        "code that obeys the switch brand-newer, in tests/proofs/reference",
        "a check in verify/rules, or a reason in UNJUDGED",
        "a mutant in tests/proofs/mutants",
        "the parts of the probe hasty in schedule.json (make schedule)",
        "probe hasty: the target gives no slug; add 'slug' to the needs of the probe",
    ]
    monkeypatch.delitem(RULES, "brand-new")
    assert list(missing("brand-new"))[:2] == [
        "an entry in openapi/rules.yaml",
        "a check in verify/rules, or a reason in UNJUDGED",
    ]

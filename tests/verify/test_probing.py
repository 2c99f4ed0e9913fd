"""The order of the probes, and that what they declare of themselves is what a run comes to."""

from collections import Counter

import pytest
from msgspec.structs import replace

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.deployments.deployment import Deployment
from understudy.deployments.exchange import Exchange
from understudy.verify import runner
from understudy.verify.gateway import BOOKKEEPING
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Part, Probe, in_order, turns
from understudy.verify.run import RunOptions, start


def a_probe(name, *parts, needs=()):
    return Probe(name, parts, needs, lambda _visit: None)


def names(probes):
    """Returns whose turn it is, where every probe has just the parts that it declares."""
    over: set[str] = set()
    left = Counter({probe.name: len(probe.parts) for probe in probes})
    found = []
    for probe in turns(probes, over):
        found.append(probe.name)
        left[probe.name] -= 1
        if not left[probe.name]:
            over.add(probe.name)
    return found


def test_what_settles_most_for_a_request_comes_first():
    dear = a_probe("dear", Part(("a", "b", "c"), 4))
    cheap = a_probe("cheap", Part(("d",), 1))
    assert names([dear, cheap]) == ["cheap", "dear"]


def test_a_rule_that_was_asked_gives_way_to_one_that_was_not():
    twice = a_probe("twice", Part(("a", "b"), 1), Part(("a", "b"), 1))
    once = a_probe("once", Part(("c",), 1))
    assert names([twice, once]) == ["twice", "once", "twice"]


def test_a_dull_part_is_sent_for_what_comes_after_it():
    rich = a_probe("rich", Part((), 1), Part(("a", "b", "c", "d"), 1))
    plain = a_probe("plain", Part(("e",), 1))
    assert names([plain, rich]) == ["rich", "rich", "plain"]


def test_what_writes_gives_way_and_what_moves_time_comes_last():
    writing = a_probe("writing", Part(("a",), 1), needs=("writes",))
    ageing = a_probe("ageing", Part(("b", "c", "d"), 1), needs=("clock",))
    reading = a_probe("reading", Part(("e",), 1))
    assert names([ageing, writing, reading]) == ["reading", "writing", "ageing"]
    assert [probe.name for probe in in_order([ageing, writing, reading])] == [
        "reading",
        "writing",
        "ageing",
    ]


def test_a_probe_that_turns_out_to_be_over_has_no_further_turn():
    short = a_probe("short", Part(("a",), 1), Part(("b",), 1))
    assert [probe.name for probe in turns([short], {"short"})] == ["short"]


@pytest.fixture(scope="module")
def taken():
    """Returns what each part declares, what it sent, and what it settled, in a run on the mock."""
    mock = in_process.mock()
    wire = in_process.InProcess(mock)
    target = replace(TARGET, permit=replace(TARGET.permit, exhaust_rate_limit=False))
    run = start(Deployment(target, wire, in_process.time_of(mock)), RunOptions())
    found = []
    done: Counter[str] = Counter()

    def watched(probes, over):
        for probe in turns(probes, over):
            before, sent = asked(run), len(run.exchanges)
            yield probe
            settled = {rule for rule, times in asked(run).items() if times > before.get(rule, 0)}
            own = [each for each in run.exchanges[sent:] if each.source not in BOOKKEEPING]
            part = probe.parts[done[probe.name]] if done[probe.name] < len(probe.parts) else None
            done[probe.name] += 1
            found.append((f"{probe.name} {done[probe.name]}", part, len(own), settled))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "turns", watched)
        runner.run_phases(run)
    wire.close()
    return found


def asked(run):
    return {rule: said.checks for rule, said in run.evaluator.json_object.items()}


def test_every_part_sends_as_much_as_it_declares(taken):
    wrong = {name: sent for name, part, sent, _ in taken if sent != (part.cost if part else 0)}
    assert wrong == {}


def test_every_part_settles_what_it_declares(taken):
    wrong = {name: set(part.rules) - settled for name, part, _, settled in taken if part}
    assert {name: rules for name, rules in wrong.items() if rules} == {}


def test_every_rule_is_settled_first_by_a_part_that_declares_it(taken):
    known = {"answers", "document"}
    wrong: dict[str, set[str]] = {}
    for name, part, _, settled in taken:
        first = settled - known - set(part.rules if part else ())
        known |= settled
        wrong |= {name: first} if first else {}
    assert wrong == {}


def test_what_was_read_is_recalled_until_something_is_written(gateway, wire):
    gate = gateway()
    earlier: list[Exchange] = []
    gate.listeners.append(earlier.append)
    visit = ProbeClient(gate, "test", earlier)
    first = visit.recall("/me/profile", "owner")
    assert visit.recall("/me/profile", "owner") is first
    assert visit.recall("/me/profile", "reader") is not first
    visit.send("PATCH", "/me/profile", "owner", json={})
    assert visit.recall("/me/profile", "owner") is not first
    assert visit.recall("/me/profile", "owner", is_lasting=True) is not first
    assert visit.recall("/me/profile", "reader", is_lasting=True).identity.name == "reader"
    assert [request.method for request in wire.seen] == ["GET", "GET", "PATCH", "GET"]

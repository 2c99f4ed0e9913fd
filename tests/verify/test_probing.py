"""The order in which the parts of probes are sent, and what a probe need not ask again."""

import sys
from collections import Counter

import pytest
from tests.verify.reduced import reduced

from understudy.exchange.messages import Exchange
from understudy.verify import rules  # noqa: F401 - registers every check and probe
from understudy.verify.probe_client import MissingNeedError, ProbeClient
from understudy.verify.probing import Probe, ProbePart, in_order, order_of_parts
from understudy.verify.target import CREDENTIALS


def a_probe(name, *parts, needs=()):
    return Probe(name, (), parts, needs, lambda _client: None)


def names(probes):
    """Returns whose turn it is, where every probe has just the parts that it declares."""
    over: set[str] = set()
    left = Counter({probe.name: len(probe.parts) for probe in probes})
    found = []
    for probe in order_of_parts(probes, over):
        found.append(probe.name)
        left[probe.name] -= 1
        if not left[probe.name]:
            over.add(probe.name)
    return found


def test_what_settles_most_for_a_request_comes_first():
    dear = a_probe("dear", ProbePart(("a", "b", "c"), 4))
    cheap = a_probe("cheap", ProbePart(("d",), 1))
    assert names([dear, cheap]) == ["cheap", "dear"]


def test_a_rule_that_was_asked_gives_way_to_one_that_was_not():
    twice = a_probe("twice", ProbePart(("a", "b"), 1), ProbePart(("a", "b"), 1))
    once = a_probe("once", ProbePart(("c",), 1))
    assert names([twice, once]) == ["twice", "once", "twice"]


def test_a_dull_part_is_sent_for_what_comes_after_it():
    rich = a_probe("rich", ProbePart((), 1), ProbePart(("a", "b", "c", "d"), 1))
    plain = a_probe("plain", ProbePart(("e",), 1))
    assert names([plain, rich]) == ["rich", "rich", "plain"]


def test_what_moves_time_comes_last():
    ageing = a_probe("ageing", ProbePart(("b", "c", "d"), 1), needs=("clock",))
    reading = a_probe("reading", ProbePart(("e",), 1))
    assert names([ageing, reading]) == ["reading", "ageing"]
    assert [probe.name for probe in in_order([ageing, reading])] == ["reading", "ageing"]


def test_a_probe_that_only_recalls_responses_is_in_the_order_too():
    recalling, reading = a_probe("recalling"), a_probe("reading", ProbePart(("e",), 1))
    assert [probe.name for probe in in_order([recalling, reading])] == ["reading", "recalling"]


def test_what_few_parts_settle_comes_before_what_many_settle():
    common = [a_probe(f"common {number}", ProbePart(("a",), 1)) for number in range(3)]
    rare = a_probe("rare", ProbePart(("b",), 1))
    assert names([*common, rare])[0] == "rare"


@pytest.mark.parametrize(
    "noted", ["checks.error_no_token__expect_form_0", "authorize.refusal_is_a_page"]
)
def test_a_check_that_can_make_a_finding_comes_before_one_that_can_only_note(noted):
    noting = a_probe("noting", ProbePart((noted,), 1))
    finding = a_probe("finding", ProbePart(("qr_codes.code_is_png",), 1))
    assert names([noting, finding]) == ["finding", "noting"]


def test_a_probe_that_turns_out_to_be_over_has_no_further_turn():
    short = a_probe("short", ProbePart(("a",), 1), ProbePart(("b",), 1))
    assert [probe.name for probe in order_of_parts([short], {"short"})] == ["short"]


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


def test_a_probe_that_lacks_a_need_is_an_internal_error_and_sends_nothing(
    verify, wire, monkeypatch
):
    def run(client: ProbeClient) -> None:
        client.get(f"/profiles/{client.known.slug}")

    hasty = Probe("hasty", ("qr-default-size",), (), (), run)
    monkeypatch.setattr(sys.modules[Probe.__module__], "PROBES", [hasty])
    outcome = verify(target=reduced(()), rules=("qr-default-size",))
    assert outcome.internal_errors == (
        "probe hasty: MissingNeedError: the target gives no slug; add 'slug' to the needs of the probe",
    )
    assert wire.seen == []


@pytest.mark.parametrize("who", sorted(CREDENTIALS))
def test_a_credential_that_is_not_given_is_not_taken_for_a_token(who, gateway, wire):
    client = ProbeClient(gateway(reduced(())), "test")
    with pytest.raises(MissingNeedError, match=f"gives no {who}; add"):
        client.get("/me/profile", who)
    assert wire.seen == []


def test_a_parameter_without_a_value_is_not_sent(gateway, wire):
    client = ProbeClient(gateway(reduced(())), "test")
    with pytest.raises(MissingNeedError, match="gives no client_id"):
        client.get("/openapi", query={"client_id": client.app.client_id})
    assert wire.seen == []

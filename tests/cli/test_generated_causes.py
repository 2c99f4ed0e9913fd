"""Failures of ``generate --send`` are told by their causes, with the smallest request of each."""

from dataclasses import replace
from itertools import islice

from understudy.cases.selection import edge_cases
from understudy.cli.generate import Tally


def test_failures_of_one_cause_are_one_line_and_a_crash_has_one_cause_whatever_the_place():
    cases = list(islice(edge_cases("getQrCode", kind="valid"), 6))
    crashes = [replace(it, outcome="failed: answered 500, expected 2XX") for it in cases[:4]]
    refused = [replace(it, outcome="failed: answered 400, expected 2XX") for it in cases[4:]]
    tally = Tally()
    assert len(list(tally.through([*crashes, *refused], only_failing=False))) == 6
    assert tally.causes["getQrCode answered 500"][0] == 4
    assert sum(number for number, _ in tally.causes.values()) == 6
    smallest = tally.causes["getQrCode answered 500"][1]
    assert len(smallest.request.target) == min(len(it.request.target) for it in crashes)

"""One fault is one cause: what follows from it vanishes where it is repaired, and what does not stays."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from itertools import count
from unittest.mock import patch

import httpx
import pytest
from tests.proofs.mutants import verifying
from tests.proofs.mutants.edge import MUTANTS, Change, Edge, path_of
from tests.proofs.mutants.verifying import verified

from understudy.verify.reports import FindingsOfCause, by_cause

BY_NAME = {mutant.name: mutant for mutant in MUTANTS}


def causes(*names: str) -> Sequence[tuple[str, set[str]]]:
    """Returns the causes that verify finds where some mutants stand one behind the other."""
    found = found_by((), *(BY_NAME[name].make for name in names))
    return [(it.findings[0].rule.id, {each.rule.id for each in it.consequences}) for it in found]


def found_by(rules: Sequence[str], *makes: Callable[[], Change]) -> Sequence[FindingsOfCause]:
    """Returns the causes that verify finds by some rules behind these deviations."""

    @contextmanager
    def deployed(_mutant, seed, served):
        served.mock.world.become(served.beginning._replace(seed=seed))
        wire = served.wire
        for make in makes:
            wire = Edge(wire, make())
        yield wire

    with patch.object(verifying, "deployed", deployed):
        outcome = verified(None, rules, is_hour=True, is_mock=False)
    return by_cause(outcome.findings, outcome.roots)


@pytest.mark.parametrize(
    ("mutant", "rule", "following"),
    [
        ("QR code as plain text", "qr-png", {"document", "error-shape", "head-like-get"}),
        ("a patched avatar without image_url", "avatar-members", {"avatar-urls-resolve"}),
        ("an uploaded avatar with image_id as 7", "avatar-members", {"avatar-delete-no-content"}),
        ("profile with description as 7", "profile-required-members", {"own-profile-is-full"}),
        (
            "contact_info is kept from the own profile",
            "own-profile-is-full",
            {"profile-patch-seven-fields"},
        ),
    ],
)
def test_what_vanishes_where_the_cause_is_repaired_follows_from_it(mutant, rule, following):
    ((head, consequences),) = causes(mutant)
    assert head == rule
    assert following <= consequences


def test_two_faults_of_one_run_stay_two_causes():
    found = dict(causes("a patched avatar without image_url", "deletions_answer_with_json"))
    assert found.keys() == {"avatar-members", "avatar-delete-no-content"}


def test_two_faults_of_the_same_responses_stay_two_causes():
    found = dict(causes("profile with description as 7", "profile with registration_date as 7"))
    assert found.keys() >= {"profile-required-members", "profile-optional-types"}


def by_path(request):
    return path_of(request)


def by_url(request):
    return str(request.url)


def by_path_and_caller(request):
    return path_of(request), request.headers.get("authorization")


def by_url_and_caller(request):
    return str(request.url), request.headers.get("authorization")


@pytest.mark.parametrize(
    ("key", "seconds", "requests", "cache_control", "words"),
    [
        (by_path, None, None, None, "of the same path, whoever asks"),
        (by_path_and_caller, None, None, None, "by the same caller, whatever the parameters"),
        (by_url, None, 8, "private, max-age=60", "of the same URL, whoever asks"),
        (by_url_and_caller, 60, None, "private, max-age=60", "of the same read before a change"),
    ],
)
def test_a_cache_is_one_cause_in_words(key, seconds, requests, cache_control, words):
    def make():
        kept: dict[object, tuple[httpx.Response, float]] = {}
        sent = count(1)

        def cached(request, send):
            if request.method != "GET" or "oauth2" in str(request.url):
                return send(request)
            if requests and next(sent) % requests == 0:
                kept.clear()
            response, since = kept.get(key(request), (None, 0.0))
            now = verifying.MOCK.world.clock.now().timestamp()
            if response is None or (seconds and now - since >= seconds):
                response = send(request)
                response.read()
                if cache_control:
                    response.headers["cache-control"] = cache_control
                if response.status_code == httpx.codes.OK:
                    kept[key(request)] = response, now
            return response

        return cached

    (cause,) = found_by(READ, make)
    assert words in cause.heading({})
    assert {*CHANGED} <= cause.rules


CHANGED = (
    "profile-patch-seven-fields",
    "profile-patch-empty-unsets",
    "avatar-upload-returns-avatar",
)
READ = (
    *CHANGED,
    *(
        "own-profile-is-full",
        "me-needs-oauth-token",
        "avatar-list-of-caller",
        "profile-required-members",
    ),
    *("qr-default-size", "qr-size-exact"),
)

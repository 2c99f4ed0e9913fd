"""Same seed, same bytes; and what the cases of an operation are made of."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations, islice

import pytest
from tests.cases.conftest import plans

from understudy.cases.drafts import dumps
from understudy.cases.model import Case
from understudy.cases.mutations import Mutation
from understudy.cases.plans import body_of
from understudy.cases.selection import KINDS, cases
from understudy.generate.formats.export import ExportSettings
from understudy.generate.formats.jsonl import as_json
from understudy.interface.rules import load_rules
from understudy.openapi.bundled import openapi_directory

pytestmark = pytest.mark.usefixtures("unmeasured")

PLANS = {plan.name: plan for plan in plans()}
JOB = ExportSettings(
    {"resource": "http://127.0.0.1:8080/v3", "authorization": "http://127.0.0.1:8081"}
)
DIGEST = "d7dc77f58cccc3d128d37c4053ab7a4960435a80fb651001e308dffeed68a1cf"
"""Changes with the catalogue and the documents (and with Pillow, which generators the JPEGs): then it is
to be taken from one Python, and to hold under the others."""


def some(name: str, count: int, seed: int = 0) -> list[Case]:
    return list(islice(cases(PLANS[name], seed, KINDS), count))


def never() -> list[Mutation]:
    pytest.fail("made, and not needed")


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_first_case_of_an_operation_is_made_before_any_mutation(plan):
    lazy = replace(plan, make_mutations=never, make_generators=never)
    assert next(cases(lazy, 0, KINDS)).category == "plain"


def test_the_sample_of_a_schema_is_made_once_and_no_mutation_changes_it():
    context = PLANS["updateOwnProfile"].context
    schema = body_of(context.operation)[1]
    assert schema is not None
    sample = context.values.sample(schema)
    before = dumps(sample)
    for mutation in PLANS["updateOwnProfile"].mutations:
        mutation.apply(context.plain._replace(json=sample, has_json=True)).request()
    assert context.values.sample(schema) is sample
    assert dumps(sample) == before


@cache
def digest() -> str:
    digested = hashlib.sha256()
    for name in PLANS:
        for case in some(name, 500):
            digested.update(dumps(as_json(case, JOB)).encode())
    return digested.hexdigest()


def test_the_same_seed_gives_the_same_bytes_under_another_hash_order():
    program = "from tests.cases.test_stream import digest; print(digest())"
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == digest()


def test_the_bytes_are_those_of_every_python():
    assert digest() == DIGEST


def test_another_seed_gives_other_cases_and_the_same_request_keeps_its_id():
    one, other = some("getQrCode", 300, seed=1), some("getQrCode", 300, seed=2)
    assert [case.id for case in one] != [case.id for case in other]
    requests = {case.request: case.id for case in one}
    shared = [case for case in other if case.request in requests]
    assert shared
    assert all(requests[case.request] == case.id for case in shared)


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_only_the_wanted_kind_comes(kind):
    found = list(islice(cases(PLANS["updateOwnProfile"], 0, frozenset({kind})), 300))
    assert Counter(case.kind for case in found) == {kind: 300}


def test_every_pair_of_options_is_in_some_case():
    plan = PLANS["getQrCode"]
    base = plan.context.plain
    options = [
        mutation
        for mutation in plan.mutations
        if mutation.is_option and mutation.apply(base) != base
    ]
    wanted = {
        frozenset({a.description, b.description}) for a, b in combinations(options, 2) if a.fits(b)
    }
    seen: set[frozenset[str]] = set()
    for case in islice(cases(plan, 0, frozenset({"valid"})), 900):
        seen |= {frozenset(pair) for pair in combinations(case.description.split("; "), 2)}
    assert len(wanted) > 70
    assert wanted - seen == set()


def test_what_makes_a_case_nasty_is_said_first():
    for case in some("uploadAvatar", 400):
        assert case.description
        assert case.expected.because
        if case.kind == "invalid":
            assert case.touched[0][0] == case.part


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("updateOwnProfile", "display_name: 10,000 characters where no limit is declared"),
        ("updateOwnProfile", "location: emoji with joiners"),
        ("updateOwnProfile", "pronouns: null instead of string"),
        ("authorize", "scope: scope[1] without scope[0]"),
        ("authorize", "redirect_uri: the registered one with a slash at the end"),
        ("uploadAvatar", "data: a JPEG with a PNG's name"),
        ("uploadAvatar", "data: a bomb: 400 million pixels in 50 KB"),
        ("uploadAvatar", "multipart: a part type with a stray semicolon"),
        ("getProfile", "profileIdentifier: the MD5 of the e-mail"),
        ("getProfile", "profileIdentifier: a slug that looks like a hash"),
        ("getQrCode", "size: 2049, with maximum 2048"),
        ("listAvatars", "Authorization: two headers with two tokens"),
        ("issueToken", "client credentials as HTTP Basic"),
    ],
)
def test_the_field_s_experience_is_among_the_cases(name: str, description: str):
    assert description in {mutation.description for mutation in PLANS[name].mutations}


def test_no_case_holds_a_secret():
    text = "".join(repr(case) for name in PLANS for case in some(name, 400))
    for secret in ("ada-full", "server-app-secret", "ada-password", "ada-expired"):
        assert secret not in text
    assert "~~TOKEN~~" in text


def test_every_reason_is_a_rule_of_the_catalogue_or_stands_in_the_document():
    rules = {f"rule {rule.id}" for rule in load_rules(openapi_directory() / "rules.yaml")}
    for name, plan in PLANS.items():
        reasons = {case.expected.because for case in some(name, 700)}
        pointers = {reason for reason in reasons if reason.startswith("#")}
        assert {plan.existing_pointer(pointer) for pointer in pointers} == pointers
        assert "#" not in pointers
        named = {reason for reason in reasons if reason.startswith("rule ")}
        assert named - rules == set()
        others = reasons - pointers - named
        assert [
            reason for reason in others if not reason.startswith(("RFC ", "the interface"))
        ] == []

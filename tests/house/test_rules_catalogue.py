"""Holds ``rules.yaml`` to the interface's headings, and to its own form."""

import re
from pathlib import Path

import pytest

import understudy
from understudy.interface.rules import load_rules, switches

SOURCES = Path(understudy.__file__).parent
OPENAPI = Path(__file__).parents[2] / "openapi"

HEADINGS = [
    "What the service does",
    "Resources and their fields",
    "Profile",
    "VerifiedAccount",
    "Link",
    "Interest",
    "Language (authenticated-only)",
    "GalleryImage (authenticated-only)",
    "Payments (authenticated-only)",
    "CryptoWalletAddress",
    "ContactInfo (authenticated-only)",
    "Avatar",
    "Rating",
    "AssociatedResponse",
    "Error",
    "States and transitions",
    "Endpoints",
    "Public and optionally authenticated",
    "Authenticated avatar operations (bearer OAuth token)",
    "Authenticated own-profile operations (bearer OAuth token)",
    "Authorization-server endpoints (at {auth_url})",
    "Authentication",
    "Bearer tokens",
    "Authorization request",
    "Code grant (server authentication)",
    "Token grant (client authentication)",
    "Token validation",
    "Password grant (testing)",
    "Events",
    "Errors",
    "Limits",
    "Versioning",
]


@pytest.fixture
def rules():
    return load_rules(OPENAPI / "rules.yaml")


def test_the_catalogue_covers_the_interface(rules):
    assert len(rules) >= 110
    assert {rule.held_by for rule in rules} == {"document", "mock", "authorization"}


def test_rules_stand_in_the_order_of_the_interface_and_under_its_headings(rules):
    assert {rule.section for rule in rules} <= set(HEADINGS)
    places = [HEADINGS.index(rule.section) for rule in rules]
    assert places == sorted(places)


def test_a_statement_is_one_sentence_of_its_own(rules):
    statements = [rule.statement for rule in rules]
    assert len(set(statements)) == len(statements)
    assert [
        text for text in statements if not re.fullmatch(r"[A-Z][^.]*(\.\d[^.]*)*\.", text)
    ] == []


def test_the_code_compares_a_switch_with_none_but_its_options(rules):
    named = switches(rules)
    code = "".join(path.read_text() for path in SOURCES.rglob("*.py"))
    compared = re.findall(r'choices\.get\(\s*"([a-z-]+)"[^)]*\)\s*[!=]= "([^"]+)"', code)
    compared += re.findall(r'_when\("([a-z-]+)", "([^"]+)"\)', code)
    assert len(compared) > 10
    assert [(name, option) for name, option in compared if option not in named[name].options] == []


def test_the_default_of_a_switch_is_its_first_option(rules):
    assert all(switch.default == next(iter(switch.options)) for switch in switches(rules).values())

"""Holds ``rules.yaml`` to the interface's headings, and to its own form."""

import re
from pathlib import Path

import pytest

from understudy.interface.rules import load_rules, switches

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

SWITCHES = {
    "associated-email-scope": ("read", "any", "auth"),
    "avatar-list-scope": ("read", "any", "auth"),
    "own-profile-scope": ("read", "any", "auth"),
    "scope-body-precedence": ("scope", "body"),
    "rate-limit-header-names": ("X-RateLimit", "RateLimit", "X-Rate-Limit"),
    "avatar-body-precedence": ("body", "avatar"),
    "avatar-email-precedence": ("avatar", "email"),
    "avatar-delete-status": ("204", "200"),
    "avatar-email-status": ("204", "200"),
    "avatar-upload-status": ("200", "201"),
    "empty-query-parameter": ("refuse", "ignore"),
    "email-hashes": ("sha256", "md5-too"),
    "invalid-optional-token": ("refuse", "anonymous"),
    "invalid-token-precedence": ("token", "profile"),
    "private-profile-lookup": ("403", "404"),
    "qr-unknown-hash": ("picture", "404"),
    "rate-limit-window": ("first-request", "clock-hour"),
    "rate-limits": ("on", "off", "warn"),
    "repeated-query-parameter": ("refuse", "first", "last"),
    "scopes": ("enforced", "ignored"),
    "token-endpoint-basic-auth": ("refuse", "accept"),
    "unknown-profile-members": ("refuse", "ignore"),
    "unknown-selected-email-hash": ("refuse", "ignore"),
    "upload-image-types": ("jpeg-png-gif", "webp-heic-too"),
}

NUMBERS = {
    "company-longest": (100, 10_000, 10_000),
    "description-longest": (100, 10_000, 10_000),
    "display-name-longest": (100, 10_000, 10_000),
    "job-title-longest": (100, 10_000, 10_000),
    "location-longest": (100, 10_000, 10_000),
    "most-avatars": (50, 100_000, 100_000),
    "pronouns-longest": (100, 10_000, 10_000),
    "pronunciation-longest": (100, 10_000, 10_000),
    "qr-smallest-size": (1, 1, 80),
    "upload-largest-side": (512, 6324, 6324),
    "code-lifetime": (60, 600, 3600),
    "qr-largest-size": (512, 2048, 2048),
    "upload-largest": (100_000, 10_000_000, 10_485_760),
}
"""Switches that take a number: the least, the default and the most."""


ERRORS = {
    "disabled-profile-error": "404 disabled",
    "invalid-member-error": "400 invalid_body",
    "invalid-parameter-error": "400 invalid_parameter",
    "invalid-token-error": "401 invalid_token",
    "missing-scope-error": "403 insufficient_scope",
    "missing-token-error": "401",
    "picture-shape-error": "400 uncropped_image",
    "picture-type-error": "400 unsupported_image",
    "private-profile-error": "403 private_profile",
    "rate-limit-error": "429 rate_limit_exceeded",
    "token-info-error": "400 invalid_request",
    "two-step-error": "400 needs_2fa",
    "unknown-address-error": "403 unknown_email",
    "unknown-avatar-error": "404 avatar_not_found",
    "unknown-member-error": "400 invalid_body",
    "unknown-profile-error": "404 profile_not_found",
    "upload-size-error": "413 image_too_large",
}
"""Switches that take a status and an error code, with the default."""


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


def test_every_switch_has_the_options_that_the_code_asks_for(rules):
    entries = switches(rules).values()
    assert {it.name: tuple(it.options) for it in entries if it.values is None} == SWITCHES
    numbers = {
        it.name: (it.range.least, int(it.default), it.range.most) for it in entries if it.range
    }
    assert numbers == NUMBERS
    assert {it.name: it.default for it in entries if it.error} == ERRORS
    assert all(switch.default == next(iter(switch.options)) for switch in switches(rules).values())

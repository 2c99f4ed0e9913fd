"""What binds another deployment: what is stated or implied, and not what we chose."""

import httpx
import pytest
from msgspec.structs import replace

from understudy.api.bundled_target import TARGET
from understudy.errors import StartupError
from understudy.openapi.loader import document_of
from understudy.verify.pictures import picture
from understudy.verify.shapes import bundled

ELSEWHERE = replace(TARGET, is_mock=False)


class Rewriting(httpx.BaseTransport):
    """A deployment that rewrites some responses of another."""

    def __init__(self, inner, rewrite):
        self.inner = inner
        self.rewrite = rewrite

    def handle_request(self, request):
        response = self.inner.handle_request(request)
        return self.rewrite(request, response) or response


def forbidden_avatars(request, response):
    """Refuses other accounts' avatars with 403 instead of 404."""
    if "/me/avatars/" in str(request.url) and response.status_code == 404:
        return httpx.Response(403, json={"error": "Not yours."})
    return None


def deletable_avatars(request, response):
    """Lets anybody delete any avatar."""
    if request.method == "DELETE" and response.status_code == 404:
        return httpx.Response(204)
    return None


@pytest.fixture
def judged(wire, verify_on):
    def judge(rewrite, rule, target=ELSEWHERE):
        outcome = verify_on(Rewriting(wire, rewrite), target, rules=(rule,))
        [found] = [each for each in outcome.rules if each.rule.id == rule]
        return found.status, len(outcome.findings), len(outcome.notes)

    return judge


RULE = "foreign-avatars-invisible"


def test_a_breach_of_an_implied_rule_is_a_finding_everywhere(judged):
    status, findings, _ = judged(deletable_avatars, RULE)
    assert (status, findings) == ("failed", 1)


def test_another_choice_where_the_source_leaves_one_is_a_note_elsewhere(judged):
    status, findings, notes = judged(forbidden_avatars, RULE)
    assert (status, findings, notes > 0) == ("passed", 0, True)


def test_another_choice_is_a_finding_at_the_mock(judged):
    status, findings, _ = judged(forbidden_avatars, RULE, TARGET)
    assert (status, findings > 0) == ("failed", True)


def test_a_target_can_accept_the_breach_of_a_rule(judged):
    status, findings, notes = judged(deletable_avatars, RULE, replace(ELSEWHERE, accept=(RULE,)))
    assert (status, findings, notes > 0) == ("not_checked", 0, True)


def test_a_target_that_accepts_no_rule_of_ours_is_told_so(verify):
    with pytest.raises(StartupError, match="there is no rule 'foreign-avatar-invisible'"):
        verify(replace(ELSEWHERE, accept=("foreign-avatar-invisible",)))


def interests_by_text(document):
    """Returns a document in which the id of an interest is a text."""
    content = document.raw
    schemas = content["components"]["schemas"]
    interest = {
        "type": "object",
        "required": ["id", "name"],
        "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
    }
    components = {**content["components"], "schemas": {**schemas, "Interest": interest}}
    return document_of({**content, "components": components}, document.path)


def textual_interests(_request, response):
    """Gives the ids of interests as texts."""
    if b'"interests"' not in response.content:
        return None
    profile = response.json()
    interests = [{**interest, "id": str(interest["id"])} for interest in profile["interests"]]
    kept = {name: text for name, text in response.headers.items() if name != "content-length"}
    return httpx.Response(200, headers=kept, json={**profile, "interests": interests})


@pytest.mark.parametrize(("is_published", "status"), [(False, "failed"), (True, "not_checked")])
def test_the_document_in_force_decides_on_types(wire, verify_on, is_published, status):
    document = interests_by_text(bundled("service.yaml")) if is_published else None
    outcome = verify_on(
        Rewriting(wire, textual_interests),
        ELSEWHERE,
        document=document,
        rules=("interest-members",),
    )
    assert [found.status for found in outcome.rules] == [status]


def generous_codes(request, response):
    """Draws a QR code for every version and type."""
    if "/qr-code/" in str(request.url) and response.status_code == 400:
        return httpx.Response(200, headers={"content-type": "image/png"}, content=picture())
    return None


@pytest.mark.parametrize("rule", ["qr-version-values", "qr-type-values"])
def test_more_versions_and_types_of_codes_than_ours_are_no_finding(judged, rule):
    status, findings, notes = judged(generous_codes, rule)
    assert (status, findings, notes > 0) == ("passed", 0, True)


def test_an_unknown_member_beside_a_known_one_may_be_accepted_elsewhere(mock, verify):
    mock.world.choices = {"unknown-profile-members": "ignore"}
    rules = ("profile-patch-seven-fields", "profile-patch-unknown-members")
    outcome = verify(ELSEWHERE, rules=rules)
    assert outcome.findings == ()
    assert {note.rule.id for note in outcome.notes} == {"profile-patch-unknown-members"}

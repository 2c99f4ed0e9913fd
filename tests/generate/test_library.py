"""Edge cases and strategies from inside other code."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings

import understudy
from understudy import strategies
from understudy.cases.model import Case
from understudy.errors import StartupError
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import load
from understudy.openapi.schemas import Schemas

DOCUMENT = load(openapi_directory() / "service.yaml")


def takes(name: str, value: Any) -> bool:
    node = DOCUMENT.root.child("components", "schemas", name)
    assert node is not None
    return Schemas(DOCUMENT).validator(node).is_valid(value)


def test_cases_of_an_operation_come_one_by_one():
    found = list(understudy.edge_cases("updateOwnProfile", kind="invalid", count=20))
    assert len(found) == 20
    assert {case.kind for case in found} == {"invalid"}
    assert found == list(understudy.edge_cases("updateOwnProfile", kind="invalid", count=20))


@understudy.parametrize("updateOwnProfile", kind="invalid", count=5)
def test_one_test_a_case(case: Case, request: pytest.FixtureRequest):
    assert request.node.callspec.id == case.title
    assert case.operation == "updateOwnProfile"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"operations": ["updateProfile"]}, "did you mean 'updateOwnProfile'"),
        ({"operations": [], "kind": "invald"}, "There is no kind 'invald'; did you mean 'invalid'"),
    ],
)
def test_what_there_is_not_is_answered_with_the_nearest(words: dict[str, Any], said: str):
    operations = words.pop("operations")
    with pytest.raises(StartupError, match=said):
        list(understudy.edge_cases(*operations, **words))


@settings(max_examples=25)
@given(profile=strategies.profile(), avatar=strategies.avatar(), rating=strategies.rating())
def test_strategies_of_schemas_draw_what_the_document_takes(profile, avatar, rating):
    assert takes("Profile", profile)
    assert takes("Avatar", avatar)
    assert rating in {"G", "PG", "R", "X"}


@settings(max_examples=25)
@given(call=strategies.update_own_profile(), lookup=strategies.get_qr_code())
def test_strategies_of_operations_draw_valid_calls(call, lookup):
    assert set(call.body) <= {
        *("display_name", "description", "pronunciation", "pronouns"),
        *("location", "job_title", "company"),
    }
    assert lookup.path["sha256_hash"]
    assert lookup.body is None


def test_every_schema_and_operation_has_a_strategy():
    assert {"profile", "verified_account", "token_request", "upload_avatar", "authorize"} <= set(
        dir(strategies)
    )
    with pytest.raises(AttributeError, match="no strategy 'profil'; did you mean 'profile'"):
        strategies.profil  # noqa: B018 - the access is the test


def test_importing_the_package_stays_light():
    program = (
        "import sys, understudy; print({'pytest', 'hypothesis', 'schemathesis'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "set()"
    with pytest.raises(AttributeError, match="no attribute 'edge_case'"):
        understudy.edge_case  # type: ignore[attr-defined]  # noqa: B018 - as above

"""The profile of a deployment: one file for the mock and the judge."""

import asyncio
from pathlib import Path

import httpx
import pytest

from understudy.api.options import DeploymentOptions, target_from
from understudy.errors import StartupError
from understudy.interface.deployment_profile import load_profile
from understudy.interface.vocabulary import load_vocabulary
from understudy.mock.app import Mock
from understudy.mock.settings import Settings, settings_like

PROFILE = """
document: service.yaml
overlay: [changes.yaml]
vocabulary:
  rate_limit_headers: X-Gallery-Quota
  profile_status_header: X-Gallery-Profile-Status
  profile_statuses: {not_found: not-found}
  user_info: {path: /rest/v1/me, members: {ID: sub, login: preferred_username, avatar: picture}}
  token_endpoint: {basic: true, multipart: true}
choose: {rate-limits: 'off'}
facts: [learnt.yaml]
"""
SERVER = {"client_id": "server-app", "client_secret": "server-app-secret"}
OWNER = {"grant_type": "password", "username": "ada", "password": "ada-password"}


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "deployment.yaml"
    path.write_text(PROFILE)
    return path


def test_its_files_stand_beside_it_and_its_words_in_it(profile):
    settings = load_profile(profile)
    beside = profile.parent
    assert settings == {
        "document": beside / "service.yaml",
        "overlays": (beside / "changes.yaml",),
        "vocabulary": profile,
        "choices": ("rate-limits=off",),
        "facts": (beside / "learnt.yaml",),
    }
    assert load_vocabulary(profile).rate_limit_headers == "X-Gallery-Quota"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not the profile of a deployment; write some of document,"),
        ("{}", "is not the profile of a deployment; write some of document,"),
        ("- a", "is not the profile of a deployment; write some of document,"),
        ("documents: a.yaml", "there is no key 'documents'; did you mean 'document'?"),
        ("vocabulary: {upload: a}", "there is no key 'upload'"),
        ("vocabulary: {user_info: {path: me}}", "user_info.path: 'me' is not a path"),
        ("vocabulary: {user_info: {members: {a: nam}}}", "there is no claim 'nam'"),
        ("tokens: all", "Invalid enum value 'all'"),
        ('facts: ["a\\0b"]', "'facts' contains a NUL character; remove it"),
        ('document: "a\\0b"', "'document' contains a NUL character; remove it"),
    ],
)
def test_a_message_names_file_key_and_remedy(profile, text, message):
    profile.write_text(text)
    with pytest.raises(StartupError) as error:
        load_profile(profile)
    assert message in str(error.value)
    assert str(profile) in str(error.value)


def test_the_judge_takes_what_the_target_does_not_say(profile):
    target = target_from(DeploymentOptions(like=profile, facts=Path("mine.yaml")), {})
    assert target.document == str(profile.parent / "service.yaml")
    assert target.vocabulary == str(profile)
    assert target.facts == "mine.yaml"


def test_a_profile_gives_settings_that_others_replace(profile):
    profile.write_text("choose: {rate-limits: 'off'}\nvocabulary: {upload_field: picture}")
    settings = settings_like(profile, log="off")
    assert settings.choices == {"rate-limits": "off"}
    assert (settings.vocabulary, settings.like, settings.log) == (profile, profile, "off")


def ask(settings: Settings, method: str, path: str, **options) -> httpx.Response:
    async def sent() -> httpx.Response:
        transport = httpx.ASGITransport(Mock(settings).authorization)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8081") as it:
            return await it.request(method, path, **options)

    return asyncio.run(sent())


def test_clients_are_told_who_signed_in_at_the_address_and_in_the_shape_of_the_deployment(profile):
    me = {"Authorization": "Bearer ada-auth-only"}
    response = ask(Settings(vocabulary=profile), "GET", "/rest/v1/me", headers=me)
    assert response.status_code == 200, response.text
    assert set(response.json()) == {"ID", "login", "avatar"}
    assert response.json()["login"] == "ada"


@pytest.mark.parametrize(
    "sent",
    [
        {"data": OWNER, "auth": tuple(SERVER.values())},
        {"data": {**OWNER, "client_id": "server-app"}, "auth": tuple(SERVER.values())},
        {"files": {name: (None, text) for name, text in {**OWNER, **SERVER}.items()}},
    ],
    ids=["basic", "basic and client_id", "multipart"],
)
def test_the_token_endpoint_takes_what_the_deployment_does_and_else_names_the_remedy(profile, sent):
    issued = ask(Settings(vocabulary=profile), "POST", "/oauth2/token", **sent)
    assert issued.status_code == 200, issued.text
    refused = ask(Settings(), "POST", "/oauth2/token", **sent)
    assert refused.status_code in {400, 401}
    remedy = "token_endpoint: {multipart: true}" if "files" in sent else "token-endpoint-basic-auth"
    assert remedy in refused.json()["error_description"]

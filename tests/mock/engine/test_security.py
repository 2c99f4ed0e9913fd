"""Who may call what, through the whole stack, with the challenges of RFC 6750."""

from datetime import timedelta

import pytest

from understudy.mock.engine.credentials import bearer_token

REALM = 'Bearer realm="understudy"'


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_required_token_that_is_missing_is_401_with_a_bare_challenge(notes) -> None:
    response = notes.get("/v1/shelf/own")
    assert response.status_code == 401
    refusal = "You are not authorized to perform this action: send Authorization: Bearer TOKEN."
    assert response.json()["error"] == refusal
    assert response.headers["www-authenticate"] == REALM


@pytest.mark.parametrize("path", ["/v1/shelf", "/v1/shelf/own", "/v1/guarded"])
@pytest.mark.parametrize(
    "authorization",
    ["Bearer unknown", "Bearer", "Bearer ", "Basic YWRhOmE=", "", "ada-token", "Bearer a b"],
)
def test_a_token_that_does_not_count_is_401(notes, path: str, authorization: str) -> None:
    response = notes.get(path, headers={"Authorization": authorization})
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == f'{REALM}, error="invalid_token"'
    assert response.json()["code"] == "invalid_token"


@pytest.mark.parametrize(
    ("authorization", "reason"),
    [
        ("Bearer unknown", "there is no such token"),
        ("ada-token", "the word Bearer is missing before the token"),
        ("Basic YWRhOmE=", "the scheme is not Bearer"),
        ("bearer ", "the token is missing"),
        ("", "the token is missing"),
    ],
)
def test_a_refusal_says_what_is_wrong_with_the_token_and_repeats_nothing_of_it(
    notes, authorization: str, reason: str
) -> None:
    message = notes.get("/v1/shelf/own", headers={"Authorization": authorization}).json()["error"]
    assert reason in message
    assert not {"unknown", "ada-token", "YWRhOmE="} & set(message.replace(";", " ").split())


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_token_that_counts_speaks_for_its_person(notes, scheme: str) -> None:
    headers = {"Authorization": f"{scheme}  ada-token "}
    assert notes.get("/v1/shelf/own", headers=headers).json()["person"] == "ada"


def test_an_optional_token_is_read_where_it_is_given(serve) -> None:
    service = serve()
    assert service.get("/v1/shelf").json()["person"] is None
    assert service.get("/v1/shelf", headers=bearing("ada-key")).json()["person"] == "ada"


def test_an_invalid_optional_token_counts_as_none_by_choice(serve) -> None:
    service = serve(choices={"invalid-optional-token": "anonymous"})
    assert service.get("/v1/shelf", headers=bearing("unknown")).json()["person"] is None
    assert service.recorded[0].notes == [
        "the token is not valid; the response is the one for anonymous clients"
    ]
    assert service.get("/v1/shelf/own", headers=bearing("unknown")).status_code == 401


def test_where_no_token_is_asked_for_none_is_read(notes) -> None:
    assert notes.get("/v1/notes", headers=bearing("unknown")).status_code == 200


def test_a_token_expires_in_the_time_of_the_world(serve) -> None:
    service = serve()
    assert service.get("/v1/shelf/own", headers=bearing("old-token")).status_code == 200
    service.time.advance(timedelta(hours=2))
    assert service.get("/v1/shelf/own", headers=bearing("old-token")).status_code == 401


def test_a_token_without_the_scope_is_403_that_names_all_that_is_needed(notes) -> None:
    response = notes.get("/v1/shelf/own", headers=bearing("ben-token"))
    assert response.status_code == 403
    assert response.json() == {
        "error": "The token was not granted the scope this needs: read.",
        "code": "insufficient_scope",
    }
    challenge = f'{REALM}, error="insufficient_scope", scope="auth read"'
    assert response.headers["www-authenticate"] == challenge


def test_scopes_can_be_ignored_by_choice(notes) -> None:
    headers = {**bearing("ben-token"), "X-Mock-Choose": "scopes=ignored"}
    assert notes.get("/v1/shelf/own", headers=headers).json()["person"] == "ben"


def test_an_api_key_does_not_speak_for_a_user(notes) -> None:
    response = notes.get("/v1/shelf/own", headers=bearing("ada-key"))
    assert response.status_code == 401
    assert "send an OAuth access token" in response.json()["error"]
    assert response.headers["www-authenticate"] == f'{REALM}, error="invalid_token"'


@pytest.mark.parametrize("path", ["/v1/shelf", "/v1/shelf/own"])
def test_a_repeated_authorization_header_is_refused(notes, path: str) -> None:
    twice = [("Authorization", "Bearer ada-token")] * 2
    response = notes.get(path, headers=twice)
    assert response.status_code == 401
    assert "given more than once" in response.json()["error"]
    assert response.headers["www-authenticate"] == f'{REALM}, error="invalid_request"'


def test_an_operation_of_ours_needs_its_scopes_whatever_the_document_says(serve) -> None:
    scopes = {("GET", "/notes/{id}"): frozenset({"auth"})}
    service = serve(api={"scopes": scopes})
    assert service.get("/v1/notes/1").status_code == 401
    assert service.get("/v1/notes/1", headers=bearing("ben-token")).status_code == 200


def test_an_operation_of_nobodys_takes_any_token_that_counts(notes) -> None:
    assert notes.get("/v1/guarded").status_code == 401
    assert notes.get("/v1/guarded", headers=bearing("ben-token")).status_code == 200


def test_a_credential_of_another_kind_must_be_there_and_may_be_anything(notes) -> None:
    response = notes.get("/v1/reports")
    assert response.status_code == 401
    assert "send header X-Key (any value will do here)" in response.json()["error"]
    assert notes.get("/v1/reports", headers={"X-Key": ""}).json() == {"title": "Report"}


@pytest.mark.parametrize(
    ("place", "request_"),
    [
        ("query", {"params": {"k": "1"}}),
        ("cookie", {"headers": {"Cookie": "a=b; k=1"}}),
        ("header", {"headers": {"K": "1"}}),
    ],
)
def test_a_key_is_looked_for_where_the_document_puts_it(serve, place: str, request_) -> None:
    text = f"""
openapi: 3.1.0
paths: {{/a: {{get: {{responses: {{'200': {{description: ok}}}}, security: [{{key: []}}]}}}}}}
components: {{securitySchemes: {{key: {{type: apiKey, in: {place}, name: k}}}}}}
"""
    service = serve(text, api={"handlers": {}})
    assert f"send {place} k" in service.get("/a").json()["error"]
    assert service.get("/a", **request_).status_code == 200


def test_a_scheme_may_be_a_reference(serve) -> None:
    text = """
openapi: 3.1.0
paths: {/a: {get: {responses: {'200': {description: ok}}, security: [{key: []}]}}}
components: {securitySchemes: {key: {$ref: '#/x-scheme'}}}
x-scheme: {type: oauth2}
"""
    service = serve(text, api={"handlers": {}})
    assert service.get("/a", headers=bearing("unknown")).json()["code"] == "invalid_token"
    assert service.get("/a", headers=bearing("ben-token")).status_code == 200


@pytest.mark.parametrize(
    ("authorization", "token"),
    [
        (b"Bearer a", "a"),
        (b"bEARER  a ", "a"),
        (b"Bearer \xff", "\xff"),
        (b"Bearer", None),
        (b"Bearer  ", None),
        (b"Basic a", None),
    ],
)
def test_a_bearer_token_is_what_stands_behind_the_word(authorization: bytes, token) -> None:
    assert bearer_token(authorization) == token

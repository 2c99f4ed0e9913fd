"""Who may call what, through the whole stack, with the challenges of RFC 6750."""

from datetime import timedelta

import pytest
from tests.mock.server.conftest import Service

from understudy.mock.server.security import bearer_token

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
        ("Bearer unknown", "there is no such token."),
        ("Bearer undefined", "there is no such token: a variable of the client has no value."),
        ("Bearer $TOKEN", "the name of a variable was sent in place of its value"),
        ('Bearer "ada-token"', "it stands in quotes, which are not part of it"),
        ("Bearer Bearer ada-token", "the word Bearer is written twice"),
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


ALTERNATIVES = """
openapi: 3.1.0
security: [{key: []}]
paths:
  /key-or-token: {get: {security: [{key: []}, {token: []}], responses: &ok {'200': {description: ok}}}}
  /token-or-basic: {get: {security: [{token: []}, {basic: []}], responses: *ok}}
  /both: {get: {security: [{token: [], key: []}], responses: *ok}}
  /both-keys-or-basic: {get: {security: [{key: [], other: []}, {basic: []}], responses: *ok}}
  /optional: {get: {security: [{key: []}, {}], responses: *ok}}
  /open: {get: {security: [], responses: *ok}}
  /inherited: {get: {responses: *ok}}
  /certificate: {get: {security: [{certificate: []}], responses: *ok}}
  /scoped: {get: {security: [{oauth: [read]}, {oauth: [all]}], responses: *ok}}
  /scoped-or-key: {get: {security: [{oauth: [all]}, {key: []}], responses: *ok}}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    other: {type: apiKey, in: query, name: other}
    token: {type: http, scheme: bearer}
    basic: {type: http, scheme: basic}
    certificate: {type: mutualTLS}
    oauth: {type: oauth2, flows: {}}
"""
KEY, BASIC = {"X-Key": "k"}, {"Authorization": "Basic YTpi"}
KEY_HERE = 'ApiKey realm="understudy", in="header", name="X-Key"'


@pytest.fixture(scope="module")
def alternatives(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(ALTERNATIVES, tmp_path_factory.mktemp("security"), api={"handlers": {}})


@pytest.mark.parametrize(
    ("target", "headers", "status"),
    [
        ("/key-or-token", KEY, 200),
        ("/key-or-token", bearing("ben-token"), 200),
        ("/key-or-token", BASIC, 401),
        ("/key-or-token", {}, 401),
        ("/token-or-basic", BASIC, 200),
        ("/token-or-basic", KEY, 401),
        ("/both", KEY, 401),
        ("/both", bearing("ben-token"), 401),
        ("/both", {**KEY, **bearing("ben-token")}, 200),
        ("/both", {**KEY, **bearing("unknown")}, 401),
        ("/both-keys-or-basic", KEY, 401),
        ("/both-keys-or-basic?other=1", KEY, 200),
        ("/both-keys-or-basic", BASIC, 200),
        ("/optional", {}, 200),
        ("/optional", BASIC, 200),
        ("/open", {}, 200),
        ("/inherited", {}, 401),
        ("/inherited", KEY, 200),
        ("/certificate", {}, 200),
    ],
)
def test_one_alternative_must_be_met_whole(alternatives, target: str, headers, status) -> None:
    assert alternatives.get(target, headers=headers).status_code == status


def test_a_challenge_names_each_credential_that_would_do(alternatives) -> None:
    refused = [alternatives.get(it) for it in ("/inherited", "/token-or-basic", "/both")]
    assert [it.headers.get_list("www-authenticate") for it in refused] == [
        [KEY_HERE],
        [REALM, 'Basic realm="understudy"'],
        [REALM, KEY_HERE],
    ]


def test_an_optional_key_that_is_not_valid_is_refused_unless_it_is_ignored_by_choice(serve) -> None:
    knows_none = {"handlers": {}, "authenticate_key": lambda *_: None}
    service = serve(ALTERNATIVES, api=knows_none)
    assert service.get("/optional", headers=KEY).status_code == 401
    ignoring = {**KEY, "X-Mock-Choose": "invalid-optional-token=anonymous"}
    assert service.get("/optional", headers=ignoring).status_code == 200


def test_declared_scopes_are_checked_where_that_is_wanted(serve) -> None:
    lenient = serve(ALTERNATIVES, api={"handlers": {}})
    assert lenient.get("/scoped", headers=bearing("ben-token")).status_code == 200
    strict = serve(ALTERNATIVES, api={"handlers": {}, "checks_declared_scopes": True})
    assert strict.get("/scoped", headers=bearing("ada-token")).status_code == 200
    refused = strict.get("/scoped", headers=bearing("ben-token"))
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert 'scope="read"' in refused.headers["www-authenticate"]
    assert strict.get("/scoped", headers=bearing("ada-key")).status_code == 200
    assert strict.get("/scoped-or-key", headers=bearing("ben-token")).status_code == 403
    assert strict.get("/scoped-or-key", headers=KEY).status_code == 200


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

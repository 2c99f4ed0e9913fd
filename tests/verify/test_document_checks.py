from datetime import UTC, datetime

import pytest
from openapi_core.exceptions import OpenAPIError

from understudy.api.bundled_target import TARGET
from understudy.exchange.messages import ANONYMOUS_IDENTITY, Exchange, Request, Response
from understudy.openapi.operations import operations
from understudy.verify.document_checks import DocumentValidator, OpenApiCoreValidator
from understudy.verify.shapes import bundled

RAW = {**bundled("service.yaml").raw, "servers": [{"url": TARGET.base_url}]}
AVATAR = (
    b'{"image_id":"0123456789abcdef0123456789abcdef","rating":"G","alt_text":"","selected":true}'
)
REFUSAL = b'{"error":"No such profile.","code":"profile_not_found"}'


def exchange(path: str, status: int, body: bytes, reset: str = "1792396800") -> Exchange:
    headers = (("content-type", "application/json"), ("x-ratelimit-reset", reset))
    return Exchange(
        number=1,
        source="test",
        identity=ANONYMOUS_IDENTITY,
        request=Request("GET", f"{TARGET.base_url}{path}"),
        response=Response(status, headers, body),
        at=datetime(2026, 3, 1, tzinfo=UTC),
    )


def error(validator: OpenApiCoreValidator, judged: Exchange) -> str:
    try:
        validator.validate(judged)
    except OpenAPIError as failure:
        return f"{type(failure).__name__}: {failure.__cause__ or failure}"
    return ""


def test_what_is_kept_of_the_document_changes_no_error() -> None:
    exchanges = [
        exchange("/me/avatars", 200, b"[]"),
        exchange("/me/avatars", 200, b"{}"),
        exchange("/me/avatars", 200, b"[%b]" % AVATAR),
        exchange("/me/avatars", 200, b"[%b]" % AVATAR.replace(b'"G"', b'"Z"')),
        exchange("/profiles/ada", 404, REFUSAL),
        exchange("/profiles/ada", 404, REFUSAL, reset="soon"),
        exchange("/nowhere", 200, b"{}"),
    ]
    kept = OpenApiCoreValidator(RAW)
    first = [error(kept, judged) for judged in exchanges]
    assert [error(kept, judged) for judged in reversed(exchanges)] == first[::-1]
    assert [error(OpenApiCoreValidator(RAW), judged) for judged in exchanges] == first


@pytest.mark.parametrize(
    ("judged", "named"),
    [
        (exchange("/me/avatars", 200, b"[]"), ""),
        (exchange("/me/avatars", 200, b"{}"), "InvalidData"),
        (exchange("/profiles/ada", 404, REFUSAL, reset="soon"), "HeaderValidationError"),
        (exchange("/nowhere", 200, b"{}"), "PathNotFound"),
    ],
    ids=["as declared", "the body", "a header", "no operation"],
)
def test_an_error_names_what_is_not_as_declared(judged: Exchange, named: str) -> None:
    assert error(OpenApiCoreValidator(RAW), judged).partition(":")[0] == named


def test_an_error_of_a_long_value_says_what_is_wrong_in_a_line() -> None:
    judge = DocumentValidator(bundled("service.yaml"), TARGET.base_url)
    operation = next(it for it in operations(bundled("service.yaml")) if it.path == "/me/avatars")
    said = judge.error(exchange("/me/avatars", 200, b'{"a": "%s"}' % (b"b" * 900)), operation)
    assert said.startswith('the body: {"a":"bbb')
    assert said.endswith('is not of type "array"')
    assert len(said) < 300

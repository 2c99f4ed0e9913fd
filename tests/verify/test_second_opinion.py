from datetime import UTC, datetime

import pytest

from understudy.api.bundled_target import TARGET
from understudy.exchange.messages import ANONYMOUS_IDENTITY, Exchange, Request, Response
from understudy.verify.second_opinion import OpenApiCoreValidator
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
    first = [kept.error(judged) for judged in exchanges]
    assert [kept.error(judged) for judged in reversed(exchanges)] == first[::-1]
    assert [OpenApiCoreValidator(RAW).error(judged) for judged in exchanges] == first


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
    assert OpenApiCoreValidator(RAW).error(judged).partition(":")[0] == named

from datetime import UTC, datetime

from understudy.api.bundled_target import TARGET
from understudy.exchange.messages import ANONYMOUS_IDENTITY, Exchange, Request, Response
from understudy.openapi.operations import operations
from understudy.verify.document_checks import DocumentValidator
from understudy.verify.shapes import bundled


def test_an_error_of_a_long_value_says_what_is_wrong_in_a_line() -> None:
    document = bundled("service.yaml")
    judge = DocumentValidator(document, TARGET.base_url)
    operation = next(it for it in operations(document) if it.path == "/me/avatars")
    headers = (("content-type", "application/json"), ("x-ratelimit-reset", "1792396800"))
    exchange = Exchange(
        number=1,
        source="test",
        identity=ANONYMOUS_IDENTITY,
        request=Request("GET", f"{TARGET.base_url}/me/avatars"),
        response=Response(200, headers, b'{"a": "%s"}' % (b"b" * 900)),
        at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    said = judge.error(exchange, operation)
    assert said.startswith('the body: {"a":"bbb')
    assert said.endswith('is not of type "array"')
    assert len(said) < 300

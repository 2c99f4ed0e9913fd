from datetime import UTC, datetime

import pytest

from understudy.api.bundled_target import TARGET
from understudy.exchange.messages import ANONYMOUS_IDENTITY, Exchange, Request, Response
from understudy.openapi.operations import operations
from understudy.verify.document_checks import DocumentValidator
from understudy.verify.shapes import bundled


@pytest.fixture
def said():
    """Returns what is said of a response to ``GET /me/avatars``."""
    document = bundled("service.yaml")
    judge = DocumentValidator(document, TARGET.base_url)
    operation = next(it for it in operations(document) if it.path == "/me/avatars")

    def said(response: Response) -> str:
        exchange = Exchange(
            number=1,
            source="test",
            identity=ANONYMOUS_IDENTITY,
            request=Request("GET", f"{TARGET.base_url}/me/avatars"),
            response=response,
            at=datetime(2026, 3, 1, tzinfo=UTC),
        )
        return judge.error(exchange, operation)

    return said


def test_an_error_of_a_long_value_says_what_is_wrong_in_a_line(said) -> None:
    headers = (("content-type", "application/json"), ("x-ratelimit-reset", "1792396800"))
    error = said(Response(200, headers, b'{"a": "%s"}' % (b"b" * 900)))
    assert error.startswith('the body: {"a":"bbb')
    assert error.endswith('is not of type "array"')
    assert len(error) < 300


def test_a_redirect_that_is_not_in_the_document_names_its_target(said) -> None:
    error = said(Response(302, (("location", "/login?next=%2Fme"),), b""))
    assert error == "status 302 is a redirect to /login, which is not in the document"
    assert said(Response(302, (), b"")) == "no content type is not in the document"

import subprocess
import sys

import pytest
from tests.mock.pages.conftest import Ask

from understudy.errors import MethodNotAllowed, NotFound


@pytest.mark.parametrize("path", ["/v3", "/v3/", "/v3/profile/ada", "/v3/openapi.json"])
def test_what_lies_under_the_base_path_is_refused_as_the_api_refuses(ask: Ask, path: str):
    with pytest.raises(NotFound):
        ask(path)


@pytest.mark.parametrize("path", ["/nobody", "/ada/", "/no/such", "/v3x"])
def test_an_unknown_path_is_a_page_for_browsers_only(ask: Ask, path: str):
    assert ask(path).status == 404
    with pytest.raises(NotFound):
        ask(path, accept="*/*")


def test_a_page_takes_no_method_that_writes(ask: Ask):
    with pytest.raises(MethodNotAllowed, match="POST is not allowed at /ada") as refused:
        ask("/ada", "POST")
    assert refused.value.headers == (("allow", "GET, HEAD"),)


def test_a_write_to_an_unknown_path_is_not_found(ask: Ask):
    with pytest.raises(NotFound):
        ask("/nobody", "POST")


def test_head_answers_as_get_without_the_body(ask: Ask):
    page = ask("/ada", "HEAD")
    assert (page.status, page.text) == (200, "")
    assert page.headers["content-length"] == ask("/ada").headers["content-length"]


def test_a_client_that_accepts_anything_gets_the_pages_too(ask: Ask):
    assert ask("/", accept="*/*").status == ask("/ada", accept="*/*").status == 200


def test_flask_is_not_imported_before_a_page_is_asked_for():
    program = "import sys, understudy.mock.pages.page_routing as s; s.pages('/v3', ('people',)); print('flask' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"

"""The paths of servers: absolute, relative, with variables, and not as OpenAPI has them."""

from typing import Any

import pytest

from understudy.openapi.loader import base_paths


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://api.example.com/v1/", "/v1"),
        ("https://api.example.com", ""),
        ("https://api.example.com/a//b%20c?x=1", "/a/b c"),
        ("//api.example.com/v2", "/v2"),
        ("/v3", "/v3"),
        ("v4/", "/v4"),
        ("../v5", "/v5"),
        ("/", ""),
        ("", ""),
    ],
)
def test_a_server_has_the_path_of_its_address(url: str, path: str):
    assert base_paths([{"url": url}]) == (path,)


@pytest.mark.parametrize(
    ("url", "variables", "paths"),
    [
        ("https://{region}.x.com/{p}", {"p": {"default": "v1"}}, ("/v1",)),
        ("{scheme}://x.com/v1", {"scheme": {"default": "https"}}, ("/v1",)),
        ("{server}", {"server": {"default": "https://x.com/v1"}}, ("/v1",)),
        ("https://x.com{base}", {"base": {"default": "/v1"}}, ("/v1",)),
        ("/{v}", {"v": {"default": "v2", "enum": ["v1", "v2"]}}, ("/v2", "/v1")),
        ("https://{port}.x/v1", {"port": {"enum": ["80", "81"]}}, ("/v1",)),
        ("/{undeclared}/a", None, ("/undeclared/a",)),
        ("https://{undeclared}/a", [], ("/a",)),
    ],
)
def test_variables_have_their_defaults_and_then_their_other_values(url, variables, paths):
    assert base_paths([{"url": url, "variables": variables}]) == paths


@pytest.mark.parametrize("servers", [None, {}, [], ["here"], [None]])
def test_what_names_no_server_has_no_path(servers: Any):
    assert base_paths(servers) == ()


def test_a_variable_of_many_values_gives_no_more_than_can_be_told_apart():
    variables = {name: {"enum": [str(n) for n in range(100)]} for name in ("a", "b")}
    assert len(base_paths([{"url": "/{a}/{b}", "variables": variables}])) == 16

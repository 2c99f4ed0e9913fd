"""The one matcher of paths: what a template takes, and what it does not."""

import pytest

from understudy.openapi.paths import path_pattern


@pytest.mark.parametrize(
    ("template", "path", "values"),
    [
        ("/notes/{id}", "/notes/7", ("7",)),
        ("/notes/{id}/parts/{part}", "/notes/a.b/parts/%2F", ("a.b", "%2F")),
        ("/notes/{id}.json", "/notes/7.json", ("7",)),
        ("/notes/{id}", "/notes/7\n", ("7\n",)),
        ("/notes.all", "/notes.all", ()),
    ],
)
def test_a_path_gives_the_values_of_its_parameters(template, path, values) -> None:
    match = path_pattern(template).fullmatch(path)
    assert match is not None
    assert match.groups() == values


@pytest.mark.parametrize(
    ("template", "path"),
    [
        ("/notes/{id}", "/notes/"),
        ("/notes/{id}", "/notes/7/8"),
        ("/notes.all", "/notes-all"),
        ("/notes.all", "/notes.all\n"),
    ],
)
def test_a_path_that_does_not_match_gives_none(template, path) -> None:
    assert path_pattern(template).fullmatch(path) is None

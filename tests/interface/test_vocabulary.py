"""The words of a deployment: their file, and the bundled documents in these words."""

from pathlib import Path

import pytest

from understudy.errors import StartupError
from understudy.interface.scopes import AUTH, MANAGE_PROFILE, READ_PROFILE, SCOPES
from understudy.interface.vocabulary import (
    OWN_WORDS,
    Vocabulary,
    in_words,
    load_vocabulary,
    with_declared_scopes,
)
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import Document, load

OTHER_WORDS = """
scopes: {auth: login, read: gallery:read, manage: gallery:edit}
qr_types: {service: logo}
rate_limit_headers: X-Gallery-Quota
upload_field: picture
"""


def read(directory: Path, text: str) -> Vocabulary:
    path = directory / "words.yaml"
    path.write_text(text)
    return load_vocabulary(path)


def test_what_a_file_leaves_out_keeps_the_word_of_the_interface(tmp_path):
    vocabulary = read(tmp_path, OTHER_WORDS)
    assert vocabulary.words == {
        AUTH: "login",
        READ_PROFILE: "gallery:read",
        MANAGE_PROFILE: "gallery:edit",
    }
    assert (vocabulary.qr_types.user, vocabulary.qr_types.service) == ("user", "logo")
    assert read(tmp_path, "") == OWN_WORDS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "is not a vocabulary; write some of scopes,"),
        ("scope: {}", "there is no key 'scope'; did you mean 'scopes'?"),
        ("scopes: {reed: a}", "scopes: there is no key 'reed'; did you mean 'read'?"),
        ("scopes: login", "scopes: write some of auth, read, manage"),
        ("upload_field: 3", "upload_field: Expected `str`, got `int`; correct it."),
        ("scopes: {auth: log in}", "scopes.auth: 'log in' is not a scope"),
        ("scopes: {auth: all, read: all}", "scopes.auth: 'all' stands for two things"),
        ("rate_limit_headers: 'X Rate'", "rate_limit_headers: 'X Rate' is not the beginning"),
        ("upload_field: ''", "upload_field: '' is not the name of a form field"),
    ],
)
def test_a_message_names_file_key_and_remedy(tmp_path, text, message):
    with pytest.raises(StartupError) as error:
        read(tmp_path, text)
    assert str(error.value).startswith(str(tmp_path / "words.yaml"))
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["service", "authorization"])
def test_a_bundled_document_in_other_words_holds_none_of_the_interfaces(tmp_path, name):
    document = load(openapi_directory() / f"{name}.yaml")
    before = str(document.raw)
    text = str(in_words(document, read(tmp_path, OTHER_WORDS)).raw)
    for word in (*SCOPES, "X-RateLimit", "data"):
        assert f"'{word}'" not in text
    assert "avatar-profile:" not in text
    assert "X-RateLimit" not in text
    assert str(document.raw) == before


def test_the_words_of_the_interface_change_nothing():
    document = load(openapi_directory() / "service.yaml")
    assert in_words(document, OWN_WORDS) is document


def guarded(reading: list[str], changing: list[str]) -> Document:
    """Returns a document whose operations need these scopes."""
    answers = {"200": {"description": "Done."}}
    operations = {
        "/me/avatars": {"get": reading, "post": changing},
        "/me/profile": {"get": reading, "patch": changing},
    }
    paths = {
        path: {
            method: {"security": [{}, {"oauth2": scopes}], "responses": answers}
            for method, scopes in item.items()
        }
        for path, item in operations.items()
    }
    return Document(Path("other.yaml"), {"openapi": "3.0.3", "info": {}, "paths": paths})


@pytest.mark.parametrize(
    ("reading", "changing", "names"),
    [
        (["login", "p:read"], ["login", "p:write"], ("login", "p:read", "p:write")),
        (["p:read"], ["p:write"], ("auth", "p:read", "p:write")),
        (["all"], ["all"], SCOPES),
        ([], [], SCOPES),
        (["a", "b"], ["c"], SCOPES),
    ],
)
def test_the_scopes_of_the_document_in_force_decide_where_they_tell_which_is_which(
    reading, changing, names
):
    document = guarded(reading, changing)
    assert with_declared_scopes(OWN_WORDS, document).scope_names == names

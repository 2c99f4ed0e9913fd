"""Patterns of ECMA-262 match the same texts in Rust and in Python."""

import re

import jsonschema_rs
import pytest

from understudy.openapi.patterns import portable


@pytest.mark.parametrize(
    ("pattern", "match", "other"),
    [
        (r"^\cA$", "\x01", "A"),
        (r"^\u{1F600}$", "😀", "u"),
        (r"^\uD83D\uDE00$", "😀", "u"),
        (r"^[\u{1F600}-\u{1F64F}]$", "😁", "a"),
        (r"^(?<year>a)(b)\k<year>$", "aba", "abb"),
        (r"(?<=a)b", "ab", "cb"),
        (r"(?<!a)b", "cb", "ab"),
        (r"^[\d-x]$", "-", "y"),
        (r"^[\w-.]+$", "a-.", "/"),
        (r"^[^]$", "\n", ""),
        (r"^a{,3}$", "a{,3}", "aa"),
        (r"^{id}$", "{id}", "id"),
        (r"^a{2}$", "aa", "a"),
        (r"^[[a]$", "[", "b"),
        (r"^]$", "]", "["),
        (r"^\0$", "\0", "0"),
        (r"^\/a$", "/a", "a"),
        ("/a/b/", "/a/b/", "a/b"),
    ],
)
def test_a_pattern_of_ecma_262_is_rewritten_to_what_every_engine_reads(
    pattern: str, match: str, other: str
) -> None:
    assert not portable(pattern).is_foreign
    assert_alike(pattern, match, other)


@pytest.mark.parametrize(
    ("pattern", "match", "other"),
    [
        ("/^a$/", "a", "b"),
        ("/^a$/i", "A", "b"),
        ("(?i)^a$", "A", "b"),
        (r"\Aa\Z", "a", "ba"),
        (r"^(?P<n>a)(?P=n)$", "aa", "a"),
        ("^[[:alpha:]_]+$", "a_", "1"),
    ],
)
def test_a_pattern_of_another_language_is_read_as_it_was_meant(
    pattern: str, match: str, other: str
) -> None:
    assert portable(pattern).is_foreign
    assert_alike(pattern, match, other)


def assert_alike(pattern: str, match: str, other: str) -> None:
    text = portable(pattern).text
    for validator in (jsonschema_rs.Draft7Validator, jsonschema_rs.Draft202012Validator):
        schema = validator({"pattern": text})
        assert schema.is_valid(match)
        assert not schema.is_valid(other)
    assert re.search(text, match)
    assert not re.search(text, other)


@pytest.mark.parametrize("pattern", [r"^\p{L}+$", r"^\p{Script=Greek}+$"])
def test_letters_of_all_languages_are_judged(pattern: str) -> None:
    schema = jsonschema_rs.Draft7Validator({"pattern": portable(pattern).text})
    assert schema.is_valid("αβγ")
    assert not schema.is_valid("1")


@pytest.mark.parametrize("pattern", ["[", "(", "*", "a++", "(?>a)", r"^\h$"])
def test_what_is_no_regular_expression_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="is not a regular expression of ECMA-262"):
        portable(pattern)

"""Sample texts are plausible for the name of their member, however a document writes it."""

import re

import pytest

from understudy.openapi.sample_texts import text_for

FORMS = {
    "email": r"[a-z]+\d\d@example\.(com|net|org)",
    "instant": r"20\d\d-\d\d-\d\dT09:30:00Z",
    "person": "[A-Z][a-z]+ [A-Z][a-z]+",
    "phone": r"\+1202555\d{4}",
    "picture": r"https://example\.com/[a-z]+\.png",
    "word": "[a-z]+",
}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        *((it, "email") for it in ("email", "emailAddress", "billing_email", "EMAIL")),
        *((it, "instant") for it in ("createdAt", "expires_at")),
        *((it, "person") for it in ("name", "displayName", "full-name")),
        *((it, "phone") for it in ("phone", "phoneNumber", "homePhone")),
        *((it, "picture") for it in ("avatar", "Image")),
        *((it, "word") for it in ("format", "at", "productId", "fileNameX", "")),
    ],
)
def test_a_text_is_made_for_the_name_of_its_member(name: str, form: str) -> None:
    assert re.fullmatch(FORMS[form], text_for(name, "", "a seed"))


def test_the_first_name_of_a_member_is_a_first_name_in_any_style() -> None:
    styles = ("first_name", "firstName", "FIRST-NAME", "FirstName", "givenName")
    assert len({text_for(it, "", "a seed") for it in styles}) == 1

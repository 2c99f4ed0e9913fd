"""Masking: what reports and recordings may show of an exchange."""

import pytest

from understudy.exchange.masking import SECRET_NAMES, is_masked, masked, masked_fields


@pytest.mark.parametrize("name", sorted(SECRET_NAMES))
def test_every_secret_of_a_form_or_query_gets_a_pseudonym(name: str) -> None:
    text = masked(f"client_id=app&{name}=open+sesame&state=7", {})
    assert "sesame" not in text
    assert text.startswith("client_id=app&")
    assert text.endswith("&state=7")


@pytest.mark.parametrize("name", sorted(SECRET_NAMES - {"code"}))
def test_every_secret_of_a_json_body_gets_a_pseudonym(name: str) -> None:
    text = masked(rf'{{"{name}": "open \"sesame\"", "scope": "auth"}}', {})
    assert "sesame" not in text
    assert text.endswith(', "scope": "auth"}')


def test_the_code_of_an_error_is_a_word_and_no_secret() -> None:
    body = '{"error": "There is no such profile.", "code": "not_found"}'
    assert masked(body, {}) == body


def test_a_secret_gets_the_same_pseudonym_wherever_it_stands() -> None:
    in_form = masked("token=abc", {}).removeprefix("token=")
    in_header = masked("Bearer abc", {}).removeprefix("Bearer ")
    assert in_form == in_header
    assert is_masked(in_form)


def test_a_secret_that_begins_like_a_variable_is_masked_all_the_same() -> None:
    assert is_masked(masked("token=%24YBB%2ACup", {}).removeprefix("token="))
    assert masked("token=abc", {"abc": "TOKEN"}) == "token=$TOKEN"


def test_a_secret_part_of_a_multipart_form_gets_a_pseudonym() -> None:
    head = 'Content-Disposition: form-data; name="{}"\r\nContent-Type: text/plain\r\n\r\n{}\r\n--x'
    form = head.format("password", "open sesame") + head.format("about", "me")
    text = masked(form, {})
    assert "sesame" not in text
    assert text.endswith(head.format("about", "me"))


def test_the_values_of_cookies_get_pseudonyms_and_their_attributes_stay() -> None:
    (_, sent), (_, set_) = masked_fields(
        [("cookie", "a=open; b=sesame"), ("set-cookie", "a=open; Path=/; HttpOnly")], {}
    )
    assert sent.startswith("a=masked-")
    assert "sesame" not in sent
    assert set_ == sent.partition(";")[0] + "; Path=/; HttpOnly"

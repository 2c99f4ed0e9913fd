from hypothesis import given
from hypothesis import strategies as st

from understudy.mock.store.hashing import email_hash, is_hash

OBSERVED = "84059b07d4be67b806386c0aad8070a23f18836bbaae342275dc0a83414c32ee"


def test_the_hash_is_the_one_that_deployments_compute():
    assert email_hash("MyEmailAddress@example.com ") == OBSERVED


@given(st.emails(), st.text(" \t\r\n", max_size=3))
def test_neither_case_nor_space_around_an_address_counts(address, space):
    assert email_hash(f"{space}{address.upper()}{space}") == email_hash(address.upper().lower())


@given(st.text())
def test_a_hash_has_the_form_of_one(address):
    assert is_hash(email_hash(address))


def test_nothing_else_has_the_form_of_a_hash():
    others = ["", "ada", OBSERVED[1:], OBSERVED + "0", OBSERVED.upper(), "g" * 64, "٣" * 64]
    assert not any(is_hash(text) for text in [*others, f"{OBSERVED}\n"])

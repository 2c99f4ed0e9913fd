"""Who may read the pages: this machine's browsers, under names that are the mock's."""

import pytest
from tests.mock.pages.conftest import Ask

from understudy.errors import Forbidden

LOCAL = ("127.0.0.1:8080", "localhost:8080", "[::1]:8080")


@pytest.mark.parametrize("host", LOCAL)
def test_a_local_browser_reads_the_tokens(ask: Ask, host: str):
    assert "ada-full" in ask("/", host=host).text


@pytest.mark.parametrize("host", ["attacker.example", "127.0.0.1.attacker.example", "192.0.2.1"])
def test_a_name_that_an_attacker_could_choose_gets_no_page(ask: Ask, host: str):
    with pytest.raises(Forbidden, match="--admin-host"):
        ask("/", host=host)


def test_another_machine_sees_people_and_no_tokens(ask: Ask):
    page = ask("/", host="mock.test", client="192.0.2.7")
    assert "ada" in page.text
    assert "ada-full" not in page.text
    assert "shown to browsers on the mock" in page.text

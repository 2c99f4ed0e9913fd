"""The OAuth list: what an authorization server must hold, each check with its source."""

import pytest
from tests.proofs.attack.oauth.every_check import CHECKS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.title)
def test_the_mock_holds(browser, check) -> None:
    check.run(browser)


def test_the_list_is_long_and_names_each_check_once() -> None:
    assert len({check.title for check in CHECKS}) == len(CHECKS) >= 250
    assert all(check.source for check in CHECKS)

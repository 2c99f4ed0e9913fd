"""The whole OAuth list, and how it is tried without pytest."""

from tests.mock.authserver.conftest import Browser, Time, renewed
from tests.proofs.attack.oauth import (
    authorization_errors,
    authorization_responses,
    bearer_tokens,
    exchanges,
    pages,
    redirect_addresses,
    registration,
    token_life,
    token_requests,
    token_validation,
)
from tests.proofs.attack.oauth.checklist import OAuthCheck

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

CHECKS: list[OAuthCheck] = [
    *redirect_addresses.CHECKS,
    *authorization_errors.CHECKS,
    *authorization_responses.CHECKS,
    *exchanges.CHECKS,
    *token_requests.CHECKS,
    *token_life.CHECKS,
    *bearer_tokens.CHECKS,
    *token_validation.CHECKS,
    *pages.CHECKS,
    *registration.CHECKS,
]


def attack_oauth() -> list[str]:
    """Runs every check on a fresh mock; returns those that do not hold."""
    mock, problems = Mock(Settings()), []
    for check in CHECKS:
        with Browser(renewed(mock, Time())) as browser:
            try:
                check.run(browser)
            except AssertionError as error:
                problems.append(f"{check.title} ({check.source}): {error}")
    return problems

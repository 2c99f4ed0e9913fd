"""Token validation."""

from datetime import timedelta

from tests.mock.authserver.conftest import SERVER

from understudy.mock.authserver.token_endpoint import validate_token
from understudy.mock.authserver.token_lifecycle import IMPLICIT_LIFETIME, issue


def test_the_implicit_token_lives_until_its_last_second(call, world, time):
    token = issue(world, SERVER, "ben", ("auth",), IMPLICIT_LIFETIME).token
    time.advance(IMPLICIT_LIFETIME - timedelta(seconds=1))
    assert validate_token(call(), client_id="server-app", token=token).status == 200


def test_tokens_hold_what_a_fragment_must_escape_and_differ(world):
    tokens = [issue(world, SERVER, "ben", ("auth",)).token for _ in range(20)]
    assert len(set(tokens)) == 20
    assert set("#&%") & set("".join(tokens))

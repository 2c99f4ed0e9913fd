"""Token validation."""

from datetime import timedelta

from tests.mock.authserver.conftest import OTHER, SERVER

from understudy.mock.authserver.token_endpoint import validate_token
from understudy.mock.authserver.token_lifecycle import IMPLICIT_LIFETIME, issue, revoke_all
from understudy.mock.store.tokens import TOKENS


def test_the_implicit_token_lives_until_its_last_second(call, world, time):
    token = issue(world, SERVER, "ben", ("auth",), IMPLICIT_LIFETIME).token
    time.advance(IMPLICIT_LIFETIME - timedelta(seconds=1))
    assert validate_token(call(), client_id="server-app", token=token).status == 200


def test_tokens_hold_what_a_fragment_must_escape_and_differ(world):
    tokens = [issue(world, SERVER, "ben", ("auth",)).token for _ in range(20)]
    assert len(set(tokens)) == 20
    assert set("#&%") & set("".join(tokens))


def test_all_tokens_of_an_application_or_a_person_end_together(world):
    kept = issue(world, OTHER, "ada", ("auth",))
    issue(world, SERVER, "ben", ("auth",))
    issue(world, OTHER, "ben", ("auth",))
    assert len(revoke_all(world, client_id="server-app")) == 1
    assert len(revoke_all(world, person="ben")) == 1
    assert [token for _, token in world.items(TOKENS)] == [kept]

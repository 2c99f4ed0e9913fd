from understudy.mock.fixtures.tour import curl_lines
from understudy.mock.store.people import Email, Person
from understudy.mock.store.tokens import Token

ADA = Person("ada", "", (Email("ada@example.com"),))
OTTO = Person("otto", "", (Email("otto@example.com"),))
MIA = Person("mia", "", (Email("mia@example.com"),), visibility="private")


def test_the_tour_shows_the_person_whose_token_was_granted_most():
    few = Token("few", "ada", scopes=("auth",))
    most = Token("most", "otto", scopes=("auth", "avatar-profile:read"))
    assert curl_lines("http://m/v3", [ADA, OTTO], [few, most]) == [
        "curl http://m/v3/profiles/otto",
        "curl http://m/v3/me/profile -H 'Authorization: Bearer most'",
        "curl 'http://m/v3/qr-code/otto?size=240' --output otto.png",
    ]


def test_the_tour_leaves_out_what_no_token_opens():
    key = Token("key", "ada", kind="api_key")
    unseen = Token("unseen", "mia", scopes=("auth",))
    lines = curl_lines("http://m/v3", [MIA, ADA], [key, unseen])
    assert [line for line in lines if "Bearer" in line] == []
    assert lines[0] == "curl http://m/v3/profiles/ada"


def test_the_tour_of_a_world_without_public_people_is_empty():
    assert curl_lines("http://m/v3", [MIA], []) == []

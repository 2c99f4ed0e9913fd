"""A mutant deviates in its one point, and does not fail by itself on what a fuzzer sends it."""

from itertools import product

import httpx
import pytest
from tests.proofs.mutants.edge import LIST, MUTANTS, OWN, SITE, Edge, Mutant
from tests.proofs.mutants.edge_cases import fired
from tests.proofs.mutants.verifying import INNER, Crashed, deployed

AVATAR = f"{LIST}/{'0' * 32}"
JSON = {"authorization": "Bearer ada-full", "content-type": "application/json"}
BODIES = (
    b"",
    b"{",
    b"null",
    b"7",
    b"[]",
    b'"text"',
    b"\xff",
    b'{"rating": 7, "alt_text": [], "email_hash": {}}',
    b'{"rating": [], "location": 7, "pronunciation": null}',
)
PLACES = (("PATCH", OWN), ("PATCH", AVATAR), ("POST", f"{AVATAR}/email"), ("POST", LIST))


class Tape:
    """Answers the same request as before, which is a hundred times as fast as the mock."""

    def __init__(self) -> None:
        self.answers: dict[object, tuple[httpx.Request, httpx.Response]] = {}

    def record(self, request: httpx.Request) -> httpx.Response:
        answer = INNER.handle_request(request)
        self.answers[self._key(request)] = (request, answer)
        return answer

    def play(self, request: httpx.Request) -> httpx.Response:
        found = self.answers.get(self._key(request))
        return found[1] if found else self.record(request)

    def _key(self, request: httpx.Request) -> object:
        return request.method, request.url, tuple(request.headers.raw), request.read()


@pytest.fixture
def tape():
    tape = Tape()
    with deployed(None):
        for (method, path), body in product(PLACES, BODIES):
            tape.record(httpx.Request(method, SITE + path, headers=JSON, content=body))
        assert len(list(fired(httpx.MockTransport(tape.record), 25))) > 250
        yield tape


def test_no_mutant_fails_by_itself_on_odd_requests(tape):
    asked = [request for request, _ in tape.answers.values()]
    crashes = []
    for mutant in MUTANTS:
        edge = Edge(httpx.MockTransport(tape.play), mutant.make())
        for request in asked:
            edge.handle_request(request)
        crashes += [f"{mutant.name}: {crash}" for crash in edge.crashes]
    assert crashes == []


def test_the_mocks_answer_stands_where_a_mutant_fails_by_itself():
    clumsy = Mutant("clumsy", (), lambda: lambda request, send: send(request).json()["absent"])
    request = httpx.Request("GET", f"{SITE}/profiles/ada")
    said = r"clumsy crashed on GET .*/profiles/ada.*KeyError"
    with pytest.raises(Crashed, match=said), deployed(clumsy) as wire:
        assert wire.handle_request(request).status_code == 200

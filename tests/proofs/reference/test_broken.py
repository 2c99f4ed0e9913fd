"""Each broken deployment is broken in the way it says."""

from datetime import timedelta
from functools import partial

import httpx
import pytest
from tests import patient
from tests.proofs.reference.broken import (
    circling,
    cut_short,
    down,
    dripping,
    dropping,
    garbage,
    html,
    slow,
)

PATIENCE = 120
"""Seconds that a busy machine may take."""


@pytest.mark.parametrize(
    ("deployment", "failure"),
    [
        (down, httpx.ConnectError),
        (partial(slow, timedelta(minutes=5)), httpx.ReadTimeout),
        (dropping, httpx.ReadError),
        (cut_short, httpx.RemoteProtocolError),
        (garbage, httpx.RemoteProtocolError),
        (circling, httpx.TooManyRedirects),
    ],
    ids=["down", "slow", "dropping", "cut short", "garbage", "circling"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_client_fails_as_expected(deployment, failure, method):
    seconds = 0.3 if failure is httpx.ReadTimeout else PATIENCE
    with deployment() as addresses, httpx.Client(follow_redirects=True, timeout=seconds) as client:
        for url in (f"{addresses.base_url}/me/profile", f"{addresses.auth_url}/oauth2/token"):
            body = b"data" if method == "POST" else None
            with pytest.raises(failure):
                client.request(method, url, content=body)


def test_a_slow_deployment_answers_in_the_end():
    with slow(timedelta(milliseconds=50)) as addresses:
        answer = patient.get(addresses.base_url)
    assert answer.json() == {}
    assert answer.elapsed >= timedelta(milliseconds=50)


def test_html_comes_with_200():
    with html() as addresses:
        answer = patient.get(f"{addresses.base_url}/profiles/anybody")
    assert (answer.status_code, answer.headers["content-type"][:9]) == (200, "text/html")


def test_a_dripping_answer_keeps_the_client_waiting():
    with (
        dripping() as addresses,
        patient.stream("GET", addresses.base_url) as answer,
    ):
        pieces = answer.iter_raw()
        assert [next(pieces) for _ in range(3)] == [b" ", b" ", b" "]

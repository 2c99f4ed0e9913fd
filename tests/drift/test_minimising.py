"""A difference is reduced to the fewest requests that show it, at the mock and at the deployment."""

from contextlib import closing
from dataclasses import replace

import orjson
import pytest
from tests.drift.compared import personal_values
from tests.proofs.drifting import deployment
from tests.verify.exchanges import exchange_of

from understudy.drift.comparing import NOT_SHORTENED, minimised
from understudy.drift.differences import Compared
from understudy.drift.documents.sources import DocumentsOfRun
from understudy.drift.gathering import report_of_run
from understudy.drift.mock_beside import drift, mock_beside
from understudy.drift.observing import replay
from understudy.exchange.messages import Request
from understudy.verify.deployment import Allowance
from understudy.verify.issued_values import rewritten
from understudy.verify.pictures import picture
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import RunOptions, start

SENT = [exchange_of("/", number=number) for number in range(1, 10)]
ROWS = [Compared(each, each, each) for each in SENT]


@pytest.mark.parametrize("needed", [[], [ROWS[4]], [ROWS[0], ROWS[8]], ROWS[2:5], ROWS])
def test_exactly_the_needed_requests_remain(needed):
    assert minimised(ROWS, lambda rows: all(row in rows for row in needed)) == needed


def test_nothing_is_returned_where_all_requests_show_nothing():
    assert minimised(ROWS, lambda _rows: False) is None


JSON = {"content-type": "application/json"}


def edit_and_read(run):
    """Sends two updates between other reads, and then reads the location."""
    client = ProbeClient(run.gateway, "test")
    for text in ("Here", "There"):
        client.get("/me/avatars", "owner")
        client.send("PATCH", "/me/profile", "owner", json={"location": text})
    client.get("/me/profile", "owner")


def test_a_value_that_is_not_read_back_is_shown_by_its_update_and_the_read():
    ours = deployment(loses_location)
    options = RunOptions(rules=("qr-default-size",), phases=(("test", edit_and_read),))
    result = drift(ours, mock_beside(ours), options)
    steps = {
        difference.aspect: [step.operation for step in result.steps(difference)]
        for cause in result.causes
        for difference in cause.differences
        if difference.exchange.operation == "GET /me/profile"
    }
    assert steps["read back location"] == ["PATCH /me/profile", "GET /me/profile"]


def loses_location(request, send):
    """Responds to reads of the own profile with another location."""
    response = send(request)
    if request.method != "GET" or request.url.path != "/v3/me/profile":
        return response
    body = orjson.dumps({**orjson.loads(response.content), "location": "Elsewhere"})
    return type(response)(response.status_code, headers=JSON, content=body)


def test_issued_values_are_those_of_the_replay():
    with closing(deployment()) as opened:
        gateway = start(opened, RunOptions()).gateway
        client = ProbeClient(gateway, "test")
        upload = client.send("POST", "/me/avatars", "owner", files={"data": ("a.png", picture())})
        image = upload.json_object["image_id"]
        steps = [upload, client.send("DELETE", f"/me/avatars/{image}", "owner")]
        again, deleted = replay(gateway, steps)
    assert again.json_object["image_id"] != image
    assert deleted.value == again.json_object["image_id"]
    assert deleted.response.is_success


def test_texts_are_replaced_in_every_spelling():
    request = Request("POST", "http://a/x?code=b%2Fc", (("authorization", "Bearer b/c"),), b"b%2Fc")
    after = rewritten(request, {"b/c": "d e"})
    assert after == Request(
        "POST", "http://a/x?code=d+e", (("authorization", "Bearer d e"),), b"d+e"
    )


def test_minimising_ends_with_the_time_of_the_run():
    ended = []

    def phase(run):
        edit_and_read(run)
        ended.append(run)

    allowance = Allowance(is_over=lambda: len(ended) == len(("first", "second", "the mock's")))
    ours = replace(deployment(loses_location), allowance=allowance)
    options = RunOptions(rules=("qr-default-size",), phases=(("test", phase),))
    result = drift(ours, mock_beside(ours), options)
    assert result.causes
    assert not result.shortest
    assert NOT_SHORTENED in result.not_compared


def test_a_report_shows_the_requests_of_a_cause_once():
    ours = deployment(without_texts)
    options = RunOptions(rules=("profile-required-members",))
    result = drift(ours, mock_beside(ours), options, is_minimised=False)
    report = report_of_run(result, DocumentsOfRun(()), ("", ""), {}, personal_values())
    (cause,) = [it for it in report.causes if it.rule == "profile-required-members"]
    first, *others = cause.differences
    assert first.commands
    assert {it.request for it in others} >= {first.request}
    assert not any(it.commands for it in others if it.request == first.request)


def without_texts(request, send):
    """Leaves out two required members of every profile."""
    response = send(request)
    if "/profiles/" not in request.url.path or not response.is_success:
        return response
    members = orjson.loads(response.content)
    kept = {name: members[name] for name in members if name not in {"location", "company"}}
    return type(response)(response.status_code, headers=JSON, content=orjson.dumps(kept))

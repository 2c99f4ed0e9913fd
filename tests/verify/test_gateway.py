"""The gateway: what is permitted, how much, and what is put back after a write."""

from datetime import timedelta

import httpx
import pytest
from msgspec.structs import replace

from understudy.api.bundled_target import TARGET
from understudy.verify.browsing import decide, parameters, password_form, post
from understudy.verify.deployment import Allowance
from understudy.verify.ledger import ANONYMOUS, Ledger
from understudy.verify.permits import BudgetSpent, NotPermitted, OutOfTime, Unreachable
from understudy.verify.pictures import picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.target import Budget, Permit
from understudy.verify.undo import Undo
from understudy.verify.undo_journal import read_journal

OWN = replace(TARGET, mode="own")
ADA_AVATAR = "288781428e4dfa058dcb4ccb157f0b79"


@pytest.mark.parametrize(
    ("target", "method", "path", "who"),
    [
        (replace(TARGET, mode="observe"), "PATCH", "/me/profile", "owner"),
        (replace(TARGET, mode="observe"), "DELETE", "/me/avatars/x", "anonymous"),
        (OWN, "PATCH", "/me/profile", "other"),
        (OWN, "DELETE", f"/me/avatars/{ADA_AVATAR}", "owner"),
        (OWN, "POST", "/unknown", "owner"),
        (OWN, "GET", "https://elsewhere.example.com/", "anonymous"),
        (OWN, "PATCH", "/me/profile", "a token that nobody knows"),
        (replace(OWN, permit=Permit()), "POST", "/me/avatars", "owner"),
        (replace(OWN, permit=Permit()), "POST", "http://127.0.0.1:8081/oauth2/token", "anonymous"),
    ],
)
def test_what_is_not_permitted_is_not_sent(gateway, wire, target, method, path, who):
    with pytest.raises(NotPermitted):
        ProbeClient(gateway(target), "test").send(method, path, who)
    assert wire.seen == []


def test_no_more_tokens_are_issued_than_permitted(gateway, wire):
    target = replace(TARGET, permit=Permit(tokens=True, max_tokens=1))
    client = ProbeClient(gateway(target), "test")
    form = password_form(target.application)
    assert post(client, form).status == 200
    with pytest.raises(
        NotPermitted, match=r"no more tokens may be issued: \[permit\] max_tokens = 1"
    ):
        post(client, form)
    with pytest.raises(NotPermitted, match="max_tokens"):
        decide(client, parameters(target.application, response_type="token"))
    assert len(wire.seen) == 1


def test_requests_at_the_same_moment_share_what_is_left_of_the_tokens(gateway, wire):
    target = replace(TARGET, permit=Permit(tokens=True, max_tokens=1))
    client = ProbeClient(gateway(target), "test")
    form = {"form": password_form(target.application)}
    url = f"{target.auth_url}/oauth2/token"
    with pytest.raises(NotPermitted, match="max_tokens"):
        client.send_together("POST", url, "anonymous", form, form)
    assert wire.seen == []


def test_an_operation_whose_responses_were_late_gets_no_third_request(gateway, wire):
    """Paths of no operation have nothing in common, so that one tells nothing of the next."""
    visit, wire.inner = ProbeClient(gateway(TARGET), "test"), httpx.MockTransport(_late)
    for path in ("/profiles/ada", "/profiles/ben", "/a", "/b", "/c"):
        with pytest.raises(Unreachable):
            visit.get(path)
    with pytest.raises(NotPermitted, match=r"2 requests to .+ got no response in time"):
        visit.get("/profiles/eve")
    assert len(wire.seen) == 5


def _late(request: httpx.Request) -> httpx.Response:
    msg = "it took too long"
    raise httpx.ReadTimeout(msg, request=request)


def test_no_more_is_sent_than_the_hour_allows(gateway, wire):
    visit = ProbeClient(gateway(replace(TARGET, budget=Budget(anonymous=3))), "test")
    for _ in range(3):
        visit.get("/profiles/ada")
    with pytest.raises(BudgetSpent, match="the hour's budget for requests without a token"):
        visit.get("/qr-code/ada", "owner")
    visit.get("/me/avatars", "owner")
    assert len(wire.seen) == 4


def test_a_429_pauses_until_the_reset(gateway):
    target = replace(TARGET, budget=Budget(anonymous=500))
    visit = ProbeClient(gateway(target, allowance=Allowance(pause=timedelta(hours=2))), "test")
    statuses = [visit.get("/profiles/ada").status for _ in range(102)]
    assert statuses == [200] * 102  # the header says that nothing is left, so an hour passes
    impatient = ProbeClient(gateway(target), "test")
    for _ in range(98):
        impatient.get("/profiles/ada")
    with pytest.raises(BudgetSpent, match="the deployment's limit"):
        impatient.get("/profiles/ada")


def test_a_killed_run_is_put_back_from_its_journal(gateway, tmp_path):
    journal = tmp_path / "target.journal"
    killed = gateway(OWN)
    Undo(killed, journal)
    visit = ProbeClient(killed, "test")
    before = visit.get("/me/profile", "owner").json_object["location"]
    visit.send("PATCH", "/me/profile", "owner", json={"location": "elsewhere"})
    assert journal.exists()
    after = gateway(OWN)
    assert Undo(after, journal, read_journal(journal)).restore() == []
    assert (
        ProbeClient(gateway(OWN), "test").get("/me/profile", "owner").json_object["location"]
        == before
    )
    assert not journal.exists()


@pytest.mark.parametrize(
    ("path", "method"),
    [("/me/profile", "PATCH"), ("/me/avatars", "POST")],
    ids=["profile", "avatar"],
)
@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, html="<p>Please sign in to the network.</p>"),
        httpx.Response(200, json=[{"image_id": 7}, "text"]),
        httpx.Response(200, json={"location": None}),
        httpx.Response(404, json={"location": "here"}),
    ],
    ids=["a page", "other types", "null", "a refusal"],
)
def test_where_nothing_is_told_nothing_is_changed(gateway, wire, answer, path, method):
    careful = gateway(OWN)
    Undo(careful, None)
    wire.inner = httpx.MockTransport(lambda _: answer)
    with pytest.raises(NotPermitted, match="the current state cannot be read before the change"):
        ProbeClient(careful, "test").send(method, path, "owner", json={"location": "x"})
    assert {request.method for request in wire.seen} == {"GET"}


def test_a_field_that_is_not_told_is_not_changed_and_another_is(gateway, wire):
    inner = wire.inner

    def without_pronouns(request):
        response = inner.handle_request(request)
        if str(request.url).endswith("/me/profile"):
            return httpx.Response(200, json={**response.json(), "pronouns": None})
        return response

    wire.inner = httpx.MockTransport(without_pronouns)
    careful = gateway(OWN)
    undo = Undo(careful, None)
    visit = ProbeClient(careful, "test")
    for body in ({"pronouns": "they"}, {"location": "x", "pronouns": ""}, ["no object"]):
        with pytest.raises(NotPermitted, match="the current value of pronouns is unknown"):
            visit.send("PATCH", "/me/profile", "owner", json=body)
    assert visit.send("PATCH", "/me/profile", "owner", json={"location": "x"}).status == 200
    assert undo.restore() == []


def test_an_upload_whose_answer_was_lost_is_removed(gateway, wire, tmp_path):
    inner = wire.inner

    def losing(request):
        response = inner.handle_request(request)
        if request.method == "POST" and request.url.path.endswith("/me/avatars"):
            msg = "the connection broke"
            raise httpx.ReadError(msg, request=request)
        return response

    wire.inner = httpx.MockTransport(losing)
    killed = gateway(OWN)
    Undo(killed, tmp_path / "journal")
    visit = ProbeClient(killed, "test")
    before = visit.get("/me/avatars", "owner").body
    with pytest.raises(Unreachable):
        upload(visit, picture(), select_avatar="true")
    assert len(visit.get("/me/avatars", "owner").body) == len(before) + 1
    after = gateway(OWN)
    assert Undo(after, None, read_journal(tmp_path / "journal")).restore() == []
    assert ProbeClient(gateway(OWN), "test").get("/me/avatars", "owner").body == before


def test_what_another_uploaded_meanwhile_is_not_removed(gateway):
    ours, theirs = gateway(OWN), gateway(OWN)
    undo = Undo(ours, None)
    upload(ProbeClient(ours, "test"), picture())
    told = upload(ProbeClient(theirs, "another"), picture(size=(80, 80))).json_object["image_id"]
    assert undo.restore() == [f"owner: the avatar {told} was not removed"]


def test_after_the_end_nobody_sends_anything(gateway, wire):
    ended = gateway(OWN)
    Undo(ended, None).restore()
    with pytest.raises(OutOfTime):
        ProbeClient(ended, "a thread that goes on").get("/openapi")
    assert wire.seen == []


def test_an_avatar_that_was_there_before_is_never_deleted(gateway, wire):
    full = gateway(TARGET)
    Undo(full, None)
    with pytest.raises(NotPermitted, match="could not be undone"):
        ProbeClient(full, "test").send("DELETE", f"/me/avatars/{ADA_AVATAR.upper()}", "owner")
    assert {request.method for request in wire.seen} == {"GET"}


def test_the_ledger_counts_over_runs(tmp_path, mock):
    path = tmp_path / "ledger"
    now = mock.world.clock.now()
    Ledger(path, now).add(ANONYMOUS, now)
    assert Ledger(path, now).used(ANONYMOUS, now) == 1
    assert Ledger(path, now + timedelta(hours=1)).used(ANONYMOUS, now + timedelta(hours=1)) == 0

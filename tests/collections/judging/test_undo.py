"""Everything that a run creates at another service is deleted, by the run or by the next one."""

from zlib import crc32

import httpx
import pytest
from tests.collections.judging.service import HARBOURS, NOTES, Service
from tests.collections.judging.verifying import deployed, target, verified

from understudy.collections.client import InferredRun, collection_client
from understudy.collections.judging import CollectionsJudge, judge_singleton
from understudy.errors import StartupError
from understudy.verify.case_sender import catalogue_cases
from understudy.verify.permits import NotPermitted, Unreachable
from understudy.verify.run import RunOptions, start
from understudy.verify.runner import carry_out
from understudy.verify.target import Credentials

BEFORE = {"language": "de", "signature": "Bis bald"}
OWNER = "token-of-mia"


@pytest.fixture
def service():
    service = Service()
    service.singles[OWNER, "/me/settings"] = BEFORE
    return service


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "target.journal"


def killed(service, journal, document=NOTES):
    """Begins a run that ends without undoing anything, as after ``kill -9``."""
    run = start(deployed(service, document, journal=journal), RunOptions(rules=("answers",)))
    assert isinstance(run.state, CollectionsJudge)
    return InferredRun(run, run.state.model)


def items_of(service):
    return [item for items in service.collections.values() for item in items.values()]


@pytest.mark.parametrize("document", [NOTES, HARBOURS], ids=lambda path: path.stem)
def test_a_run_leaves_nothing_behind(service, document):
    outcome = verified(service, document)
    assert any(line.startswith("POST") for line in service.requests)
    assert items_of(service) == []
    assert service.single(OWNER, "/me/settings") == BEFORE
    assert (outcome.not_restored, outcome.remaining) == ((), ())


def test_the_next_run_deletes_what_a_killed_one_created_parents_last(service, journal):
    state = killed(service, journal, HARBOURS)
    berths = state.model.collections[1]
    collection_client(state, berths, "test").create()
    assert len(items_of(service)) == 2
    service.requests.clear()
    carry_out(deployed(service, HARBOURS, journal=journal), RunOptions(rules=("answers",)))
    assert service.requests[:4] == [
        *("DELETE /harbours/b41/berths/b42", "GET /harbours/b41/berths/b42"),
        *("DELETE /harbours/b41", "GET /harbours/b41"),
    ]
    assert items_of(service) == []
    assert not journal.exists()


def test_the_next_run_finds_an_item_whose_creation_got_no_response(service, journal, monkeypatch):
    state = killed(service, journal)
    created = Service._of_collection

    def lost(service, request, *arguments):
        created(service, request, *arguments)
        msg = "no response in time"
        raise httpx.ReadTimeout(msg, request=request)

    monkeypatch.setattr(Service, "_of_collection", lost)
    with pytest.raises(Unreachable):
        collection_client(state, state.model.collections[0], "test").create()
    monkeypatch.undo()
    assert len(items_of(service)) == 1
    carry_out(deployed(service, journal=journal), RunOptions(rules=("answers",)))
    assert items_of(service) == []


def test_the_next_run_restores_what_exists_once(service, journal):
    state = killed(service, journal)
    judge_singleton(state, state.model.singletons[0])
    assert service.single(OWNER, "/me/settings") != BEFORE
    carry_out(deployed(service, journal=journal), RunOptions(rules=("answers",)))
    assert service.single(OWNER, "/me/settings") == BEFORE


REQUIRED = """
    parameters:
      - {name: tenant, in: query, required: true, schema: {const: a}}
      - {name: X-Client, in: header, required: true, schema: {const: verify}}
"""


def test_what_exists_once_is_restored_with_all_that_the_document_requires(
    service, journal, tmp_path, monkeypatch
):
    path = tmp_path / "notes.yaml"
    path.write_text(NOTES.read_text().replace("  /me/settings:\n", f"  /me/settings:{REQUIRED}"))
    plain = Service.respond

    def strict(service, request):
        is_whole = request.url.query == b"tenant=a" and request.headers.get("x-client") == "verify"
        is_bare = request.url.path.endswith("/settings") and not is_whole
        assert request.method != "GET" or "content-type" not in request.headers
        return httpx.Response(400) if is_bare else plain(service, request)

    monkeypatch.setattr(Service, "respond", strict)
    state = killed(service, journal, path)
    judge_singleton(state, state.model.singletons[0])
    assert service.single(OWNER, "/me/settings") != BEFORE
    carry_out(deployed(service, path, journal=journal), RunOptions(rules=("answers",)))
    assert service.single(OWNER, "/me/settings") == BEFORE


def test_the_next_run_does_not_begin_where_an_item_cannot_be_deleted(service, journal, monkeypatch):
    state = killed(service, journal)
    collection_client(state, state.model.collections[0], "test").create()
    refused = lambda *_: httpx.Response(403)  # noqa: E731 - one expression with a name
    monkeypatch.setattr(Service, "_of_item", refused)
    with pytest.raises(StartupError, match=r"/me/notes/41 was not deleted: status 403"):
        carry_out(deployed(service, journal=journal), RunOptions(rules=("answers",)))


@pytest.mark.parametrize("number", [2, 3, 5, 20])
def test_a_run_that_is_interrupted_leaves_nothing_behind(number):
    class Interrupted(Service):
        def respond(self, request):
            if len(self.requests) == number:
                super().respond(request)
                raise KeyboardInterrupt
            return super().respond(request)

    outcome = verified(interrupted := Interrupted())
    assert outcome.stopped
    assert outcome.not_restored == ()
    assert items_of(interrupted) == []


def test_the_mode_observe_writes_nothing(service):
    outcome = verified(service, judged=target(mode="observe"))
    assert {line.partition(" ")[0] for line in service.requests} <= {"GET"}
    reasons = {it.reason for it in outcome.rules if it.rule.id == "inferred-create-listed"}
    assert reasons == {"writing is not permitted: the mode is observe"}


def test_a_spent_budget_ends_the_run_with_everything_undone(service):
    outcome = verified(service, requests=12)
    assert outcome.requests <= 12
    assert items_of(service) == []
    assert any("inferred state" in name for name in outcome.not_run)


def test_in_mode_own_nothing_is_created_that_cannot_be_deleted(service, tmp_path):
    document = tmp_path / "harbours.yaml"
    text = HARBOURS.read_text().replace("    delete:\n", "    x-delete:\n")
    document.write_text(text)
    state = killed(service, None, document)
    with pytest.raises(NotPermitted, match="not known how to undo POST /harbours"):
        collection_client(state, state.model.collections[0], "test").create()
    outcome = verified(service, document, target(mode="full"))
    assert items_of(service) != []
    assert any("which has no DELETE" in line for line in outcome.remaining)


HEADED = """
      parameters:
        - {name: X-Client, in: header, required: true, schema: {type: string, enum: [verify]}}
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, required: [reason], properties: {reason: {type: string}}}}}
"""


def test_an_item_is_deleted_with_all_that_the_document_requires_of_it(
    service, journal, tmp_path, monkeypatch
):
    path = tmp_path / "harbours.yaml"
    text = HARBOURS.read_text()
    assert text.count("    delete:\n") == 2
    path.write_text(text.replace("    delete:\n", f"    delete:{HEADED}"))
    plain = Service.respond

    def strict(service, request):
        is_bare = request.headers.get("x-client") != "verify" or b'"reason"' not in request.content
        assert request.method != "GET" or "content-type" not in request.headers
        return (
            httpx.Response(400)
            if request.method == "DELETE" and is_bare
            else plain(service, request)
        )

    monkeypatch.setattr(Service, "respond", strict)
    state = killed(service, journal, path)
    collection_client(state, state.model.collections[1], "test").create()
    assert len(items_of(service)) == 2
    carry_out(deployed(service, path, journal=journal), RunOptions(rules=("answers",)))
    assert items_of(service) == []
    assert not verified(service, path).not_restored


def test_an_item_is_gone_that_another_request_of_the_run_deleted_whatever_a_second_one_gets(
    service, journal, monkeypatch
):
    state = killed(service, journal)
    collection_client(state, state.model.collections[0], "test").create()
    service.collections.clear()
    of_item = Service._of_item
    refused = lambda it, method, *rest: (  # noqa: E731 - one expression with a name
        httpx.Response(405) if method == "DELETE" else of_item(it, method, *rest)
    )
    monkeypatch.setattr(Service, "_of_item", refused)
    outcome = carry_out(deployed(service, journal=journal), RunOptions(rules=("answers",)))
    assert outcome.not_restored == ()
    assert not journal.exists()


def test_a_creation_that_is_refused_is_sent_again_without_optional_members(service, journal):
    state = killed(service, journal)
    service.refusal = lambda _who, _path, sent: 404 if "text" in sent else None
    client = collection_client(state, state.model.collections[0], "test")
    assert "text" not in client.create().expected
    assert len(items_of(service)) == 1


class Slugs(Service):
    """Identifies each berth by its members, so that a change gives it another identifier."""

    def create(self, who, path, sent):
        item = super().create(who, path, sent)
        if path.endswith("/berths"):
            item["id"] = f"b{crc32(repr(sorted(sent.items())).encode())}"
            self.collections[who, path] = {it["id"]: it for it in self.items(who, path).values()}
        return item

    def kept(self, who, path, item, changed):
        del self.items(who, path)[item["id"]]
        return self.create(who, path, changed)


def test_an_item_is_followed_whose_identifier_a_change_changes():
    judged = ("answers", "document", "inferred-create-readable", "inferred-replace-kept")
    phases = (("cases", catalogue_cases(8)),)
    outcome = verified(slugs := Slugs(), HARBOURS, rules=judged, phases=phases)
    assert [it.summary for it in outcome.findings] == []
    assert {it.status for it in outcome.rules if it.rule.id == "inferred-replace-kept"} == {
        "passed"
    }
    assert items_of(slugs) == []


def test_what_is_not_deleted_for_lack_of_a_credential_says_so(monkeypatch):
    of_item = Service._of_item

    def closed(it, method, who, *rest):
        is_refused = method == "DELETE" and not who
        return httpx.Response(403) if is_refused else of_item(it, method, who, *rest)

    monkeypatch.setattr(Service, "_of_item", closed)
    outcome = verified(Service(), HARBOURS, target(credentials=Credentials()))
    assert any(
        it.endswith("403; [credentials] access_token is not given") for it in outcome.not_restored
    )

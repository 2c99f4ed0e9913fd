"""One request deletes all the items that it lists, the caller's own alone, and no other."""

from pathlib import Path
from urllib.parse import parse_qs

import httpx
import orjson
import pytest
from tests.collections.judging.service import NOTES, Service
from tests.collections.judging.verifying import target, verified

BY_QUERY = """
    delete:
      parameters: [{name: ids, in: query, required: true, explode: false, schema: {type: array, maxItems: 50, items: {type: integer}}}]
      responses: {'204': {description: They are gone.}, '403': {description: The token has not the scope.}}"""
BY_BODY = """
  /me/notes/batch-delete:
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [note_ids, reason]
              properties:
                note_ids: {type: array, items: {type: object, required: [id], properties: {id: {type: integer}}}}
                reason: {type: string}
                everything: {type: boolean}
      responses: {'204': {description: They are gone.}, '403': {description: The token has not the scope.}}"""
ITEM = "  /me/notes/{noteId}:"
GONE, KEPT, OWN = "inferred-delete-gone", "inferred-change-isolated", "inferred-owner-only"


@pytest.fixture(params=[f"{BY_QUERY[1:]}\n", f"{BY_BODY[1:]}\n"], ids=["query", "body"])
def document(request, tmp_path: Path) -> Path:
    path = tmp_path / "notes.yaml"
    path.write_text(NOTES.read_text().replace(ITEM, f"{request.param}{ITEM}"))
    return path


class Several(Service):
    """Deletes the notes that a query or a body lists."""

    answer = 204

    def respond(self, request):
        who = request.headers.get("authorization", "").removeprefix("Bearer ")
        path, sent = request.url.path, orjson.loads(request.content or b"{}")
        if request.method == "DELETE" and path == "/v1/me/notes":
            named = parse_qs(request.url.query.decode())["ids"][0].split(",")
        elif path == "/v1/me/notes/batch-delete":
            assert sent.keys() == {"note_ids", "reason"}
            named = [str(it["id"]) for it in sent["note_ids"]]
        else:
            return super().respond(request)
        if not self.opens(request.method) and who.endswith("to-read"):
            return httpx.Response(403)
        self.requests.append(f"several {len(named)}")
        self.delete_several(who, named)
        return httpx.Response(self.answer)

    def delete_several(self, who, named):
        for it in named:
            self.items(who, "/me/notes").pop(it, None)


class DeletesTheFirst(Several):
    def delete_several(self, who, named):
        super().delete_several(who, named[:1])


class DeletesAll(Several):
    def delete_several(self, who, named):
        super().delete_several(who, [*named, *self.items(who, "/me/notes")])


class DeletesNotesOfAnother(Several):
    def delete_several(self, who, named):
        for owner in (who, "token-of-mia"):
            super().delete_several(owner, named)


class DeletesLater(DeletesTheFirst):
    answer = 202


class RefusesLists(DeletesTheFirst):
    answer = 403


@pytest.mark.parametrize(
    ("kind", "broken"),
    [
        (Several, set()),
        (DeletesTheFirst, {GONE}),
        (DeletesAll, {KEPT}),
        (DeletesNotesOfAnother, {OWN}),
        (DeletesLater, set()),
        (RefusesLists, set()),
    ],
)
def test_a_list_of_items_is_deleted_whole_and_nothing_else(kind, broken, document):
    service = kind()
    outcome = verified(service, document, target(mode="full"), rules=(GONE, KEPT, OWN))
    assert {it.rule.id for it in (*outcome.findings, *outcome.notes)} == broken
    assert service.requests.count("several 2") == 1  # a repetition would name the same items
    assert (outcome.not_restored, outcome.remaining, outcome.internal_errors) == ((), (), ())
    assert not any(service.collections.values())


@pytest.mark.parametrize(("kind", "broken"), [(Several, set()), (DeletesTheFirst, {GONE})])
def test_a_run_that_may_change_what_it_made_alone_deletes_lists_of_that(kind, broken, document):
    service = kind()
    own = service.create("token-of-mia", "/me/notes", {"title": "Kept."})
    outcome = verified(service, document, rules=(GONE, KEPT))
    assert {it.rule.id for it in (*outcome.findings, *outcome.notes)} == broken
    assert [it for it in service.requests if it.startswith("several")] == ["several 2"]
    left = {name: it for items in service.collections.values() for name, it in items.items()}
    assert (left, outcome.not_restored) == ({str(own["id"]): own}, ())


def test_of_items_that_are_gone_nothing_is_undone(document):
    service = Several()
    verified(service, document, rules=(GONE,))
    place = next(n for n, it in enumerate(service.requests) if it.startswith("several"))
    deleted = [service.requests[place + n].rpartition("/")[2] for n in (1, 2)]
    assert not [it for it in deleted if f"DELETE /me/notes/{it}" in service.requests]

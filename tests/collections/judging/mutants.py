"""Mutants of the small service: each does one thing that a reader of its document does not expect."""

from dataclasses import dataclass
from pathlib import Path

from tests.collections.judging.service import CREATED, HARBOURS, NOTES, OWNER, Service

MUTANTS: "list[InferredMutant]" = []


@dataclass(frozen=True)
class InferredMutant:
    """A broken service.

    Attributes:
        kind: The service; its docstring says what is broken.
        document: The document that it is judged by.
        rule: The rule that it breaks.
    """

    kind: type[Service]
    document: Path
    rule: str


def breaks(rule: str, document: Path = NOTES):
    """Registers a mutant that breaks a rule."""

    def register(kind):
        MUTANTS.append(InferredMutant(kind, document, rule))
        return kind

    return register


@breaks("inferred-create-readable")
class ForgetsWhatIsCreated(Service):
    def read(self, who, path, identifier):
        return None


@breaks("inferred-create-readable")
class CutsTitles(Service):
    def create(self, who, path, sent):
        return super().create(who, path, {**sent, "title": sent["title"][:3]})


@breaks("inferred-create-readable")
class CutsTextsAtCharactersOfFourBytes(Service):
    def create(self, who, path, sent):
        text = sent.get("text")
        kept = {"text": text.partition("🎭")[0]} if isinstance(text, str) else {}
        return super().create(who, path, {**sent, **kept})


@breaks("inferred-create-response")
class SaysAnotherTextThanItKeeps(Service):
    def create(self, who, path, sent):
        return {**super().create(who, path, sent), "text": "A draft."}


@breaks("inferred-create-listed")
class ListsAllButTheNewest(Service):
    def listed(self, who, path, query):
        newest = list(self.items(who, path).values())[-1:]
        return [it for it in super().listed(who, path, query) if it not in newest]


@breaks("inferred-create-listed", HARBOURS)
class ListsBerthsOfNoHarbour(Service):
    def listed(self, who, path, query):
        return [] if path.endswith("/berths") else super().listed(who, path, query)


@breaks("inferred-create-identifier", HARBOURS)
class GivesOneIdentifierTwice(Service):
    def identify(self, path):
        return "b1"


@breaks("inferred-create-identifier", HARBOURS)
class CountsItemsForTheirIdentifiers(Service):
    def identify(self, path):
        return f"b{len(self.items(OWNER, path)) + 1}"


@breaks("inferred-create-defaulted")
class PinsWhatDoesNotSayOtherwise(Service):
    def create(self, who, path, sent):
        return super().create(who, path, {"is_pinned": True, **sent})


@breaks("inferred-create-guarded")
class TakesTheTimeOfCreationFromTheRequest(Service):
    def create(self, who, path, sent):
        item = super().create(who, path, sent)
        item.update(sent)
        return item


@breaks("inferred-create-guarded")
class TakesTheTimeOfCreationFromAChange(Service):
    def update(self, who, path, identifier, sent):
        item = super().update(who, path, identifier, sent)
        if item is not None:
            item.update(sent)
        return item


@breaks("inferred-create-guarded")
class TakesTheTimeOfCreationFromAReplacement(Service):
    def replace(self, who, path, identifier, sent):
        item = super().replace(who, path, identifier, sent)
        if item is not None:
            item.update(sent)
        return item


@breaks("inferred-create-unique")
class TakesATitleTwice(Service):
    def refusal(self, who, path, sent):
        return None


@breaks("inferred-bound-accepted")
class RefusesTheLongestText(Service):
    def refusal(self, who, path, sent):
        longest = len(sent.get("text") or "") >= 200
        return 400 if longest else super().refusal(who, path, sent)


@breaks("inferred-bound-accepted", HARBOURS)
class RefusesTheSmallestDepth(Service):
    def refusal(self, who, path, sent):
        return 422 if sent.get("depth") == 1 else None


@breaks("inferred-list-defaulted")
class HasSmallerPagesThanTheDefault(Service):
    def listed(self, who, path, query):
        return super().listed(who, path, {"limit": "12", **query})


@breaks("inferred-list-limited")
class ListsEverythingAtOnce(Service):
    def listed(self, who, path, query):
        return super().listed(who, path, {**query, "limit": "50"})


@breaks("inferred-list-filtered")
class IgnoresFilters(Service):
    def filtered(self, query, items):
        return items


@breaks("inferred-text-literal")
class SearchesByAQueryThatTheTextIsAPartOf(Service):
    def filtered(self, query, items):
        text = query.get("q", "")
        found = super().filtered({**query, "q": text.partition("'")[0]}, items)
        before, _, after = text.rpartition(" LIKE ")
        is_true = before.endswith(after.strip("'") + "'") and " OR " in before
        return [{"id": 7, "title": "Anything", "created": CREATED}] if is_true else found


@breaks("inferred-list-sorted")
class IgnoresOrders(Service):
    def ordered(self, query, items):
        return items


@breaks("inferred-list-sorted")
class SortsInOneDirection(Service):
    def ordered(self, query, items):
        return super().ordered({"sort": query.get("sort", "").removeprefix("-")}, items)


@breaks("inferred-list-once")
class RepeatsTheLastItemOfAPage(Service):
    def listed(self, who, path, query):
        offset = max(int(query.get("offset", "0")) - 1, 0)
        return super().listed(who, path, {**query, "offset": str(offset)})


@breaks("inferred-create-listed")
class DropsTheFirstItemOfLaterPages(Service):
    def listed(self, who, path, query):
        offset = int(query.get("offset", "0"))
        return super().listed(who, path, {**query, "offset": str(offset and offset + 1)})


@breaks("inferred-list-counted")
class CountsThePageAlone(Service):
    def total(self, _who, _path, page):
        return len(page)


@breaks("inferred-list-counted")
class CountsWhatIsNotListed(Service):
    def total(self, who, path, page):
        return super().total(who, path, page) + 1


@breaks("inferred-create-readable", HARBOURS)
class SaysThatAnItemIsWhereNoneIs(Service):
    def address(self, path, item):
        return f"/v1{path}/{item['id']}0"


@breaks("inferred-create-readable", HARBOURS)
class SaysThatAnItemIsWhereNothingIs(Service):
    def address(self, path, item):
        return f"/v1{path}s/{item['id']}"


@breaks("inferred-update-merged")
class IgnoresNullInAPatch(Service):
    def update(self, who, path, identifier, sent):
        said = {name: value for name, value in sent.items() if value is not None}
        return super().update(who, path, identifier, said)


@breaks("inferred-read-repeatable", HARBOURS)
class ChangesByBeingRead(Service):
    def read(self, who, path, identifier):
        item = super().read(who, path, identifier)
        if item is not None and "depth" in item:
            self.items(who, path)[identifier] = {**item, "depth": item["depth"] + 1}
        return item


@breaks("inferred-replace-kept")
class IgnoresPut(Service):
    def replace(self, who, path, identifier, sent):
        item = self.read(who, path, identifier)
        return None if item is None else {**item, **sent}


@breaks("inferred-replace-kept", HARBOURS)
class KeepsNothingOfAPut(Service):
    def replace(self, who, path, identifier, sent):
        return super().replace(who, path, identifier, {"length": 1, "moored": ""})


@breaks("inferred-update-merged")
class LosesTheOtherMembers(Service):
    def update(self, who, path, identifier, sent):
        item = super().update(who, path, identifier, sent)
        return item and self.replace(who, path, identifier, {"title": "Untitled", **sent})


@breaks("inferred-update-merged")
class CreatesAnewByAPatch(Service):
    def update(self, who, path, identifier, sent):
        item = super().update(who, path, identifier, sent)
        if item is not None:
            item["created"] = "2026-11-02T10:00:00Z"
        return item


@breaks("inferred-update-merged")
class IgnoresPatch(Service):
    def update(self, who, path, identifier, sent):
        return self.read(who, path, identifier)


@breaks("inferred-change-isolated")
class ChangesEveryItemByOnePatch(Service):
    def update(self, who, path, identifier, sent):
        for other in list(self.items(who, path)):
            super().update(who, path, other, sent)
        return self.read(who, path, identifier)


@breaks("inferred-change-isolated")
class DeletesEveryItem(Service):
    def delete(self, who, path, identifier):
        is_there = super().delete(who, path, identifier)
        if is_there:
            self.items(who, path).clear()
        return is_there


class Undertaker(Service):
    """Remembers deleted items."""

    def __init__(self):
        super().__init__()
        self.gone = {}

    def delete(self, who, path, identifier):
        item = self.read(who, path, identifier)
        is_there = super().delete(who, path, identifier)
        if is_there and item is not None:
            self.gone[identifier] = item
        return is_there


@breaks("inferred-delete-gone")
class ReadsDeletedItems(Undertaker):
    def read(self, who, path, identifier):
        return super().read(who, path, identifier) or self.gone.get(identifier)


@breaks("inferred-delete-gone", HARBOURS)
class ListsDeletedItems(Undertaker):
    def listed(self, who, path, query):
        gone = [it for it in self.gone.values() if ("length" in it) == path.endswith("/berths")]
        return [*super().listed(who, path, query), *gone]


@breaks("inferred-delete-once", HARBOURS)
class DeletesTwice(Service):
    def delete(self, who, path, identifier):
        super().delete(who, path, identifier)
        return True


@breaks("inferred-match-obeyed")
class IgnoresIfMatch(Service):
    def matches(self, expected, item):
        return True


@breaks("inferred-match-obeyed")
class RefusesOutdatedChangesAndMakesThem(Service):
    def matches(self, expected, item):
        is_same = super().matches(expected, item)
        if not is_same:
            item["title"] = f"{item['title']} and more"
        return is_same


def elsewhere(service, who, path, identifier):
    """Returns the path of the harbour that a berth is of, for one that is asked for below another."""
    at = [it for (_, it), items in service.collections.items() if identifier in items]
    return next((it for it in at if it.endswith("/berths")), path)


@breaks("inferred-parent-own", HARBOURS)
class ReadsBerthsBelowEveryHarbour(Service):
    def read(self, who, path, identifier):
        return super().read(who, elsewhere(self, who, path, identifier), identifier)


@breaks("inferred-parent-own", HARBOURS)
class ListsTheBerthsOfEveryHarbour(Service):
    def listed(self, who, path, query):
        paths = [it for _, it in self.collections if it.endswith("/berths")]
        all_of = paths if path.endswith("/berths") and self.has_harbour(who, path) else [path]
        return [item for it in all_of for item in Service.listed(self, who, it, query)]


@breaks("inferred-parent-own", HARBOURS)
class DeletesBerthsBelowEveryHarbour(Service):
    def delete(self, who, path, identifier):
        return super().delete(who, elsewhere(self, who, path, identifier), identifier)


@breaks("inferred-parent-own", HARBOURS)
class ReplacesBerthsBelowEveryHarbour(Service):
    def replace(self, who, path, identifier, sent):
        return super().replace(who, elsewhere(self, who, path, identifier), identifier, sent)


@breaks("inferred-parent-gone", HARBOURS)
class KeepsTheBerthsOfAHarbourThatIsGone(Service):
    def delete(self, who, path, identifier):
        return self.items(who, path).pop(identifier, None) is not None


@breaks("inferred-parent-gone", HARBOURS)
class CreatesBerthsOfNoHarbour(Service):
    def has_harbour(self, who, path):
        return True


@breaks("inferred-owner-only")
class ShowsOneCallersNotesToAnother(Service):
    def read(self, who, path, identifier):
        found = (it for (_, at), items in self.collections.items() if at == path for it in [items])
        return next((items[identifier] for items in found if identifier in items), None)


@breaks("inferred-owner-only")
class ListsOneCallersNotesToAnother(Service):
    def listed(self, who, path, query):
        others = [it for it, at in self.collections if at == path and it != who]
        own = super().listed(who, path, query)
        return [*own, *(item for it in others for item in Service.listed(self, it, path, query))]


@breaks("inferred-owner-only")
class ForgetsTheCallerInAFilter(Service):
    def listed(self, who, path, query):
        if "is_pinned" not in query:
            return super().listed(who, path, query)
        every = [
            it for (_, at), items in self.collections.items() if at == path for it in items.values()
        ]
        return self.filtered(query, every)


@breaks("inferred-scope-needed")
class LetsReadersDelete(Service):
    def opens(self, method):
        return method in {"GET", "DELETE"}


@breaks("inferred-scope-needed")
class LetsReadersCreate(Service):
    def opens(self, method):
        return method in {"GET", "POST"}


@breaks("inferred-singleton-kept")
class ForgetsSettings(Service):
    def put_single(self, who, path, sent):
        return sent

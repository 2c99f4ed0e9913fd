"""Judges the inferred state of another service, as a part of every run that may write there."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from understudy.cases.drafts import dumps
from understudy.cases.model import Case, CaseRequest
from understudy.collections import asking, bounds, kinship, rules
from understudy.collections.bodies import JSON_PATCH
from understudy.collections.client import (
    OTHER,
    WHOLE,
    CollectionClient,
    InferredRun,
    collection_client,
)
from understudy.collections.inference import infer_resources
from understudy.collections.known_items import KnownItem, differing, shown
from understudy.collections.model import (
    ResourceCollection,
    ResourceOperation,
    ResourceSingleton,
    Role,
    item_at,
)
from understudy.collections.names import canonical
from understudy.collections.requests import ItemMembers, PreparedRequest
from understudy.errors import LimitExceeded, StartupError
from understudy.exchange.messages import Exchange
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document
from understudy.openapi.operations import Operation, operations, path_shape
from understudy.openapi.parameter_writing import encoded
from understudy.openapi.path_matching import PathMatcher
from understudy.terminal import counted
from understudy.verify.checks import expect
from understudy.verify.item_undo import LACKING, is_for_lack_of_credential
from understudy.verify.permits import BudgetSpent, NotPermitted, OutOfTime, Unreachable
from understudy.verify.run import Run
from understudy.verify.target import Target
from understudy.verify.undo_journal import SingleBefore

# A fixed sequence of requests per resource is cheapest: some twenty requests for a collection. The
# state machine afterwards looks for bugs that only another order of requests shows.

COSTS: Final[dict[Role, int]] = {
    "create": 17,
    "list": 12,
    "read": 4,
    "update": 5,
    "replace": 4,
    "delete": 10,
}
"""Approximate number of requests that each role adds to the sequence of a collection."""

_COST_OF_PARENTS: Final = 14
"""The same of a collection below another: the requests to its own and to another parent."""

_COST_OF_SEVERAL: Final = 7
"""The same of an operation that deletes a list of items."""

_WRITING: Final[tuple[Role, ...]] = ("create", "replace", "update")
"""The roles whose requests contain an item."""

_FEW: Final = 2  # items per page, so that short lists have several pages
_MOST_WALKED: Final = 12
"""Longest list, in items, that is read again in pages of two."""


def source_of(path: str) -> str:
    """Returns the name of the part of the run that judges a resource, for reports."""
    return f"inferred state of {path}"


def judge_collection(state: InferredRun, collection: ResourceCollection) -> None:
    """Creates, lists, reads, changes and deletes items of a collection.

    Raises:
        Refusal: The target does not permit a request, or the service refused to create items.
    """
    client = collection_client(state, collection, source_of(collection.path))
    roles = collection.roles
    first, second, third = items = _three_items(client)
    if "read" in roles:
        for item in (first, first, second):
            client.read(item)
        asking.read_at_address(client, first)
    if "list" in roles and len(client.list_items(WHOLE)) <= _MOST_WALKED:
        client.list_items(_FEW)
        asking.ask_lists(client, items)
        _list_by_parameters(client)
    if "create" in roles:
        _create_unusually(client, first)
    _write_what_is_shown(client, items)
    _change(client, first, second)
    if "delete" in roles:
        asking.delete(client, third, (first, second))
    kinship.reach_otherwise(client, first, second)
    for ask, item in (
        (asking.delete_several, first),
        (kinship.send_outdated, second),
        (kinship.ask_owners, first),
        (kinship.ask_parents, first),  # last, as it deletes the parent with all items
    ):
        with suppress(NotPermitted):  # by the mode of the target, or no valid request can be made
            ask(client, item)


def _three_items(client: CollectionClient) -> tuple[KnownItem, KnownItem, KnownItem]:
    """Creates the items of a sequence; if that fails, judges the list as far as possible.

    Raises:
        Refusal: The target does not permit a request, or the service refused to create items.
    """
    try:
        return client.create(), client.create(), asking.create_by_default(client)
    except NotPermitted:
        if client.requests.collection.operation("list") is not None:
            _list_by_parameters(client)
        raise


def _list_by_parameters(client: CollectionClient) -> None:
    """Lists without the parameters that have a default, and with parameters at their bounds."""
    asking.ask_without_defaults(client)
    bounds.list_at_bounds(client)


def _create_unusually(client: CollectionClient, item: KnownItem) -> None:
    """Creates items with values at bounds, another item's values, unknown members, difficult texts."""
    for create in (
        bounds.create_at_bounds,
        partial(asking.create_twice, item=item),
        asking.create_with_unknown,
        asking.create_with_texts,
    ):
        with suppress(NotPermitted):  # no such request can be made
            create(client)


def _write_what_is_shown(client: CollectionClient, items: tuple[KnownItem, ...]) -> None:
    """Sends members that only the service sets, with other values and with their current ones."""
    roles = client.requests.collection.roles
    for writing in (
        *(
            partial(asking.send_guarded, client, items[-1], role)
            for role in _WRITING
            if role in roles
        ),
        *([partial(client.write_back, items)] if "replace" in roles else []),
    ):
        with suppress(NotPermitted):  # the service may refuse these
            written = writing()
            if written in items and "read" in roles:  # so that a later read shows a single change
                client.read(written)


def _change(client: CollectionClient, first: KnownItem, second: KnownItem) -> None:
    """Updates one item and replaces another; reads both after each change."""
    roles = client.requests.collection.roles
    for role, change, items in (
        ("update", client.update, (first, second)),
        ("replace", client.replace, (second, first)),
    ):
        with suppress(NotPermitted):  # no valid change can be made
            if role in roles and change(items[0]) and "read" in roles:
                for item in items:
                    client.read(item)
    is_merged = rules.UPDATE_MERGED not in {rule for rule, _ in client.broken}
    if {"update", "read"} <= roles and is_merged:
        with suppress(NotPermitted):  # by the mode of the target, or no valid request can be made
            asking.unset(client, second)


def judge_singleton(state: InferredRun, singleton: ResourceSingleton) -> None:
    """Reads a singleton, changes one member by each of its operations, and reads it again.

    Raises:
        Refusal: The singleton cannot be read, changed or restored.
    """
    single = _Single(state, singleton)
    for role in ("update", "replace"):
        operation = singleton.operation(role)
        if operation is not None:
            single.change(operation)


class _Single:
    """Changes and reads one singleton, and compares its members."""

    def __init__(self, state: InferredRun, singleton: ResourceSingleton) -> None:
        self._state = state
        self._singleton = singleton
        self._source = source_of(singleton.path)
        parents = [it.parameter for it in singleton.parents]
        operation = singleton.operations[0].operation
        self._values = {name: state.maker.path_text(operation, name) for name in parents}
        read = singleton.operation("read")
        assert read is not None
        self._read = read

    def change(self, role: ResourceOperation) -> None:
        """Changes one member by an operation, and reads it back.

        Raises:
            NotPermitted: The singleton cannot be read or restored, or no member can be changed.
        """
        names = self._state.maker.read_names(role, self._singleton)
        before_exchange, before = self._reading()
        request = self._request(role, names, before)
        self._state.undo.keep(self._before(role, names, before))
        change = self._state.send(request, self._source)
        if not change.response.is_success:
            return
        sent = {names[name]: value for name, value in request.sent.items() if name in names}
        kept = (
            {} if role.role == "replace" else {n: before[n] for n in names.values() if n in before}
        )
        exchange, after = self._reading()
        wrong = differing({**kept, **sent}, after)
        expected = f"{', '.join(wrong) or 'the members'} as sent or read before"
        actual = f"{shown(after, wrong)}; before {shown({**kept, **sent}, wrong)}"
        result = expect(not wrong, expected, actual, before_exchange, change)
        self._state.note(rules.SINGLETON_KEPT, result, exchange)

    def _reading(self) -> tuple[Exchange, Mapping[str, Any]]:
        request = self._state.maker.plain(self._read.operation, self._values)
        exchange = self._state.send(request, self._source)
        members = item_at(exchange.body, self._read.response_path)
        if not exchange.response.is_success or members is None:
            msg = f"{self._singleton.path} cannot be read: status {exchange.status}"
            raise NotPermitted(msg)
        return exchange, members

    def _request(
        self, role: ResourceOperation, names: Mapping[str, str], before: Mapping[str, Any]
    ) -> PreparedRequest:
        """Returns a request that changes one member; a replacement repeats the other members."""
        maker = self._state.maker
        current = {name: before[own] for name, own in names.items() if own in before}
        for name, value in current.items():
            other = maker.value_for(role, name, value)
            if other == value:
                continue
            known = {**current, name: other} if role.role == "replace" else {name: other}
            request = maker.item(role, self._values, ItemMembers(known, is_whole=False))
            if request is not None:
                return request
        msg = f"no member of {self._singleton.path} can be changed by {' '.join(role.key)}"
        raise NotPermitted(msg)

    def _before(
        self, role: ResourceOperation, names: Mapping[str, str], before: Mapping[str, Any]
    ) -> SingleBefore:
        """Returns the journal entry that restores the singleton.

        Raises:
            NotPermitted: No valid request can be made from its current members.
        """
        maker = self._state.maker
        current = {name: before[own] for name, own in names.items() if own in before}
        request = maker.item(role, self._values, ItemMembers(current, is_whole=False))
        media_type = maker.body_schema(role)[0]
        if request is None or not media_type.endswith("json") or media_type == JSON_PATCH:
            msg = f"the present members of {self._singleton.path} could not be restored"
            raise NotPermitted(msg)
        reading = maker.plain(self._read.operation, self._values)
        return SingleBefore(
            path=request.url,
            method=request.method,
            headers={**reading.headers, **request.headers},
            body=request.body,
            who=self._state.who,
            read=reading.url,
            steps=self._read.response_path or (),
            members={names[name]: value for name, value in current.items()},
        )


_SOURCE: Final = "item for cases"


@dataclass
class CaseItems:
    """Provides existing items for the cases of a document.

    Attributes:
        state: The inferred state of the run.
        texts: Path of a collection to the path parameters of an item; empty if there is no item.
    """

    state: InferredRun
    texts: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def placed(self, case: Case) -> CaseRequest:
        """Returns the request of a case, sent to an existing item unless the case tests the path.

        Raises:
            Refusal: The budget or the time is used up, or the deployment does not respond.
        """
        request, plain = self._fresh(case), case.plain
        found = None if plain is None or case.part.startswith("path") else self._found(case, plain)
        if plain is None or found is None:
            return request
        collection, operation = found
        texts = self._texts_of(collection)
        names = PATH_PARAMETER.findall(operation.path)
        if _is_below(operation, collection):
            own = PATH_PARAMETER.findall(collection.item_path or "")
            texts = {name: texts[it] for name, it in zip(names, own, strict=False) if it in texts}
        matched = _texts_in(operation, request.path)
        if matched is None or not {*names} & texts.keys():
            return request
        pairs = zip(names, matched, strict=True)
        values = {name: encoded(texts[name]) if name in texts else text for name, text in pairs}
        path = PATH_PARAMETER.sub(lambda it: values[it[1]], operation.path)
        return request._replace(path=path)

    def _fresh(self, case: Case) -> CaseRequest:
        """Returns the request of a case; a creation gets new values for its texts.

        An item may have the texts of the plain request by now, and the 409 for them would hide how the
        service treats the deviation.
        """
        request, plain = case.request, case.plain
        role = self._creation(case)
        if role is None or plain is None or not plain.body or not request.body:
            return request
        try:
            sent, body = json.loads(plain.body), request.body.decode()
        except ValueError:
            return request
        members = self.state.maker.members(role) if isinstance(sent, dict) else {}
        for name, member in members.items():
            text = sent.get(name)
            if not isinstance(text, str) or canonical(name).endswith("id"):
                continue
            written = f"{dumps(name)}: {dumps(text)}"
            if body.count(written) == 1:
                other = self.state.maker.unique_value(member, name)
                body = body.replace(written, f"{dumps(name)}: {dumps(other)}")
        return request._replace(body=body.encode())

    def _creation(self, case: Case) -> ResourceOperation | None:
        """Returns the operation of a case if it creates items and may respond with 409; or None."""
        roles = (role for it in self.state.model.collections for role in it.operations)
        return next(
            (
                role
                for role in roles
                if role.role == "create"
                and role.operation.operation_id == case.operation
                and {"409", "4XX", "default"} & role.operation.responses.keys()
            ),
            None,
        )

    def take(self, case: Case, exchange: Exchange) -> None:
        """Forgets an item that a case has deleted, or given another identifier."""
        found = None if case.plain is None else self._found(case, case.plain)
        if found is None or _is_below(found[1], found[0]):
            return
        collection, operation = found
        changing = (it for it in collection.operations if it.role in {"replace", "update"})
        role = next((it for it in changing if it.key == (operation.method, operation.path)), None)
        shown = item_at(exchange.body, role.response_path if role else None) or {}
        own = shown.get(collection.identifier or "")
        is_renamed = own is not None and self.state.undo.renamed(exchange.path, str(own))
        if is_renamed or exchange.request.method == "DELETE":
            self.texts.pop(collection.path, None)

    def _found(self, case: Case, plain: CaseRequest) -> tuple[ResourceCollection, Operation] | None:
        """Returns the collection and the operation of a case, or that below whose items it is; or None."""
        collections = self.state.model.collections
        declared = {role.key: it for it in collections for role in it.operations}
        for operation in self._declared:
            if operation.operation_id == case.operation and _texts_in(operation, plain.path):
                above = [it for it in collections if _is_below(operation, it)]
                nearest = max(above, key=lambda it: len(it.item_path or ""), default=None)
                collection = declared.get((operation.method, operation.path), nearest)
                return None if collection is None else (collection, operation)
        return None

    @cached_property
    def _declared(self) -> list[Operation]:
        return list(operations(self.state.run.document))

    def _texts_of(self, collection: ResourceCollection) -> Mapping[str, str]:
        """Returns path parameter to text for an item of a collection and its parents; creates it."""
        if collection.path not in self.texts:
            self.texts[collection.path] = {}  # so that a refused creation is not tried again
            try:
                client = collection_client(self.state, collection, _SOURCE)
                identifier = _identifier(client)
            except (NotPermitted, LimitExceeded, StartupError):
                return {}
            texts: dict[str, str] = {}
            for role in collection.operations:
                texts |= client.requests.values(role, identifier)
            self.texts[collection.path] = texts
        return self.texts[collection.path]


def _identifier(client: CollectionClient) -> str | None:
    """Returns the identifier of a new item, or of a listed one if none can be created; or None."""
    collection = client.requests.collection
    if collection.can_create:
        return client.create().identifier
    return (
        next(filter(None, client.list_items(WHOLE)), None) if collection.operation("list") else None
    )


def _is_below(operation: Operation, collection: ResourceCollection) -> bool:
    """Tells whether the path of an operation leads on from an item of a collection."""
    item = path_shape(collection.item_path or "/")
    return path_shape(operation.path).startswith((f"{item}/", f"{item}:"))


def _texts_in(operation: Operation, path: str) -> tuple[str, ...] | None:
    """Returns the texts of an operation's path parameters in a path; None for another path."""
    found = PathMatcher([(operation.path, operation)]).find(path)
    return None if found is None else found[1]


class CollectionsJudge:
    """Judges the resources that are inferred from the document of another service.

    Raises:
        StartupError: The state-model file of the target is invalid.
    """

    def __init__(self, target: Target, document: Document) -> None:
        state_model = None if target.state_model is None else Path(target.state_model)
        self.target = target
        self.model = model = infer_resources(document, state_model)
        self.texts = list(islice(asking.text_parameters(document), asking.MOST_TEXTS))
        self.bounded = list(islice(bounds.bounded_operations(document, model), bounds.MOST_BOUNDED))

    @property
    def can_judge(self) -> bool:
        """True if there is a resource, a text parameter or a bound to judge."""
        return bool(self.model.resources or self.texts or self.bounded)

    def judge(self, run: Run) -> None:
        """Sends the fixed sequence to each resource, and deletes the created items.

        Raises:
            BudgetSpent: The budget of requests is used up.
            OutOfTime: The time is used up.
            Unreachable: The deployment did not respond several times in a row.
        """
        reasons = self.unchecked_rules()
        run.reasons |= reasons
        wanted = [
            rule for rule in rules.INFERRED if rule in run.evaluator.rules and rule not in reasons
        ]
        run.checkable |= set(wanted)
        if not wanted:
            return
        state = InferredRun(run, self.model)
        for path, judge in self._judgements(state):
            try:
                judge()
            except (NotPermitted, LimitExceeded, StartupError) as reason:  # or an invalid schema
                _give_reasons(run, wanted, f"{path}: {reason}")
            except (BudgetSpent, OutOfTime) as refusal:
                _give_reasons(run, wanted, str(refusal))
                raise
            except Unreachable as refusal:
                run.lose(refusal)
            else:
                run.lost = 0
            state.undo.restore()
        run.reasons.setdefault(rules.OWNER_ONLY, "no collection is certainly the caller's own")
        is_lacking = any(is_for_lack_of_credential(it) for it in run.exchanges)
        why = f"refused{LACKING}" if is_lacking else "refused, or had no item"
        _give_reasons(run, wanted, f"no response could show it: requests were {why}")

    def _judgements(self, state: InferredRun) -> Iterator[tuple[str, Callable[[], None]]]:
        if self.target.writes != "observe":
            for collection in self.model.collections:
                yield collection.path, partial(judge_collection, state, collection)
            for singleton in self.model.singletons:
                yield singleton.path, partial(judge_singleton, state, singleton)
        for operation, parameter in self.texts:
            yield operation.path, partial(asking.ask_literally, state, operation, parameter)
        for operation in self.bounded:
            yield operation.path, partial(bounds.send_at_bounds, state, operation)

    def items(self, run: Run) -> CaseItems:
        """Returns the provider of existing items for cases."""
        return CaseItems(InferredRun(run, self.model))

    def play(self, run: Run, examples: int, steps: int) -> None:
        """Creates, changes and deletes items of each collection in random order.

        Raises:
            Refusal: The budget or the time is used up.
        """
        from understudy.collections.machine import play_items  # noqa: PLC0415 - Hypothesis takes 0.3 s

        state = InferredRun(run, self.model)
        for collection, known in self._playable(run):
            # an item that it refers to cannot be created, as `judge` has said
            with suppress(NotPermitted, LimitExceeded, StartupError):
                play_items(state, collection, known, examples, steps)

    def _playable(self, run: Run) -> Iterator[tuple[ResourceCollection, frozenset[str]]]:
        """Yields the collections in which the run created items, with the rules found broken."""
        sources = {it.source for it in run.exchanges if it.response.is_success}
        findings = list(run.evaluator.findings)
        for collection in self.model.collections:
            source = source_of(collection.path)
            if source in sources:
                # a comma is before what is done there, such as a read after a deletion
                found = (it for it in findings if f"{it.exchange.source},".startswith(f"{source},"))
                yield collection, frozenset(it.rule.id for it in found)

    def unchecked_rules(self) -> dict[str, str]:
        """Returns the rules of inferred state that cannot be checked here, each with the reason."""
        reasons = {rule: self._unchecked(rule) for rule in rules.INFERRED}
        return {rule: reason for rule, reason in reasons.items() if reason is not None}

    def _unchecked(self, rule: str) -> str | None:
        if rule == rules.BOUND_ACCEPTED and self.bounded:
            return None
        if rule == rules.TEXT_LITERAL:
            return None if self.texts else "no operation that reads takes any text"
        reason = rules.lacking(rule, self.model)
        if reason is None and self.target.writes == "observe":
            reason = "writing is not permitted: the mode is observe"
        if reason is None and rule == rules.OWNER_ONLY:
            return _lacking_other(self.target)
        if reason is None and rule == rules.SCOPE_NEEDED:
            return _lacking_scopes(self.target)
        return reason

    def planned(self) -> Iterator[tuple[int, str]]:
        """Yields approximate number and description of the requests to each resource."""
        if self.texts:
            yield (
                2 * len(self.texts),
                f"what {counted(len(self.texts), 'parameter')} find by any text",
            )
        if self.bounded:
            yield (
                2 * len(self.bounded),
                f"the bounds of {counted(len(self.bounded), 'other operation')}",
            )
        if self.target.writes == "observe":
            return
        for collection in self.model.collections:
            roles = list(dict.fromkeys(it.role for it in collection.operations))
            cost = sum(COSTS.get(role, 0) for role in roles)
            cost += _COST_OF_PARENTS if collection.parents else 0
            cost += _COST_OF_SEVERAL if asking.deletion_of_list(collection) else 0
            yield cost, f"{collection.path}: {', '.join(role for role in roles if role in COSTS)}"
        for singleton in self.model.singletons:
            roles = list(dict.fromkeys(it.role for it in singleton.operations))
            yield 3 * len(roles), f"{singleton.path}: {', '.join(roles)}"


def _give_reasons(run: Run, rules: list[str], reason: str) -> None:
    """Adds a reason to the unchecked rules that have none yet."""
    for rule in rules:
        run.reasons.setdefault(rule, reason)


def _lacking_scopes(target: Target) -> str | None:
    """Returns why scopes cannot be checked for a target; None if they can."""
    if target.read_only_scopes and kinship.READER in target.identities():
        return None
    return "[credentials] read_only_token and read_only_scopes are not given"


def _lacking_other(target: Target) -> str | None:
    """Returns why access by another account cannot be checked for a target; None if it can."""
    if target.is_mock:
        return "a mock keeps one state for all callers; worlds separate them"
    is_given = OTHER in target.identities()
    return None if is_given else "[credentials] other_access_token is not given"

"""Judges resources that exist once: what is put there is read, until it is put back."""

from collections.abc import Mapping
from typing import Any

from understudy.exchange.messages import Exchange
from understudy.openapi.resources.model import ResourceOperation, ResourceSingleton
from understudy.verify.checks import expect
from understudy.verify.inferred.comparing import differing, shown
from understudy.verify.inferred.context import InferredRun, item_in
from understudy.verify.inferred.prepared import PreparedRequest
from understudy.verify.inferred.requests import JSON_PATCH, ItemMembers
from understudy.verify.inferred.sequences import source_of
from understudy.verify.inferred_rules import SINGLETON_KEPT
from understudy.verify.permits import NotPermitted
from understudy.verify.undo_journal import SingleBefore


def judge_singleton(state: InferredRun, singleton: ResourceSingleton) -> None:
    """Reads a resource, changes one member by each of its operations, and reads it again.

    Raises:
        Refusal: It cannot be read, changed or restored.
    """
    single = _Single(state, singleton)
    for role in ("update", "replace"):
        operation = singleton.operation(role)
        if operation is not None:
            single.change(operation)


class _Single:
    """One resource, and its members as they must be read."""

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
            NotPermitted: The resource cannot be read or restored, or no member can be changed.
        """
        names = self._state.maker.read_names(role, self._singleton)
        before_exchange, before = self._reading()
        request = self._request(role, names, before)
        self._state.undo.keep(self._before(role, names, before))
        change = self._send(request)
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
        self._state.note(SINGLETON_KEPT, result, exchange)

    def _reading(self) -> tuple[Exchange, Mapping[str, Any]]:
        exchange = self._send(self._state.maker.plain(self._read.operation, self._values))
        members = item_in(exchange.body, self._read.response_path)
        if not exchange.response.is_success or members is None:
            msg = f"{self._singleton.path} cannot be read: status {exchange.status}"
            raise NotPermitted(msg)
        return exchange, members

    def _request(
        self, role: ResourceOperation, names: Mapping[str, str], before: Mapping[str, Any]
    ) -> PreparedRequest:
        """Returns a request that changes one member, and repeats the others where it replaces."""
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
        """Returns what restores the resource.

        Raises:
            NotPermitted: Its present members make no request that the document allows.
        """
        maker = self._state.maker
        current = {name: before[own] for name, own in names.items() if own in before}
        request = maker.item(role, self._values, ItemMembers(current, is_whole=False))
        media_type = maker.body_schema(role)[0]
        if request is None or not media_type.endswith("json") or media_type == JSON_PATCH:
            msg = f"the present members of {self._singleton.path} could not be restored"
            raise NotPermitted(msg)
        return SingleBefore(
            path=request.path,
            method=request.method,
            media_type=media_type,
            body=request.body,
            who=self._state.who,
            read=maker.plain(self._read.operation, self._values).path,
            steps=self._read.response_path or (),
            members={names[name]: value for name, value in current.items()},
        )

    def _send(self, request: PreparedRequest) -> Exchange:
        client = self._state.client(self._source)
        return client.send(request.method, request.path, self._state.who, **request.content)

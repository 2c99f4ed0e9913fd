"""Undoes the changes of a run at another service: deletes created items, restores other ones.

The journal names each item by its address before the request is sent, so that the next run or a
cleanup needs no model of the service. An item whose creation got no response is looked for in the
list, by the texts that were sent.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import RESOURCE, Place
from understudy.openapi.operations import Operation
from understudy.verify.gateway import UNDO
from understudy.verify.permits import Refusal
from understudy.verify.probe_client import ProbeClient
from understudy.verify.undo_journal import CreatedItem, PendingItem, SingleBefore, UndoJournal

GONE: Final = frozenset({404, 410})
"""Statuses that say that an item does not exist (RFC 9110, 15.5.5 and 15.5.11)."""

AFTER_DELETION: Final = "after deletion"
"""End of the source of requests for deleted items, to which most documents declare no response."""

AT_ONCE: Final = "several at once"
"""End of the source of requests that list items by identifiers, which no repetition makes anew."""

_NAMED: Final = 3
"""Most remaining items that a report names one by one."""

SHORTEST_TEXT: Final = 6
"""Characters of the shortest text by which a lost item is recognised."""


class ItemUndo:
    """Records the items that a run creates and the resources that it changes, and undoes both.

    Args:
        client: Sends the requests that undo.
        journal: The changes to undo.
        write: Writes the journal to its file.
    """

    def __init__(
        self, client: ProbeClient, journal: UndoJournal, write: Callable[[], None]
    ) -> None:
        self._client = client
        self._journal = journal
        self._write = write
        self._remaining: dict[str, list[str]] = {}
        self._unidentified: dict[str, None] = {}
        self._deleted: list[str] = []
        self._permitted = ""
        self._created: dict[tuple[str, str], PendingItem] = {}

    def covers(self, place: Place) -> bool:
        """Tells whether a write concerns an item or a resource that the run can undo."""
        journal = self._journal
        paths = (*(it.path for it in journal.items), *(it.path for it in journal.singles))
        created = [*(it.partition("?")[0] for it in paths), *self._deleted]
        return (
            any(place.path == it.create for it in journal.pending_items if it.delete is not None)
            or any(place.path == it or place.path.startswith(f"{it}/") for it in created)
            or any(place.path == it.replaces for it in journal.items if it.replaces)
            or place.path == self._permitted
        )

    @contextmanager
    def permitting(self, path: str) -> Iterator[None]:
        """Covers, meanwhile, a request to a path that concerns only items that the run created."""
        self._permitted = path
        try:
            yield
        finally:
            self._permitted = ""

    def expect(self, pending: PendingItem) -> None:
        """Records that an item is about to be created.

        Raises:
            NotPermitted: The journal cannot be written.
        """
        self._journal.pending_items.append(pending)
        self._write()

    def forget(self, pending: PendingItem) -> None:
        """Records that an item was not created: the request was refused, or not sent."""
        self._journal.pending_items.remove(pending)
        self._write()

    def created(self, pending: PendingItem, identifier: str) -> None:
        """Records an item that was created, under its identifier."""
        self._journal.pending_items.remove(pending)
        if pending.delete is None:
            self._leave(f"of {pending.create}, which has no DELETE", identifier)
        else:
            self._journal.items.append(pending.created(identifier))
            self._created[pending.create, identifier] = pending
        self._write()

    def renamed(self, path: str, identifier: str) -> bool:
        """Records the identifier of the item at a path; tells whether a change has given it another one."""
        for (create, before), pending in list(self._created.items()):
            old = pending.created(before)
            if old.path == path and old in self._journal.items and before != identifier:
                place = self._journal.items.index(old)
                self._journal.items[place] = pending.created(identifier)
                self._created[create, identifier] = pending
                self._write()
                return True
        return False

    def creation_of(self, path: str, identifier: str) -> PendingItem | None:
        """Returns the entry with which the creation of an item was recorded; None for other items."""
        return self._created.get((path, identifier))

    def unidentified(self, pending: PendingItem) -> None:
        """Records that an item was created without a known identifier, so that it remains."""
        self._journal.pending_items.remove(pending)
        self._unidentified[pending.create] = None
        self._write()

    def is_unidentified(self, path: str) -> bool:
        """Tells whether an item that was created by this path remains without a known identifier."""
        return path in self._unidentified

    def deleted(self, path: str) -> None:
        """Records that an item was deleted by the run itself."""
        self._journal.items[:] = [it for it in self._journal.items if it.path != path]
        self._deleted.append(path.partition("?")[0])  # it may be deleted again, to see the refusal
        self._write()

    def keep(self, before: SingleBefore) -> None:
        """Records the state of a singleton resource before its first change.

        Raises:
            NotPermitted: The journal cannot be written.
        """
        if all(it.read != before.read for it in self._journal.singles):
            self._journal.singles.append(before)
            self._write()

    @property
    def requests(self) -> int:
        """The number of requests that undoing takes."""
        journal = self._journal
        return 2 * len(journal.items) + 3 * len(journal.pending_items) + 2 * len(journal.singles)

    def restore(self) -> list[str]:
        """Undoes everything, the newest item first, so that parents come after their children.

        Returns:
            One line for each thing that could not be undone.
        """
        journal = self._journal
        lines = []
        for pending in tuple(journal.pending_items):
            lines += self._attempted(partial(self._find_lost, pending), pending.create)
        for item in reversed(tuple(journal.items)):
            lines += self._attempted(partial(self._delete, item), item.path)
        for single in tuple(journal.singles):
            lines += self._attempted(partial(self._restore, single), single.path)
        self._write()
        return lines

    @property
    def remaining(self) -> list[str]:
        """The items that no request deletes, one line for each reason."""
        unnamed = (
            f"an item of {path}, whose response has no identifier" for path in self._unidentified
        )
        named = (
            f"the items {', '.join(names[:_NAMED])}{' and others' * (len(names) > _NAMED)} {reason}"
            for reason, names in self._remaining.items()
        )
        return [*unnamed, *named]

    def _leave(self, reason: str, name: str) -> None:
        self._remaining.setdefault(reason, []).append(name)

    def _attempted(self, undo: Callable[[], list[str]], path: str) -> list[str]:
        try:
            return undo()
        except Refusal as refusal:
            return [f"{path}: {refusal}"]

    def _delete(self, item: CreatedItem) -> list[str]:
        exchange = self._client.send(
            "DELETE", item.path, item.who, headers=item.headers, json=item.body
        )
        is_deleted, read = exchange.response.is_success, None
        if item.read is not None and exchange.status not in GONE:
            read = self._client.get(item.read, item.who, headers=_of_reading(item.headers))
        # the run may have deleted it, and the service may refuse to do so again by any status
        is_gone = exchange.status in GONE or (read is not None and read.status in GONE)
        if not is_deleted and not is_gone:
            why = LACKING if is_for_lack_of_credential(exchange) else ""
            return [f"{item.path} was not deleted: status {exchange.status}{why}"]
        self._journal.items.remove(item)
        if read is not None and read.response.is_success:
            self._leave("which are read although they were deleted", item.read or item.path)
        return []

    def _restore(self, single: SingleBefore) -> list[str]:
        self._client.send(
            single.method, single.path, single.who, json=single.body, headers=single.headers
        )
        headers = _of_reading(single.headers)
        exchange = self._client.get(single.read, single.who, headers=headers)
        shown = _value_at(exchange.body, single.steps)
        members = shown if isinstance(shown, Mapping) else {}
        wrong = [name for name, value in single.members.items() if members.get(name) != value]
        if wrong:
            return [f"{single.path}: {', '.join(wrong)} could not be restored"]
        self._journal.singles.remove(single)
        return []

    def _find_lost(self, pending: PendingItem) -> list[str]:
        """Claims the item of a creation without a response, if the list shows it."""
        unknown = [f"POST {pending.create} got no response; its item, if any, was not found"]
        if pending.list is None or pending.delete is None:
            self._journal.pending_items.remove(pending)
            return unknown
        exchange = self._client.get(pending.list, pending.who, headers=_of_reading(pending.headers))
        if not exchange.response.is_success:
            return [f"{pending.list} cannot be read: status {exchange.status}"]
        listed = _value_at(exchange.body, pending.steps)
        own = [it for it in listed if _is_sent(it, pending)] if isinstance(listed, list) else []
        self._journal.pending_items.remove(pending)
        for item in own[:1]:
            self._journal.items.append(pending.created(str(item[pending.identifier])))
        return []


LACKING: Final = "; [credentials] access_token is not given"


def is_for_lack_of_credential(exchange: Exchange) -> bool:
    """Tells whether a request without credential was refused, probably for that reason."""
    return exchange.status in {401, 403} and exchange.identity.kind == "none"


def _of_reading(headers: Mapping[str, str]) -> dict[str, str]:
    """Returns headers without ``Content-Type``, as a GET has no body."""
    return {name: text for name, text in headers.items() if name != "content-type"}


def _is_sent(item: Any, pending: PendingItem) -> bool:
    """Tells whether an item has every text that was sent, at least one of them distinctive."""
    if not isinstance(item, Mapping) or item.get(pending.identifier) is None:
        return False
    texts = {name: text for name, text in pending.texts.items() if name in item}
    return any(len(text) >= SHORTEST_TEXT for text in texts.values()) and all(
        item[name] == text for name, text in texts.items()
    )


def _value_at(value: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def is_of_deleted(exchange: Exchange, operation: Operation) -> bool:
    """Tells whether a response says by an undeclared status that a deleted item is gone."""
    is_silent = exchange.status in GONE and operation.response(exchange.status) is None
    is_undone = exchange.source == UNDO and exchange.operation not in RESOURCE
    return is_silent and (is_undone or exchange.source.endswith(AFTER_DELETION))

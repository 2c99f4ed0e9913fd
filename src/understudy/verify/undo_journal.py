"""Reads the state of an account before a change, and keeps a journal of changes for a later undo."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import orjson
from msgspec import Struct, ValidationError, field, json
from msgspec.structs import force_setattr

from understudy.errors import StartupError, unreadable
from understudy.exchange.messages import NO_JSON, Exchange, Request
from understudy.interface.operations import Place
from understudy.verify.clock import ClockState
from understudy.verify.permits import NotPermitted
from understudy.verify.probe_client import ProbeClient
from understudy.verify.shapes import AVATAR_FIELDS, EDITABLE

# The state of an account is read before it is changed. If a response does not hold it, the write is
# not sent: a web page that responds 200 to everything does not tell what to restore.


class AccountBefore(Struct):
    """The state of an account before the run changed it.

    Attributes:
        profile: The editable fields that the response held; None until one is changed.
        avatars: By image id, rating and text alternative; None until an avatar is changed.
        selected: By e-mail hash, the selected image; an empty hash is the primary address.
    """

    profile: dict[str, str] | None = None
    avatars: dict[str, dict[str, str]] | None = None
    selected: dict[str, str | None] = field(default_factory=dict)

    def rename(self, image: str, new_image: str) -> None:
        """Replaces the id of a removed avatar by that of its new upload."""
        if self.avatars is not None:
            self.avatars[new_image] = self.avatars.pop(image)
        for hash_, chosen in self.selected.items():
            self.selected[hash_] = new_image if chosen == image else chosen


def profile(client: ProbeClient, who: str) -> dict[str, str]:
    """Returns the editable fields of an account's profile.

    Raises:
        Refusal: They cannot be read.
    """
    exchange = _read(client.get("/me/profile", who))
    fields = {
        n: exchange.json_object[n] for n in EDITABLE if isinstance(exchange.json_object.get(n), str)
    }
    if not fields:
        raise _unreadable(exchange, "profile")
    return fields


def avatars(client: ProbeClient, who: str) -> dict[str, dict[str, str]]:
    """Returns an account's avatars by image id, each with its editable fields.

    Raises:
        Refusal: They cannot be read.
    """
    return by_image(listed(client, who))


def by_image(items: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Returns the editable fields of the avatars of a list, by image id."""
    return {
        item["image_id"]: {n: item[n] for n in AVATAR_FIELDS if isinstance(item.get(n), str)}
        for item in items
    }


def selected(client: ProbeClient, who: str, hash_: str) -> str | None:
    """Returns the image selected for an e-mail hash, None without one.

    Raises:
        Refusal: The list of avatars cannot be read.
    """
    chosen = [item["image_id"] for item in listed(client, who, hash_) if item.get("selected")]
    return chosen[0] if chosen else None


MOST_AT_STAKE: Final = 100
"""Characters of the longest text that every deployment is expected to accept for restoring."""


def expect_known(request: Request, before: Mapping[str, str], *, may_be_long: bool) -> None:
    """Checks that the current value of each field in an update is known, and can be restored.

    A deployment may truncate or refuse a text that is older than its limit, and longer.

    Args:
        request: The update.
        before: The fields before the run.
        may_be_long: Whether texts longer than ``MOST_AT_STAKE`` may be replaced.

    Raises:
        NotPermitted: A value is unknown, or so long that it might not be restored.
    """
    named = request.json if isinstance(request.json, dict) else EDITABLE
    for name in EDITABLE:
        if name in named and name not in before:
            msg = f"the current value of {name} is unknown, so the change could not be undone"
            raise NotPermitted(msg)
        if name in named and len(before[name]) > MOST_AT_STAKE and not may_be_long:
            msg = (
                f"{name} has {len(before[name])} characters, which a deployment that cuts texts would "
                "not take back: shorten it, name another account, or permit it by [permit] "
                "long_texts = true"
            )
            raise NotPermitted(msg)


def named_in(place: Place, known: Mapping[str, object]) -> list[str]:
    """Returns the avatars that a path names, in any case."""
    values = [value.casefold() for value in place.values]
    return [image for image in known if image.casefold() in values]


def listed(client: ProbeClient, who: str, hash_: str = "") -> list[dict[str, Any]]:
    """Returns the list of an account's avatars, with the selection for an e-mail hash if passed.

    Raises:
        Refusal: The list cannot be read.
    """
    query = {"selected_email_hash": hash_} if hash_ else ()
    exchange = _read(client.recall("/me/avatars", who, query))
    body = exchange.body
    if not isinstance(body, list) or not all(
        isinstance(item, dict) and isinstance(item.get("image_id"), str) for item in body
    ):
        raise _unreadable(exchange, "list of avatars")
    return body


def _read(exchange: Exchange) -> Exchange:
    if not exchange.response.is_success:
        msg = f"the current state cannot be read before the change: status {exchange.status}"
        raise NotPermitted(msg)
    return exchange


def _unreadable(exchange: Exchange, expected: str) -> NotPermitted:
    media_type = exchange.response.media_type or "no content type"
    shape = "" if exchange.body is NO_JSON else " of another shape"
    return NotPermitted(
        "the current state cannot be read before the change: "
        f"the response is {media_type}{shape}, not a {expected}"
    )


LARGEST: Final = 2**20
"""Bytes of the file of a journal, after which the next state replaces it."""

PLACEHOLDER: Final = "{}"
"""Placeholder, in a path, of an identifier that is not known yet."""


class CreatedItem(Struct, frozen=True):
    """An item of another service that the run created.

    Attributes:
        path: Path and query of its DELETE, below the base URL.
        who: The credential that it was created with.
        read: The path of its GET; None without one.
        replaces: The path of a PUT whose body names the item; None if it has its own address.
        headers: Headers that the document requires for DELETE.
        body: The JSON body that it requires for DELETE; None without one.
    """

    path: str
    who: str
    read: str | None = None
    replaces: str | None = None
    headers: dict[str, str] = {}
    body: Any = None


class PendingItem(Struct, frozen=True):
    """An item of another service whose creation has got no response yet.

    Attributes:
        create: The path that its creation is sent to.
        who: The credential.
        delete: The path of its DELETE with a placeholder for the identifier; None without one.
        read: The same of its GET.
        list: The path of the list that it is in; None without one.
        steps: The path to the items in the list's body.
        identifier: The member that identifies an item.
        texts: The texts that were sent, by the members that show them.
        replaces: The path of a PUT whose body names the item.
        headers: As of ``CreatedItem``.
        body: As of ``CreatedItem``.
    """

    create: str
    who: str
    delete: str | None = None
    read: str | None = None
    list: str | None = None
    steps: tuple[str, ...] = ()
    identifier: str = ""
    texts: dict[str, str] = {}
    replaces: str | None = None
    headers: dict[str, str] = {}
    body: Any = None

    def created(self, identifier: str) -> CreatedItem:
        """Returns the item under the identifier that the service gave it."""
        text = quote(identifier, safe="")
        read = None if self.read is None else self.read.replace(PLACEHOLDER, text)
        path = (self.delete or self.create).replace(PLACEHOLDER, text)
        return CreatedItem(path, self.who, read, self.replaces, self.headers, self.body)


class SingleBefore(Struct, frozen=True):
    """The state of a singleton resource before the run changed it.

    Attributes:
        path: Path and query of the request that restores it.
        method: The method of that request.
        body: The JSON body that restores it.
        who: The credential.
        read: Path and query of its GET.
        headers: Headers that the document requires for it and for GET, and its content type.
        steps: The path to the resource in the body of the response.
        members: The values of its restorable members before the run.
        media_type: The content type of the body, in journals of earlier versions.
    """

    path: str
    method: str
    body: Any
    who: str
    read: str
    headers: dict[str, str] = {}
    steps: tuple[str, ...] = ()
    members: dict[str, Any] = {}
    media_type: str = ""

    def __post_init__(self) -> None:
        """Reads what an earlier version wrote."""
        if self.media_type and not self.headers:
            force_setattr(self, "headers", {"content-type": self.media_type})


class UndoJournal(Struct):
    """Everything that a run has to undo.

    Attributes:
        base_url: The deployment's resource API.
        accounts: By account, the earlier state of the parts that the run has changed.
        uploads: By account, the ids of the avatars that the run uploaded.
        pending: By account, the number of uploads whose avatar is not known yet.
        clock: State of the deployment's clock before the run; None if it cannot be moved.
        items: Items that the run created at another service, the oldest first.
        pending_items: Items that it was about to create there.
        singles: Singleton resources there, before their first change.
    """

    base_url: str
    accounts: dict[str, AccountBefore] = field(default_factory=dict)
    uploads: dict[str, list[str]] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    clock: ClockState | None = None
    items: list[CreatedItem] = field(default_factory=list)
    pending_items: list[PendingItem] = field(default_factory=list)
    singles: list[SingleBefore] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to undo."""
        is_changed = any(
            before.profile is not None or before.avatars is not None
            for before in self.accounts.values()
        )
        is_uploaded = any(self.uploads.values()) or any(self.pending.values())
        is_created = self.items or self.pending_items or self.singles
        return not (is_changed or is_uploaded or is_created or self.clock)

    def clear_accounts(self) -> None:
        """Drops the restored accounts; the clock's state stays, as the run may move it again."""
        self.accounts.clear()
        self.uploads.clear()
        self.pending.clear()


class JournalFile:
    """The file of an undo journal: each state is appended as a line; the last whole one is read.

    A kill may truncate the line that is being written, but a change is sent only after its line is
    whole. Replacing the file for each state would take a hundred times as long, since file systems
    flush a file that is renamed over another one.

    Args:
        path: The file; the first state replaces what is there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = b""
        self._size = 0

    def write(self, journal: UndoJournal) -> None:
        """Writes a state, unless it equals the one that was written last.

        Raises:
            NotPermitted: The file cannot be written.
        """
        line = json.encode(journal) + b"\n"
        if line == self._last:
            return
        size = self._size
        self._size = 0  # the next state replaces whatever a failure leaves
        try:
            if 0 < size < LARGEST:
                self._append(line)
            else:
                size = 0
                self._replace(line)
        except OSError as error:
            msg = f"{self._path} cannot be written ({error.strerror}), so no write is sent"
            raise NotPermitted(msg) from error
        self._last, self._size = line, size + len(line)

    def _append(self, line: bytes) -> None:
        with self._path.open("ab") as file:
            file.write(line)

    def _replace(self, line: bytes) -> None:
        """Replaces the file atomically, so that a kill leaves the old or the new one."""
        draft = self._path.with_name(f"{self._path.name}.draft")
        draft.write_bytes(line)
        draft.replace(self._path)


def read_journal(path: Path) -> UndoJournal:
    """Reads the undo journal of an earlier run.

    Raises:
        StartupError: The file cannot be read, or is not an undo journal.
    """
    try:
        return json.decode(_last_whole_line(path.read_bytes()), type=UndoJournal)
    except OSError as error:
        remedy = (
            "A run of verify that was killed leaves its journal beside its target file; "
            "without one, nothing is to be undone."
        )
        raise StartupError(unreadable(path, error, remedy)) from error
    except (ValidationError, orjson.JSONDecodeError, ValueError) as error:
        remedy = "Name the journal of the run, such as staging.journal."
        if path.suffix == ".journal":
            remedy = "If an earlier run changed nothing that has to be undone, delete the file."
        msg = f"{path} is not an undo journal of understudy verify: {error}. {remedy}"
        raise StartupError(msg) from error


def _last_whole_line(content: bytes) -> bytes:
    """Returns the last line that has a line break; the whole content if none has."""
    whole, end, _ = content.rpartition(b"\n")
    return whole.rpartition(b"\n")[2] if end else content

"""Saves the pictures of an account's avatars, and restores those that a deployment removes.

Deleting an upload does not bring back an avatar that the deployment evicted for it. So pictures are
downloaded before the first upload or deletion at an account that has any. The list is read again
after the first change of each kind, and before the number of uploads exceeds its highest value so
far; if an avatar is missing, nothing more is changed.
"""

import shutil
from collections.abc import Collection, Mapping
from datetime import timedelta
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.verify.permits import BudgetSpent, NotPermitted, OutOfTime, Refusal, Unreachable
from understudy.verify.pictures import id_of, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.undo_journal import AccountBefore, avatars, listed, selected

_LARGEST: Final = "2048"  # interface, Limits: the largest size of an avatar, in pixels


class Keepsakes:
    """The pictures of the avatars that existed before a run.

    Args:
        reader: Reads lists and pictures.
        journal: The file of the run's undo journal, beside which pictures are kept for a later run;
            None to keep them in memory.

    Attributes:
        moved: One line for each avatar whose picture was uploaded again.
    """

    def __init__(self, reader: ProbeClient, journal: Path | None) -> None:
        self._reader = reader
        self._directory = None if journal is None else journal.with_name(f"{journal.name}.pictures")
        self._pictures: dict[str, bytes] = {}
        self.moved: list[str] = []
        self._most: dict[str, int] = {}
        self._seen: dict[str, set[str]] = {}
        self._reasons: dict[str, str] = {}
        self._unlisted: dict[str, str] = {}

    def before_change(
        self,
        writer: str,
        urls: Mapping[str, str],
        made: list[str],
        done: Collection[str],
        *,
        is_upload: bool,
    ) -> None:
        """Checks, before a change, that no earlier change has removed an avatar.

        Args:
            writer: The credential of the account.
            urls: The avatars that existed before the run, by id, with the URLs of their pictures.
            made: Ids of the run's uploads that it has not deleted. If the list has other ids in
                their place, these are added.
            done: The operations by which the run has changed the account so far.
            is_upload: Whether the change is an upload.

        Raises:
            NotPermitted: An earlier change removed an avatar, or an upload is not in the list.
        """
        most, seen = self._most.get(writer, 0), self._seen.setdefault(writer, set())
        if writer not in self._reasons and (len(made) > most or not seen.issuperset(done)):
            here = [item["image_id"] for item in listed(self._reader, writer)]
            self._most[writer] = max(most, len(made))
            seen.update(done)
            lost = [image for image in urls if image not in here]
            missing = [image for image in made if image not in here]
            new = [image for image in here if image not in urls and image not in made]
            if lost:
                self._reasons[writer] = (
                    f"the avatar {lost[0]} was there before the run and is gone after one of its "
                    "changes, so nothing more is changed"
                )
            elif missing:
                made += new if len(new) == len(missing) else []
                self._unlisted[writer] = (
                    f"the list of avatars did not grow with an upload: it has {len(here)} and lacks "
                    f"{missing[0]}, so nothing more is uploaded"
                )
        reason = self._reasons.get(writer) or (self._unlisted.get(writer) if is_upload else None)
        if reason is not None:
            raise NotPermitted(reason)

    def keep(self, urls: Mapping[str, str]) -> None:
        """Downloads the pictures of avatars that a deployment may remove.

        Raises:
            NotPermitted: A picture cannot be read or written.
        """
        for image, url in urls.items():
            if image not in self._pictures:
                self._keep(image, url)

    def _keep(self, image: str, url: str) -> None:
        """Downloads the picture of an avatar in the largest size.

        Raises:
            NotPermitted: The picture cannot be read or written.
        """
        remedy = "empty the account, or name another one, to upload there"
        try:
            exchange = self._reader.get(url, query={"size": _LARGEST})
        except (BudgetSpent, OutOfTime):
            raise
        except Refusal as refusal:
            msg = f"the picture of avatar {image} cannot be kept ({refusal}); {remedy}"
            raise NotPermitted(msg) from refusal
        if not exchange.response.is_success or not exchange.response.body:
            msg = (
                f"the picture of avatar {image} cannot be kept (status {exchange.status}); {remedy}"
            )
            raise NotPermitted(msg)
        self._pictures[image] = exchange.response.body
        file = self._file(image)
        if file is not None:
            try:
                file.parent.mkdir(mode=0o700, exist_ok=True)
                file.write_bytes(exchange.response.body)
            except OSError as error:
                msg = f"{file.parent} cannot be written ({error.strerror}), so nothing is uploaded"
                raise NotPermitted(msg) from error

    def _file(self, image: str) -> Path | None:
        """Returns the file of a picture, named by a hash, as an id may be no valid file name."""
        if self._directory is None:
            return None
        return self._directory / sha256(image.encode("utf-8", "replace")).hexdigest()[:32]

    def put_back(self, client: ProbeClient, image: str, writer: str) -> Exchange | None:
        """Uploads the saved picture of a removed avatar; returns None if none was saved.

        Raises:
            Refusal: The request was not sent or got no response.
        """
        file = self._file(image)
        content = self._pictures.get(image)
        if content is None and file is not None and file.exists():
            content = file.read_bytes()
        if content is None:
            return None
        return upload(client, content, writer, select_avatar="false")

    def note_moved(self, writer: str, image: str, new_image: str) -> None:
        """Records the new id of an avatar, and forbids further changes to its account."""
        self._reasons[writer] = (
            f"the deployment removed the avatar {image} after a change of the run"
        )
        self.moved.append(
            f"{writer}: {self._reasons[writer]}; its picture was uploaded again as {new_image}"
        )
        if image in self._pictures:
            self._pictures[new_image] = self._pictures.pop(image)
        before, now = self._file(image), self._file(new_image)
        if before is not None and now is not None and before.exists():
            before.replace(now)

    def drop(self) -> None:
        """Deletes the files, once nothing is left to restore."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)


ATTEMPTS: Final = 3
"""Most times that a request to undo a change is sent."""

MOST_PATIENCE: Final = timedelta(seconds=30)
"""Longest wait after a 429, unless the run may pause for longer."""


def persistent(
    client: ProbeClient, method: str, path: str, writer: str, json: object = None
) -> Exchange:
    """Sends an idempotent change, again if it got no response or a 429.

    Raises:
        Refusal: The change was not sent, or got no response in any attempt.
    """
    for _attempt in range(ATTEMPTS - 1):
        try:
            exchange = client.send(method, path, writer, json=json)
        except Unreachable:
            continue
        if exchange.status != HTTPStatus.TOO_MANY_REQUESTS:
            return exchange
        _wait(client, exchange)
    return client.send(method, path, writer, json=json)


def _wait(client: ProbeClient, refusal: Exchange) -> None:
    """Waits as ``Retry-After`` asks, at most ``MOST_PATIENCE`` or the run's longest pause."""
    pause = refusal.response.header("retry-after") or ""
    seconds = int(pause) if pause.isdecimal() else 1
    most = max(MOST_PATIENCE, client.gateway.allowance.pause)
    client.gateway.time.wait(min(timedelta(seconds=seconds), most))


def restore_avatars(
    client: ProbeClient,
    before: AccountBefore,
    writer: str,
    primary: str,
    uploads: list[str],
    kept: Keepsakes,
) -> list[str]:
    """Deletes uploads, and restores the avatars that existed before and their selection.

    Args:
        client: Sends the requests.
        before: The state before the run.
        writer: The credential.
        primary: The hash of the account's primary e-mail address; empty if it is unknown.
        uploads: Ids of the avatars to delete.
        kept: The pictures of avatars that the deployment may have removed.

    Returns:
        One line for each thing that could not be restored.

    Raises:
        Refusal: A request was not sent or got no response.
    """
    if before.avatars is None:
        return []
    _delete(client, tuple(uploads), writer)
    now = _state(client, before, writer)
    if not _differing_avatars(before, now, writer):
        return []
    images = now.avatars or {}
    undeleted = [image for image in images if image in client.gateway.made - {*before.avatars}]
    _delete(client, undeleted, writer)
    _put_back(client, before, writer, kept, images)
    for image, fields in before.avatars.items():
        if image in images and images[image] != fields:
            persistent(client, "PATCH", f"/me/avatars/{image}", writer, json=fields)
    for hash_, image_or_none in before.selected.items():
        if image_or_none is not None and now.selected[hash_] != image_or_none:
            body = {"email_hash": hash_ or primary}
            persistent(client, "POST", f"/me/avatars/{image_or_none}/email", writer, json=body)
    return _differing_avatars(before, _state(client, before, writer), writer)


def _state(client: ProbeClient, before: AccountBefore, writer: str) -> AccountBefore:
    """Reads an account's avatars, and its selection for the addresses of an earlier state."""
    chosen = {hash_: selected(client, writer, hash_) for hash_ in before.selected}
    return AccountBefore(avatars=avatars(client, writer), selected=chosen)


def _delete(client: ProbeClient, images: Collection[str], writer: str) -> None:
    for image in images:
        persistent(client, "DELETE", f"/me/avatars/{image}", writer)


def _put_back(
    client: ProbeClient,
    before: AccountBefore,
    writer: str,
    kept: Keepsakes,
    now: dict[str, dict[str, str]],
) -> None:
    """Uploads the pictures of missing avatars again, and records their new ids."""
    for image in [it for it in before.avatars or {} if it not in now]:
        new_image = _uploaded_again(client, image, writer, kept, now)
        if new_image is not None:
            before.rename(image, new_image)
            now[new_image] = {}
            kept.note_moved(writer, image, new_image)


def _uploaded_again(
    client: ProbeClient, image: str, writer: str, kept: Keepsakes, known: Collection[str]
) -> str | None:
    """Uploads the picture of an avatar again; returns its new id, or None if that fails.

    An upload whose response is lost is looked for in the list before it is sent again.
    """
    for _attempt in range(ATTEMPTS):
        try:
            exchange = kept.put_back(client, image, writer)
        except Unreachable:
            new = [image for image in avatars(client, writer) if image not in known]
            if new:
                return new[0]
            continue
        if exchange is None or exchange.status != HTTPStatus.TOO_MANY_REQUESTS:
            is_there = exchange is not None and exchange.response.is_success
            return id_of(exchange) if exchange is not None and is_there else None
        _wait(client, exchange)
    return None


def _differing_avatars(before: AccountBefore, now: AccountBefore, writer: str) -> list[str]:
    """Returns a line for each avatar and each selection that is not as before."""
    then, images = before.avatars or {}, now.avatars or {}
    lines = [
        f"{writer}: the avatar {image} was not removed" for image in images if image not in then
    ]
    lines += [
        f"{writer}: the avatar {image} is {_listed(images.get(image))} and was {_listed(fields)}"
        for image, fields in then.items()
        if images.get(image) != fields
    ]
    for hash_, image_or_none in before.selected.items():
        chosen = now.selected[hash_]
        if chosen != image_or_none:
            address = hash_ or "the primary address"
            lines.append(
                f"{writer}: {chosen or 'no avatar'} is selected for {address}, "
                f"and {image_or_none or 'none'} was"
            )
    return lines


def _listed(fields: dict[str, str] | None) -> str:
    if fields is None:
        return "missing"
    return ", ".join(f'{name} "{text}"' for name, text in fields.items()) or "without values"

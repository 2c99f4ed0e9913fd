"""Keeps the pictures of an account's avatars, which a deployment may evict for an upload.

What a deployment drops of its own accord, no deletion of an upload brings back. So pictures are
downloaded before the first upload to an account that has any, the list is read again before there is
one more upload than at any time before, and uploading ends where the list lacks something.
"""

import shutil
from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from understudy.verify.permits import BudgetSpent, NotPermitted, OutOfTime, Refusal
from understudy.verify.pictures import id_of, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.undo_journal import listed

_LARGEST: Final = "2048"  # interface, Limits: the largest size of an avatar, in pixels


class Keepsakes:
    """The pictures of the avatars that were there before a run.

    Args:
        reader: Reads lists and pictures.
        journal: The file of the run's undo journal, beside which pictures are kept for a later run;
            None to keep them in memory.
    """

    def __init__(self, reader: ProbeClient, journal: Path | None) -> None:
        self._reader = reader
        self._directory = None if journal is None else journal.with_name(f"{journal.name}.pictures")
        self._pictures: dict[str, bytes] = {}
        self._most_seen: dict[str, int] = {}
        self._reasons: dict[str, str] = {}

    def before_upload(self, writer: str, urls: Mapping[str, str], made: Collection[str]) -> None:
        """Makes sure that one more upload cannot lose an avatar for good.

        Args:
            writer: The credential of the account.
            urls: The avatars that were there before the run, by id, with the URLs of their pictures.
            made: Ids of the uploads of the run that are still there.

        Raises:
            NotPermitted: A picture cannot be kept, or an earlier upload removed an avatar.
        """
        if writer not in self._reasons and len(made) > self._most_seen.get(writer, 0):
            here = {item["image_id"] for item in listed(self._reader, writer)}
            lost = [image for image in (*urls, *made) if image not in here]
            if lost:
                self._reasons[writer] = (
                    f"the list of avatars did not grow with an upload: it has {len(here)} and lacks "
                    f"{lost[0]}, so nothing more is uploaded"
                )
            self._most_seen[writer] = len(made)
        if writer in self._reasons:
            raise NotPermitted(self._reasons[writer])
        for image, url in urls.items():
            if image not in self._pictures:
                self._keep(image, url)

    def _keep(self, image: str, url: str) -> None:
        """Downloads the picture of an avatar in the largest size.

        Raises:
            NotPermitted: It cannot be read, or not be written.
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
        """Returns the file of a picture; ids are the deployment's, and no names of files."""
        if self._directory is None:
            return None
        return self._directory / sha256(image.encode("utf-8", "replace")).hexdigest()[:32]

    def put_back(self, client: ProbeClient, image: str, writer: str) -> str | None:
        """Uploads the picture of an avatar that is gone; returns its new id, or None without one.

        Raises:
            Refusal: The request was not sent or got no response.
        """
        file = self._file(image)
        content = self._pictures.get(image)
        if content is None and file is not None and file.exists():
            content = file.read_bytes()
        if content is None:
            return None
        exchange = upload(client, content, writer, select_avatar="false")
        return id_of(exchange) if exchange.response.is_success else None

    def drop(self) -> None:
        """Removes the files, as nothing is left to put back."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)

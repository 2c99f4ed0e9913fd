"""The targets of the field, each with its bugs and without where there is such a setting."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic
from typing import Final, NamedTuple

import httpx
from tests.proofs.field.services import SERVICES
from tests.tools.bring import PLACE

HERE: Final = "127.0.0.1"
_PATIENCE: Final = 60


class Bug(NamedTuple):
    """A planted bug, and what a finding of it looks like.

    Attributes:
        name: What the service does wrong.
        sign: Matches ``METHOD target``, and below it what the finding says, with the response.
    """

    name: str
    sign: str

    def is_in(self, finding: str) -> bool:
        """Tells whether a finding shows this bug."""
        return re.search(self.sign, finding, re.DOTALL | re.IGNORECASE) is not None


_CRASH: Final = r".*\b500\b"

PLANTED: Final[Mapping[str, tuple[Bug, ...]]] = {
    "demo server": (
        Bug("a page size is too large", r"^GET /api/blog/posts\?\S*per_page=\d{6}" + _CRASH),
        Bug("a missing item is read", r"^GET /api/blog/posts/-?\d{1,9}\s" + _CRASH),
        Bug("the checksum that was read is written back", r"^PUT /api/blog/posts/\d+\s(?!.*ID was)" + _CRASH),
        Bug("a change has no id", r"^PUT /api/blog/posts/\d+\s.*500.*ID was not"),
    ),
    "users and books": (
        Bug("a name becomes a part of the SQL query", r"^GET /users/v1/\S*(%27|')\S*\s" + _CRASH),
    ),
    "httpbin": (
        Bug("a delay that is not a number", r"^\w+ /delay/(?!-?[\d.]+\s)\S*\s" + _CRASH),
        Bug("a redirect's status that is not a number", r"^\w+ /redirect-to.*status_code" + _CRASH),
        Bug("numbers of a drip that are too large", r"^GET /drip\?.*(500|no response|timeout)"),
    ),
    "tickets": (
        Bug("a later page begins an item early", r"^GET /tickets.*(once|twice)"),
        Bug("PATCH forgets other members", r"^(PATCH|GET) /tickets/\d+\s.*(update-merged|create-response|kept)"),
        Bug("a filter is ignored", r"^GET /tickets\?\S*status=.*filtered"),
        Bug("a descending order is ignored", r"^GET /tickets\?\S*sort=-title.*sorted"),
        Bug("2^63 crashes", r"^\w+ /tickets/\d{19,}\s" + _CRASH),
    ),
    "orders": (
        Bug("a read-only member is taken from the request", r"/orders.*(create-guarded|assign)"),
        Bug("a deleted order is still there", r"^(GET|DELETE) /orders.*(delete-gone|after_free|deleted)"),
        Bug("one more than the maximum is accepted", r"^(POST|PUT) /orders.*(4XX|negative_data|accepted)"),
        Bug("another default than the document's", r"^\w+ /orders.*default"),
        Bug("an error shows a stack", r"^(POST|PUT) /orders.*(stack|trace)"),
        Bug("a limit is ignored", r"^GET /orders\?\S*limit=.*limit"),
    ),
    "notebooks": (
        Bug("another account reads", r"^GET /notebooks/\d+.*(another|owner|other)"),
        Bug("another account deletes", r"^DELETE /notebooks/\d+.*(another|owner|other)"),
        Bug("nobody's token is asked for", r"^PUT /notebooks/\d+.*(ignored_auth|anonymous|without|401)"),
    ),
    "bookings": (
        Bug("the newest is not listed", r"^GET /rooms/\d+/bookings.*listed"),
        Bug("PUT is not stored", r"^(GET|PUT) /rooms/\d+/bookings/\d+.*(replace-kept|as sent)"),
        Bug("an empty name crashes", r"^(POST|PUT) /rooms/\d+/bookings.*IndexError"),
        Bug("an unknown day crashes", r"^(POST|PUT) /rooms/\d+/bookings.*KeyError"),
    ),
    "books": (
        Bug("a quote breaks the query", r"^GET /books\?\S*q=.*(500|OperationalError)"),
        Bug("a page beyond the last crashes", r"^GET /books\?\S*page=\d+.*IndexError"),
        Bug("a required member is left out", r"^GET /books.*subtitle"),
        Bug("a text that is not ASCII crashes", r"^POST /books/\S+/reviews.*UnicodeEncodeError"),
    ),
    "gardens": (
        Bug("the maximum is refused", r"^POST /beds\s.*maximum.*refused"),
        Bug("the longest text is refused", r"^POST /plants\s.*maxLength.*refused"),
        Bug("a long text is cut", r"^GET /plants/\d+\s.*(readable|as sent)"),
        Bug("another account's beds are listed", r"^GET /beds.*(another|owner|other)"),
        Bug("a member of a closed schema is taken", r"^POST /beds\s.*(guarded|additionalProperties)"),
        Bug("the number of pages leaves out the last", r"^GET /beds.*counted"),
        Bug("another default of a limit", r"^GET /beds.*default"),
        Bug("another default of a filter", r"^GET /plants.*default"),
        Bug("a name is taken twice", r"^POST /beds\s.*409"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A target in one setting, which a command starts.

    Attributes:
        name: The target.
        document: Its OpenAPI document.
        command: Starts it; ``PORT`` in an argument stands for its port.
        is_sound: True for the setting without the bugs.
        folder: What is copied to a new working directory for each start; None for an empty one.
        environment: Variables that it is started with.
        begin: A path that is read once before it is tried; the first that responds is ready.
        tokens: The tokens of two accounts, if it asks for any.
    """

    name: str
    document: Path
    command: tuple[str, ...]
    is_sound: bool
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    begin: str = "/"
    tokens: tuple[str, ...] = ()

    @property
    def bugs(self) -> tuple[Bug, ...]:
        """The bugs that are planted in this setting."""
        return () if self.is_sound else PLANTED[self.name]

    @contextmanager
    def started(self) -> Iterator[str]:
        """Starts it at a free port, in a new working directory.

        Yields:
            Its base URL.
        """
        with socket.socket() as free:
            free.bind((HERE, 0))
            port = free.getsockname()[1]
        with TemporaryDirectory() as place:
            if self.folder is not None:
                copytree(self.folder, place, dirs_exist_ok=True)
            command = [it.replace("PORT", str(port)) for it in self.command]
            process = subprocess.Popen(
                command,
                cwd=place,
                env={"PATH": "/usr/bin:/bin", **self.environment},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                _await(f"http://{HERE}:{port}{self.begin}", process)
                yield f"http://{HERE}:{port}"
            finally:
                process.terminate()
                process.wait()


def _await(url: str, process: subprocess.Popen[bytes]) -> None:
    """Waits until a server responds.

    Raises:
        RuntimeError: It ended, or does not respond.
    """
    end = monotonic() + _PATIENCE
    while process.poll() is None and monotonic() < end:
        try:
            httpx.get(url, timeout=10)
        except httpx.TransportError:
            Event().wait(0.1)
        else:
            return
    msg = f"{process.args!r} does not respond at {url}."
    raise RuntimeError(msg)


def own_settings() -> list[Setting]:
    """Returns the six services, each with its bugs and without."""
    root = str(Path(__file__).parents[3])
    return [
        Setting(
            service.name,
            service.document(),
            (sys.executable, "-m", "tests.proofs.field.serving", service.name, "PORT", setting),
            is_sound=is_sound,
            environment={"PYTHONPATH": root},
            tokens=tuple(service.accounts),
        )
        for service in SERVICES
        for is_sound, setting in ((False, "bugs"), (True, "sound"))
    ]


def _environment(name: str, *packages: str) -> str:
    """Returns the Python of an environment with the packages of a target, which is made if need be."""
    place = PLACE / "field" / name
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    return str(python)


def demo_server(folder: Path) -> list[Setting]:
    """Returns the demo server of a REST fuzzer: ``folder`` is its `demo_server`."""
    python = _environment("demo-server", "-r", str(folder / "requirements.txt"))
    command = (python, "-m", "uvicorn", "app:app", "--port", "PORT")
    document, place = folder / "swagger.json", folder / "demo_server"
    return [
        Setting("demo server", document, command, is_sound=False, folder=place, begin="/api/doc")
    ]


_USERS: Final = "from config import vuln_app; vuln_app.app.run(port=PORT)"


def users_and_books(folder: Path) -> list[Setting]:
    """Returns a vulnerable service of users and books, and the same with its holes mended.

    Args:
        folder: Its repository.
    """
    python = _environment("users-and-books", "-r", str(folder / "requirements.txt"))
    return [
        Setting(
            "users and books",
            folder / "openapi_specs" / "openapi3.yml",
            (python, "-c", _USERS),
            is_sound=vulnerable == "0",
            folder=folder,
            environment={"vulnerable": vulnerable},
            begin="/createdb",
        )
        for vulnerable in ("1", "0")
    ]


def httpbin() -> list[Setting]:
    """Returns the service that repeats what it is sent, from the package index."""
    python = _environment("httpbin", "httpbin", "flasgger", "setuptools<81")
    command = (python, "-m", "flask", "--app", "httpbin:app", "run", "--port", "PORT")
    document = PLACE / "field" / "httpbin.json"
    setting = Setting("httpbin", document, command, is_sound=False, begin="/spec.json")
    if not document.exists():
        with setting.started() as base_url:
            document.write_bytes(httpx.get(f"{base_url}/spec.json").content)
    return [setting]

"""``understudy exec -- COMMAND``: runs a command with a mock of its own."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import click
import orjson

from understudy.cli.command_options import RunningMock
from understudy.cli.exit_codes import ExitCode
from understudy.cli.mock_commands import serve
from understudy.errors import StartupError

PATIENCE = 60
"""Seconds that the mock may take to start, with many people on a slow machine."""


_AUTHORITY_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
"""Environment variables by which OpenSSL, Python's and Node's clients find trusted authorities."""


class _Split(click.Command):
    """Parses what is before ``--`` as options of ``serve``, and what is after it as a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Splits the arguments.

        Raises:
            UsageError: There is no command, or `serve` does not take an option.
        """
        if {"--help", "-h"} & set(args[: args.index("--")] if "--" in args else args):
            return super().parse_args(ctx, ["--help"])
        place = args.index("--") if "--" in args else len(args)
        options, command = args[:place], args[place + 1 :]
        if not command:
            msg = "There is no command; write it after --, as in: understudy exec -- npm test"
            raise click.UsageError(msg, ctx)
        serve.make_context(ctx.info_name, list(options), parent=ctx.parent)
        ctx.params = {"options": options, "command": command}
        return []


@click.command(
    name="exec",
    cls=_Split,
    options_metavar="[OPTIONS OF SERVE] -- COMMAND…",
)
def exec_(options: list[str], command: list[str]) -> None:
    """Run COMMAND with a mock of its own on free ports.

    Exits with the exit code of the command, which finds the mock in its environment: UNDERSTUDY_BASE_URL, UNDERSTUDY_AUTH_URL,
    UNDERSTUDY_URL (for the admin API), UNDERSTUDY_TOKEN_… for each token and
    UNDERSTUDY_CLIENT_ID and UNDERSTUDY_CLIENT_SECRET of the first application.
    """
    with tempfile.TemporaryDirectory(prefix="understudy-") as place:
        ready = Path(place) / "ready.json"
        mock = _start(ready, options)
        try:
            surroundings = _environment(_addresses(mock, ready))
            raise SystemExit(_run(command, surroundings))
        finally:
            mock.terminate()
            mock.wait()


def _start(ready: Path, options: list[str]) -> "subprocess.Popen[bytes]":
    free = ["--port", "0", "--auth-port", "0", "--log", "off", "--ready-file", str(ready)]
    serving = [sys.executable, "-m", "understudy", "serve", *free, *options]
    return subprocess.Popen(serving, stdout=subprocess.DEVNULL)


def _addresses(mock: "subprocess.Popen[bytes]", ready: Path) -> Mapping[str, str]:
    deadline = time.monotonic() + PATIENCE
    while not ready.exists():
        if mock.poll() is not None:
            msg = "The mock did not start; it says why above."
            raise StartupError(msg)
        if time.monotonic() > deadline:
            msg = f"The mock did not start within {PATIENCE} seconds."
            raise StartupError(msg)
        time.sleep(0.01)  # noqa: TID251 - waits for another process, not for a world's clock
    addresses: dict[str, str] = orjson.loads(ready.read_bytes())
    return addresses


def _environment(addresses: Mapping[str, str]) -> dict[str, str]:
    authority = addresses.get("certificate_authority")
    if authority is not None:
        os.environ |= dict.fromkeys(_AUTHORITY_VARIABLES, str(Path(authority).resolve()))
    site = urlsplit(addresses["base_url"])
    url = f"{site.scheme}://{site.netloc}"
    world = RunningMock(url).client().call("GET", "/worlds/default")
    variables = {
        "UNDERSTUDY_URL": url,
        "UNDERSTUDY_BASE_URL": addresses["base_url"],
        "UNDERSTUDY_AUTH_URL": addresses["auth_url"],
    }
    for token in world["tokens"]:
        variables[_variable("UNDERSTUDY_TOKEN_", token["token"])] = token["token"]
    for application in world["applications"][:1]:
        variables["UNDERSTUDY_CLIENT_ID"] = application["client_id"]
        variables["UNDERSTUDY_CLIENT_SECRET"] = application["client_secret"]
    return {**os.environ, **variables}


def _variable(prefix: str, name: str) -> str:
    return prefix + "".join(c if c.isalnum() else "_" for c in name).upper()


def _run(command: list[str], surroundings: dict[str, str]) -> int:
    try:
        code = subprocess.run(command, env=surroundings, check=False).returncode
        return code if code >= 0 else 128 - code  # ended by a signal: the code that a shell gives
    except OSError as error:
        msg = f"{command[0]!r} cannot be run: {error.strerror}."
        raise StartupError(msg) from error
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED

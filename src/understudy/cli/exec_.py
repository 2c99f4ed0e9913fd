"""``understudy exec -- COMMAND``: runs a command with a mock that only this command uses."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import click
import orjson

from understudy.cli.command_options import RunningMock
from understudy.cli.exit_codes import ExitCode
from understudy.cli.mock_commands import serve
from understudy.errors import StartupError
from understudy.mock.server.hosts import is_host
from understudy.terminal import echo

PATIENCE = 60
"""Seconds that the mock may take to start, enough for many people on a slow machine."""

_AUTHORITY_VARIABLES = tuple(
    "SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS".split()
)
"""Environment variables by which OpenSSL, Python's and Node's clients find trusted authorities."""

_PROXY_VARIABLES = tuple(
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy".split()
)

AS_HOST = "--as-host"


class _Split(click.Command):
    """Parses the arguments before ``--`` as options of ``serve``, and those after it as a command."""

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
        hosts, options = _hosts(options, ctx)
        if hosts:
            named = chain.from_iterable(("--admin-host", it) for it in hosts)
            options = ["--single-port", *named, *options]
        serve.make_context(ctx.info_name, list(options), parent=ctx.parent)
        ctx.params = {"options": options, "command": command, "hosts": hosts}
        return []


def _hosts(options: list[str], ctx: click.Context) -> tuple[list[str], list[str]]:
    """Returns the values of ``--as-host``, and the other options, which are those of ``serve``."""
    hosts, others, left = [], [], iter(options)
    for text in left:
        name, _, value = text.partition("=")
        if name != AS_HOST:
            others.append(text)
            continue
        host = value or next(left, "")
        if not is_host(host) or ":" in host:
            msg = f"{AS_HOST}: {host!r} is not a host name; write it as api.example.com."
            raise click.UsageError(msg, ctx)
        hosts.append(host.lower())
    return hosts, others


@click.command(
    name="exec",
    cls=_Split,
    options_metavar="[--as-host NAME]… [OPTIONS OF SERVE] -- COMMAND…",
)
def exec_(options: list[str], command: list[str], hosts: list[str]) -> None:
    """Run COMMAND with a mock of its own on free ports.

    Exits with the exit code of the command, which finds the mock in its environment: UNDERSTUDY_BASE_URL, UNDERSTUDY_AUTH_URL,
    UNDERSTUDY_URL (for the admin API), UNDERSTUDY_TOKEN_… for each token (another service accepts any, so there is none) and
    UNDERSTUDY_CLIENT_ID and UNDERSTUDY_CLIENT_SECRET of the first application.

    With --as-host, the mock stands at these host names too: the command runs behind a proxy that
    leads them to the mock and refuses all others, and trusts its certificate. Repeatable.
    """
    if url := os.environ.get("UNDERSTUDY_URL"):
        click.echo(
            f"UNDERSTUDY_URL is {url}; the command gets a mock of its own instead.", err=True
        )
    with tempfile.TemporaryDirectory(prefix="understudy-") as place, ExitStack() as proxying:
        ready = Path(place) / "ready.json"
        mock = _start(ready, ["--tls", f"{place}/tls", *options] if hosts else options)
        try:
            addresses = _addresses(mock, ready)
            surroundings = _environment(addresses)
            if hosts:
                surroundings |= proxying.enter_context(_proxied(hosts, addresses))
            raise SystemExit(_run(command, surroundings))
        finally:
            mock.terminate()
            mock.wait()


@contextmanager
def _proxied(hosts: list[str], addresses: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Runs a proxy to the mock, and yields the environment variables that make clients use it.

    Raises:
        StartupError: The mock has the user's own certificate, whose authority is unknown.
    """
    # ssl takes 20 ms to import, which a command without host names need not wait for.
    from understudy.cli.forward_proxy import ForwardProxy

    authority = addresses.get("certificate_authority")
    if authority is None:
        msg = f"{AS_HOST} needs a certificate for {', '.join(hosts)}; leave out --tls."
        raise StartupError(msg)
    site = urlsplit(addresses["base_url"])
    with ForwardProxy(hosts, (site.hostname or "", site.port or 0), Path(authority)) as proxy:
        here = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost,::1")
        loading = f'--require "{Path(__file__).with_name("fixed_hosts.cjs").as_posix()}"'
        try:
            yield {
                **dict.fromkeys(_PROXY_VARIABLES, proxy.url),
                **here,
                "NODE_USE_ENV_PROXY": "1",
                "NODE_OPTIONS": f"{os.environ.get('NODE_OPTIONS', '')} {loading}".strip(),
                "UNDERSTUDY_AS_HOSTS": ",".join(hosts),
                "UNDERSTUDY_AS_PORTS": f"{site.port},{proxy.server_address[1]}",
            }
        finally:  # printed here too, as many clients do not show the body of a refusal
            for host in sorted(proxy.refused):
                echo(
                    f"{host} was refused; add {AS_HOST} {host} for the mock to answer there.",
                    err=True,
                )


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
        remedy = "check its name, or make the file executable"
        msg = f"{command[0]!r} cannot be run: {error.strerror}; {remedy}."
        raise StartupError(msg) from error
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED

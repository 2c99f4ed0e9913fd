"""Runs the mock of ``understudy serve``: certificate, sockets, first screen, request log, reloading.

The first screen fits a terminal of 80 columns and 24 lines. With another service's document it shows
commands for the operations of that document instead of people.
"""

import asyncio
import ctypes
import gc
import os
import secrets  # noqa: TID251 - no fixture, and it must not be guessed
import ssl
import sys
import textwrap
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import accumulate, islice
from pathlib import Path
from socket import socket
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import click
import orjson
from starlette.types import ASGIApp

from understudy.cli.losses import followed_facts, print_losses, print_wrong_examples
from understudy.cli.mock_commands import ServeOptions
from understudy.cli.mock_edge_cases import MockEdgeCases
from understudy.cli.options import expect_different, values_of
from understudy.cli.workers import WorkerLink, supervise
from understudy.cli.writing import ready_file
from understudy.errors import StartupError
from understudy.exchange.masking import masked_query
from understudy.interface.deployment_profile import load_profile
from understudy.interface.facts import Facts, choices_of
from understudy.interface.rules import bundled_choices, bundled_rules
from understudy.mock.app import Mock
from understudy.mock.fixtures import loading
from understudy.mock.fixtures.listing import curl_lines, sample_credentials
from understudy.mock.server import serving
from understudy.mock.server.dispatcher import STANDING_NOTES
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.hosts import PRIVATE_PATHS, is_local
from understudy.mock.server.journaling import RequestListener
from understudy.mock.server.listing import ANY_CREDENTIALS, Listing
from understudy.mock.server.request_context import Addresses, RequestContext
from understudy.mock.server.worlds import DEFAULT
from understudy.mock.settings import Log, Settings
from understudy.mock.store.people import PEOPLE
from understudy.mock.store.tokens import TOKENS, is_valid
from understudy.openapi.loader import load
from understudy.terminal import COLOURS, echo, printable_line

FEW_PEOPLE, FEW_TOKENS, FEW_SCHEMES = 16, 4, 4
"""Most records of each kind on the first screen; fixtures may have a hundred thousand people."""

ROWS = 11
"""Rows of the first screen for another service's commands and credentials: the rest of 24."""

WIDTH = 80
"""Columns of the first screen."""


def banner(mock: Mock, site_url: str, auth_url: str, admin_token: str | None = None) -> str:
    """Returns the first screen of a running mock.

    Args:
        mock: The mock.
        site_url: Address of the resource API's server, without a path.
        auth_url: Address of the authorization server.
        admin_token: The token that the admin API requires from other machines; None for none.
    """
    base_url = site_url + mock.base_path
    shown = (
        _own_service(mock, base_url)
        if mock.listing is None
        else _other_service(mock, mock.listing, base_url)
    )
    is_own = mock.listing is None
    has_page = is_own or not _takes_root(mock)
    return "\n".join(
        [
            click.style("understudy", bold=True) + f" serves {printable_line(mock.title)}",
            _line("resource API", base_url),
            _line("authorization", auth_url),
            *([_line("people, tokens" if is_own else "start page", f"{site_url}/")] * has_page),
            _line("console", f"{site_url}/__console"),
            *([_line("admin token", admin_token)] if admin_token else []),
            _line("responses", _origins(mock.endpoints)),
            "",
            *shown,
            click.style("Ctrl-C stops.", dim=True),
        ]
    )


def _takes_root(mock: Mock) -> bool:
    """Tells whether the document has a path where the start page would be."""
    return not mock.base_path and any(it.operation.path == "/" for it in mock.endpoints)


def _own_service(mock: Mock, base_url: str) -> list[str]:
    tokens = [token for _, token in mock.world.items(TOKENS)]
    now = mock.world.clock.now()
    valid = [token for token in tokens if is_valid(token, now)]
    people = mock.world.count(PEOPLE)
    return [
        click.style("Try", bold=True),
        *(f"  {line}" for line in curl_lines(base_url, mock.world, valid)),
        "",
        _heading("People", people),
        _listed(list(islice(mock.world.keys(PEOPLE), FEW_PEOPLE)), people),
        _heading("Tokens", len(tokens)),
        *(
            _cut(printable_line(f"  {token.token:<15} {token.about}"))
            for token in valid[:FEW_TOKENS]
        ),
        *_limits(mock),
    ]


def _limits(mock: Mock) -> list[str]:
    """Returns a hint on the rate limit, which is soon used up if a page is reloaded often."""
    if mock.world.choices.get("rate-limits", "on") != "on":
        return []
    return [
        "Lookups are limited to 100 an hour, as by the service;",
        "  --choose rate-limits=warn while you build.",
    ]


def _other_service(mock: Mock, listing: Listing, base_url: str) -> list[str]:
    """Returns commands for the operations, as many as fit the screen, and valid credentials."""
    credentials = ANY_CREDENTIALS
    if listing.are_credentials_checked:
        credentials = sample_credentials(mock.world, mock.world.clock.now())
    schemes = [
        printable_line(f"  {scheme.name:<15} {scheme.credential}  ({scheme.place})")
        for scheme in listing.schemes(credentials)[:FEW_SCHEMES]
    ]
    rows = ROWS - len(schemes)
    operations = islice(listing.operations(base_url, credentials), rows)
    shown = _fitting([f"  {printable_line(it.command)}" for it in operations], rows)
    more = len(listing.endpoints) - len(shown)
    page = "console" if _takes_root(mock) else "start page"
    return [
        click.style("Try", bold=True),
        *shown,
        *([f"  and {more} more: see the {page}"] if more else []),
        "",
        *([_credentials_heading(listing), *map(_cut, schemes)] if schemes else []),
    ]


def _credentials_heading(listing: Listing) -> str:
    """Returns a heading that says which credentials are valid."""
    hint = "any value is valid; --tokens known takes those of the fixtures"
    if listing.are_credentials_checked:
        hint = "understudy fixtures lists all of them"
    return f"{click.style('Credentials', bold=True)}  {click.style(hint, dim=True)}"


def _fitting(lines: Sequence[str], rows: int) -> list[str]:
    """Returns the first lines that fit into a number of rows of the terminal, at least one line."""
    heights = accumulate(-(-len(line) // WIDTH) for line in lines)
    return [line for line, height in zip(lines, heights, strict=True) if height <= rows] or list(
        lines[:1]
    )


def _origins(endpoints: Sequence[Endpoint]) -> str:
    """Returns a text on how many operations have a bundled handler, and how many inferred state."""
    handled = sum(endpoint.binding.handler is not None for endpoint in endpoints)
    plural = "" if len(endpoints) == 1 else "s"
    stateful = sum(endpoint.document_handler is not None for endpoint in endpoints)
    inferred = f", inferred state for {stateful}" if stateful else ""
    return (
        f"bundled handlers for {handled or 'none'} of {len(endpoints)} operation{plural}{inferred}"
    )


def _line(label: str, text: str) -> str:
    return f"  {label:<16}{click.style(text, fg='cyan')}"


def _heading(title: str, count: int) -> str:
    hint = click.style("understudy fixtures lists all of them", dim=True)
    return f"{click.style(f'{title} ({count:,})', bold=True)}  {hint}"


def _listed(slugs: list[str], count: int) -> str:
    more = ", …" if count > len(slugs) else ""
    text = ", ".join(slugs) + more
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ", max_lines=2)


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


class Certificate(NamedTuple):
    """The files of a certificate.

    Attributes:
        chain: The certificate with its chain, as PEM.
        key: The private key, as PEM.
        authority: The authority that clients must trust; None for the user's own certificate.
    """

    chain: Path
    key: Path
    authority: Path | None


def certificate(directory: Path, names: Iterable[str]) -> Certificate:
    """Returns the certificate in a directory; creates one if there is none.

    Args:
        directory: Directory of ``cert.pem`` and ``key.pem``, and of ``ca.pem`` for a created one.
        names: Host names and addresses of the mock, beside the loopback ones.

    Raises:
        StartupError: Only one of the two files exists, a file is invalid, or none can be written.
    """
    chain, key, authority = (directory / f"{name}.pem" for name in ("cert", "key", "ca"))
    if chain.exists() != key.exists():
        there, missing = (chain, key) if chain.exists() else (key, chain)
        msg = (
            f"--tls {directory} has {there.name} and no {missing.name}; put both there, or neither."
        )
        raise StartupError(msg)
    if not chain.exists():
        try:
            directory.mkdir(parents=True, exist_ok=True)
            _make(chain, key, authority, dict.fromkeys([*LOCAL_NAMES, *names]))
        except OSError as error:
            msg = f"--tls {directory} cannot be written ({error.strerror}); name a directory that can be."
            raise StartupError(msg) from error
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(chain, key)
    except (ssl.SSLError, OSError) as error:
        msg = (
            f"--tls {directory}: {chain.name} and {key.name} are not a certificate and its key in PEM;"
            " correct them, or remove both to have new ones made."
        )
        raise StartupError(msg) from error
    return Certificate(chain, key, authority if authority.exists() else None)


def _make(chain: Path, key: Path, authority: Path, names: Iterable[str]) -> None:
    # cryptography takes 0.1 s to import, which a mock without TLS need not wait for.
    import trustme

    made = trustme.CA(organization_name="understudy")
    leaf = made.issue_cert(*names)
    key.touch(mode=0o600)
    leaf.private_key_pem.write_to_path(str(key))
    made.cert_pem.write_to_path(str(authority))
    with chain.open("wb") as file:
        for pem in leaf.cert_chain_pems:
            file.write(pem.bytes())


Write = Callable[[str], None]

REASON_WIDTH = 160
"""Most characters of the reason of a refusal; ``understudy explain`` shows all of it."""

INDENT = " " * 16
"""Indentation of the remarks below a request."""


def log_lines(log: Log, write: Write, *, is_terminal: bool) -> RequestListener | None:
    """Returns a listener that writes a line for each request; None if the log is off.

    Args:
        log: The setting of ``--log``.
        write: Writes a line, which is passed without its line end.
        is_terminal: True to colour the lines.
    """
    if log == "off":
        return None
    printed: set[tuple[str, str]] = set()

    def line(context: RequestContext) -> str:
        if log == "json":
            return _json(context)
        coloured = _coloured(context, _remarks(context, printed))
        return coloured if is_terminal else click.unstyle(coloured)

    def record(context: RequestContext) -> None:
        if not _is_own(context):
            write(line(context))

    return record


def _is_own(context: RequestContext) -> bool:
    """Tells whether a page of the mock or a command sent a request, which the log leaves out."""
    if context.is_part_of_page:
        return True
    if not context.path.startswith(PRIVATE_PATHS):
        return False
    headers = context.headers
    own = (headers.get(b"x-mock-client"), headers.get(b"sec-fetch-site"))
    return own[0] in {b"console", b"understudy"} or own[1] == b"same-origin"


def _target(context: RequestContext) -> str:
    query = masked_query(context.query.decode("latin-1"), context.secret_names | context.key_names)
    return printable_line(f"{context.path}?{query}" if query else context.path)


def _id(context: RequestContext) -> str:
    """Returns the id for ``understudy explain``; calls of the admin API have none."""
    return f"#{context.number}" if context.number else "-"


def _who(context: RequestContext) -> str:
    person = context.principal.person if context.principal else "-"
    world = context.world.name
    return person if world == DEFAULT else f"{person}  world {world}"


def _reason(context: RequestContext) -> str:
    """Returns why a request was refused, in a few words; empty if it was not."""
    if context.refusal is None:
        return ""
    return textwrap.shorten(printable_line(context.refusal.problem.message), REASON_WIDTH)


def _remarks(context: RequestContext, printed: set[tuple[str, str]]) -> list[str]:
    """Returns the lines below a request; a note on an operation as such is printed only once."""
    operation = context.endpoint.operation.pointer if context.endpoint else ""
    standing = {(note, operation) for note in context.notes if note in STANDING_NOTES}
    notes = [note for note in context.notes if (note, operation) not in printed]
    printed |= standing
    return list(filter(None, [_reason(context), *map(printable_line, notes)]))


def _coloured(context: RequestContext, remarks: Sequence[str]) -> str:
    status = click.style(context.status, fg=COLOURS.get(context.status // 100), bold=True)
    faint = click.style(f"{context.seconds * 1000:.1f} ms  {_who(context)}", dim=True)
    start = click.style(f"{context.started:%H:%M:%S}  {_id(context):>4}", dim=True)
    line = f"{start}  {status}  {context.method:<6} {_target(context)}  {faint}"
    return "\n".join([line, *(click.style(f"{INDENT}{remark}", fg="yellow") for remark in remarks)])


def _json(context: RequestContext) -> str:
    endpoint = context.endpoint
    entry = {
        "time": context.started.isoformat(),
        "id": context.number or None,
        "world": context.world.name,
        "method": context.method,
        "target": _target(context),
        "status": context.status,
        "milliseconds": round(context.seconds * 1000, 3),
        "operation": endpoint.operation.operation_id if endpoint else None,
        "person": context.principal.person if context.principal else None,
        "reason": _reason(context) or None,
        "notes": context.notes,
    }
    return orjson.dumps(entry).decode()


WILDCARDS = frozenset({"0.0.0.0", "::"})
"""Addresses to listen on that stand for every network interface."""

Preparation = Callable[[ASGIApp, str], Sequence[str]]
"""Prepares the state of a mock before it serves; takes the ASGI application of the resource API and
its URL, and returns lines for the user."""


def serve(options: ServeOptions, _environment: Mapping[str, str]) -> None:
    """Runs the mock with the options of the command line.

    Raises:
        StartupError: A setting, a document or a fixture is invalid.
    """
    choices: dict[str, str] = {}
    facts: tuple[Facts, ...] = ()
    chosen = options.choices
    if options.like is not None:  # choices are added to those of the profile
        chosen = (*load_profile(options.like).get("choices", ()), *chosen)
    if options.facts or chosen:
        rules = bundled_rules()
        facts = followed_facts(options.facts, rules)
        for file in facts:  # the last one wins
            choices |= choices_of(file, rules)
        choices |= bundled_choices(chosen)
    run(Settings(**values_of(options) | {"facts": facts, "choices": choices}))


def run(settings: Settings, prepare: Preparation | None = None) -> None:
    """Runs the mock until it is stopped.

    Args:
        settings: The settings of the mock.
        prepare: Prepares the state before the mock serves; None to begin with the fixtures.

    Raises:
        StartupError: A setting, a document or a fixture is invalid.
    """
    _expect_files(settings)
    if not settings.single_port:
        ports = {"--port": settings.port, "--auth-port": settings.auth_port}
        expect_different(ports, ", or add --single-port")
    announce = ready_file(settings.ready_file)
    if settings.admin_token is None and not is_local(settings.host):
        settings = replace(settings, admin_token=secrets.token_urlsafe(24))

    if settings.workers > 1:
        supervise(
            settings, lambda shared, link: _serve(shared, prepare, link.announce, link), announce
        )
    else:
        _serve(settings, prepare, lambda addresses, _stop: announce(addresses), None)


def _give_memory_back() -> None:
    """Makes glibc's allocator return the memory of large requests to the system.

    By default glibc keeps freed blocks below a threshold, which it raises up to 32 MB, and has a heap
    for each thread, so that the memory of a few huge bodies and pictures would never be returned.
    """
    if sys.platform == "linux":
        allocator = ctypes.CDLL(None)
        if hasattr(allocator, "mallopt"):
            allocator.mallopt(_LARGE_FROM, 1 << 20)
            allocator.mallopt(_MOST_HEAPS, 1)


_LARGE_FROM, _MOST_HEAPS = -3, -8
"""The parameters M_MMAP_THRESHOLD, in bytes, and M_ARENA_MAX of mallopt(3)."""


@contextmanager
def _bound(settings: Settings, *, is_shared: bool) -> Iterator[tuple[socket, socket]]:
    """Yields the sockets of the resource API and the authorization server, which may be the same.

    Raises:
        StartupError: A port is in use.
    """
    host = settings.host
    with ExitStack() as opened:
        resource = serving.bind(host, settings.port, "--port", is_shared=is_shared)
        authorization = opened.enter_context(resource)
        if not settings.single_port:
            bound = serving.bind(host, settings.auth_port, "--auth-port", is_shared=is_shared)
            authorization = opened.enter_context(bound)
        yield resource, authorization


def _serve(
    settings: Settings,
    prepare: Preparation | None,
    announce: Callable[[Mapping[str, str], Callable[[], None]], None],
    link: WorkerLink | None,
) -> None:
    """Runs the mock in this process until it is stopped.

    Args:
        settings: The settings of the mock.
        prepare: Prepares the state before the mock serves; None to begin with the fixtures.
        announce: Called with the addresses and a function that stops the mock, once it serves.
        link: The connection with the supervisor of several workers; None for a single process.
    """
    _give_memory_back()
    # before the ports, whose errors would hide those of the certificate
    tls = _certificate(settings)
    with _bound(settings, is_shared=link is not None) as (resource, authorization):
        scheme = "https" if tls else "http"
        site_url, auth_url = serving.url_of(resource, scheme), serving.url_of(authorization, scheme)
        is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        record = log_lines(settings.log, click.echo, is_terminal=is_coloured)
        mock = _mock(settings, record, _addresses(settings.host, site_url, auth_url))
        prepared = prepare(mock.resource, site_url) if prepare else ()

        addresses = {"base_url": site_url + mock.base_path, "auth_url": auth_url}
        if tls and tls.authority:
            addresses["certificate_authority"] = str(tls.authority)

        def ready(stop: Callable[[], None]) -> None:
            # Documents and fixtures live as long as the process. Each full garbage collection would walk
            # over them, which with 100,000 people stops the mock for 0.1 s.
            gc.freeze()
            if link is None or link.is_first:
                # a program reads the JSON lines, so nothing else may be on standard output
                is_json = settings.log == "json"
                screen = banner(mock, site_url, auth_url, settings.admin_token)
                click.echo("\n".join((screen, *prepared)), err=is_json)
            announce(addresses, stop)

        running = serving.serve(
            {authorization: mock.authorization, resource: mock.resource},
            ready=ready,
            beside=[_reloading(mock)] if settings.reload else [],
            certificate=tls and (tls.chain, tls.key),
            grace=settings.grace,
        )
        run_loop(running)


def _mock(settings: Settings, record: RequestListener | None, addresses: Addresses) -> Mock:
    """Builds the mock, and prints warnings about its document and vocabulary."""
    mock = Mock(settings, record, addresses)
    print_losses(mock.document, mock.losses)
    for name in mock.uncovered:
        echo(f"No word of the vocabulary covers {name}.", fg="yellow", err=True)
    if mock.listing is not None and mock.listing.endpoints:
        print_wrong_examples(mock.listing.endpoints[0].api.document)
    mock.edge_cases = MockEdgeCases(mock, settings.document)
    return mock


def _certificate(settings: Settings) -> Certificate | None:
    """Returns the certificate for https, which is valid for every host name in the settings.

    Raises:
        StartupError: The certificate is invalid, or none can be created.
    """
    if settings.tls is None:
        return None
    public = (settings.public_url, settings.public_auth_url)
    names = [urlsplit(url).hostname or "" for url in public if url]
    if settings.host not in WILDCARDS:
        names.append(settings.host)
    return certificate(settings.tls, [*names, *settings.admin_hosts])


def _expect_files(settings: Settings) -> None:
    """Checks that the document and the fixtures exist, before an error about a port could hide it.

    Raises:
        StartupError: The document or the fixtures do not exist.
    """
    if settings.document is not None and not settings.document.is_file():
        load(settings.document)
    if settings.fixtures is not None and not settings.fixtures.is_dir():
        loading.load(settings.fixtures)


def _addresses(host: str, site_url: str, auth_url: str) -> Addresses:
    """Returns the addresses of both servers for their links to one another.

    Clients can use any name of a mock that listens on every interface, so that links repeat the host
    name of the request.
    """
    if host not in WILDCARDS:
        return Addresses(site_url, auth_url)
    return Addresses(*(f":{urlsplit(url).port}" for url in (site_url, auth_url)))


def run_loop(running: Any) -> None:
    """Runs a coroutine on the fastest event loop that the platform has."""
    if sys.platform == "win32":
        asyncio.run(running)
    else:
        import uvloop  # not available on Windows

        uvloop.run(running)


def _reloading(mock: Any) -> Callable[[], Awaitable[None]]:
    """Returns a coroutine function that reloads documents and fixtures whenever they change."""

    async def watch() -> None:
        from watchfiles import awatch

        fixtures = mock.fixtures.resolve()
        directories = {fixtures, *(path.resolve().parent for path in mock.files)}

        def concerns(_change: object, path: str) -> bool:
            changed = Path(path)
            # read anew, as a changed document may refer to further files
            files = (file.resolve() for file in mock.files)
            return changed in files or fixtures in changed.parents

        async for _ in awatch(*directories, watch_filter=concerns):
            try:
                mock.reload()
            except StartupError as error:
                echo(f"Not reloaded: {error}", fg="red", err=True)
            else:
                print_losses(mock.document, mock.losses)
                click.secho(
                    "Reloaded documents and fixtures; the state is kept.", fg="green", err=True
                )

    return watch

"""The first screen of a running mock: its addresses, commands to try, people and tokens.

It fits a terminal of 80 columns and 24 lines. Under another service's document, commands for the
operations of that document take the place of people that it does not know.
"""

import textwrap
from collections.abc import Sequence
from itertools import accumulate, islice

import click

from understudy.mock.app import Mock
from understudy.mock.fixtures.curl_examples import curl_lines
from understudy.mock.fixtures.sample_credentials import sample_credentials
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.listing import ANY_CREDENTIALS, Listing
from understudy.mock.store.people import PEOPLE
from understudy.mock.store.tokens import TOKENS, is_valid

FEW_PEOPLE, FEW_TOKENS, FEW_SCHEMES = 16, 4, 4
"""The most that the first screen shows; a directory may hold a hundred thousand people."""

ROWS = 11
"""Rows for another service's commands and credentials: what is left of 24."""

WIDTH = 80


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
    return "\n".join(
        [
            click.style("understudy", bold=True) + f" serves {mock.title}",
            _line("resource API", base_url),
            _line("authorization", auth_url),
            _line("people, tokens" if is_own else "start page", f"{site_url}/"),
            _line("console", f"{site_url}/__console"),
            *([_line("admin token", admin_token)] if admin_token else []),
            _line("responses", _origins(mock.endpoints)),
            "",
            *shown,
            click.style("Ctrl-C stops.", dim=True),
        ]
    )


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
        *(_cut(f"  {token.token:<15} {token.about}") for token in valid[:FEW_TOKENS]),
        *_limits(mock),
    ]


def _limits(mock: Mock) -> list[str]:
    """Returns a line about the rate limit, which surprises who reloads a page often."""
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
        f"  {scheme.name:<15} {scheme.credential}  ({scheme.place})"
        for scheme in listing.schemes(credentials)[:FEW_SCHEMES]
    ]
    commands = [f"  {it.command}" for it in listing.operations(base_url, credentials)]
    shown = _fitting(commands, ROWS - len(schemes))
    more = len(commands) - len(shown)
    return [
        click.style("Try", bold=True),
        *shown,
        *([f"  and {more} more: see the start page"] if more else []),
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
    """Returns the first lines that fit into as many rows of the terminal, but one at least."""
    heights = accumulate(-(-len(line) // WIDTH) for line in lines)
    return [line for line, height in zip(lines, heights, strict=True) if height <= rows] or list(
        lines[:1]
    )


def _origins(endpoints: Sequence[Endpoint]) -> str:
    """Returns how many operations have a bundled handler, and how many a state that was inferred."""
    handled = sum(endpoint.binding.handler is not None for endpoint in endpoints)
    plural = "" if len(endpoints) == 1 else "s"
    stateful = sum(endpoint.document_handler is not None for endpoint in endpoints)
    inferred = f", inferred state for {stateful}" if stateful else ""
    return (
        f"bundled handlers for {handled or 'none'} of {len(endpoints)} operation{plural}{inferred}"
    )


def _line(what: str, text: str) -> str:
    return f"  {what:<16}{click.style(text, fg='cyan')}"


def _heading(what: str, count: int) -> str:
    hint = click.style("understudy fixtures lists all of them", dim=True)
    return f"{click.style(f'{what} ({count:,})', bold=True)}  {hint}"


def _listed(slugs: list[str], count: int) -> str:
    more = ", …" if count > len(slugs) else ""
    text = ", ".join(slugs) + more
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ", max_lines=2)


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"

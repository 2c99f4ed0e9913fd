"""The first screen of a running mock: its addresses, commands to try, people and tokens.

It fits a terminal of 80 columns and 24 lines. Under another service's document, commands for the
operations of that document take the place of people that it does not know.
"""

import textwrap
from collections.abc import Sequence

import click

from understudy.mock.app import Mock
from understudy.mock.engine.curl_commands import curl_command
from understudy.mock.engine.endpoint import Endpoint
from understudy.mock.fixtures.curl_examples import curl_lines
from understudy.mock.store.people import PEOPLE
from understudy.mock.store.tokens import TOKENS, Token, is_valid

FEW_PEOPLE, FEW_TOKENS, FEW_OPERATIONS = 16, 5, 12
"""The most that the first screen shows; a directory may hold a hundred thousand people."""

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
    now = mock.world.clock.now()
    tokens = [token for _, token in mock.world.items(TOKENS)]
    valid = [token for token in tokens if is_valid(token, now)]
    if mock.is_own_service:
        shown = _own_service(mock, base_url, tokens, valid)
    else:
        shown = _other_service(mock.endpoints, base_url, valid)
    return "\n".join(
        [
            click.style("understudy", bold=True) + f" serves {mock.title}",
            _line("resource API", base_url),
            _line("authorization", auth_url),
            _line("people, tokens", f"{site_url}/"),
            *([_line("admin token", admin_token)] if admin_token else []),
            _line("responses", _origins(mock.endpoints)),
            "",
            *shown,
            click.style("Ctrl-C stops.", dim=True),
        ]
    )


def _own_service(
    mock: Mock, base_url: str, tokens: Sequence[Token], valid: Sequence[Token]
) -> list[str]:
    people = [person for _, person in mock.world.items(PEOPLE)]
    return [
        click.style("Try", bold=True),
        *(f"  {line}" for line in curl_lines(base_url, people, valid)),
        "",
        _heading("People", len(people)),
        _listed([person.slug for person in people[:FEW_PEOPLE]], len(people)),
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


def _other_service(
    endpoints: Sequence[Endpoint], base_url: str, valid: Sequence[Token]
) -> list[str]:
    token = valid[0].token if valid else None
    commands = [curl_command(base_url, endpoint, token) for endpoint in endpoints]
    shown = [command for command in commands if command is not None]
    more = len(endpoints) - len(shown[:FEW_OPERATIONS])
    return [
        click.style("Try", bold=True),
        *(f"  {command}" for command in shown[:FEW_OPERATIONS]),
        *([f"  and {more} more operations: {base_url}/openapi"] if more > 0 else []),
        "",
    ]


def _origins(endpoints: Sequence[Endpoint]) -> str:
    """Returns how many operations have a handler, and how many are answered from the document."""
    handled = sum(endpoint.binding.handler is not None for endpoint in endpoints)
    made_up = len(endpoints) - handled
    plural = "" if handled == 1 else "s"
    if not made_up:
        return f"{handled} operation{plural} by handlers"
    return f"{handled} operation{plural} by handlers, {made_up} made up from the document"


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

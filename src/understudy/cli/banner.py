"""What a person sees once the mock answers: where it is, what to type next, whom to ask for."""

import textwrap

import click

from understudy.mock.app import Mock
from understudy.mock.fixtures.curl_examples import curl_lines
from understudy.mock.store.people import PEOPLE
from understudy.mock.store.tokens import TOKENS, is_valid

FEW = 20
"""People named in the banner; a directory may hold a hundred thousand."""


def banner(mock: Mock, site_url: str, auth_url: str, admin_token: str | None = None) -> str:
    """Returns the banner of a running mock.

    Args:
        mock: What runs.
        site_url: Where its resource API answers, without a path.
        auth_url: Where its authorization server answers.
        admin_token: What the admin API asks of callers who are not on this machine.
    """
    base_url = site_url + mock.base_path
    people = [person for _, person in mock.world.items(PEOPLE)]
    tokens = [token for _, token in mock.world.items(TOKENS)]
    now = mock.world.clock.now()
    valid = [token for token in tokens if is_valid(token, now)]
    return "\n".join(
        [
            "",
            click.style("understudy", bold=True) + " stands in for the avatar and profile service",
            "",
            _line("resource API", base_url),
            _line("authorization", auth_url),
            _line("people, tokens", f"{site_url}/"),
            *([_line("admin token", admin_token)] if admin_token else []),
            "",
            click.style("Try", bold=True),
            *(f"  {line}" for line in curl_lines(base_url, people, valid)),
            "",
            _heading("People", len(people)),
            _listed([person.slug for person in people[:FEW]], len(people)),
            "",
            _heading("Tokens", len(tokens)),
            *(
                f"  {token.token:<18}{'' if is_valid(token, now) else 'expired: '}{token.about}"
                for token in tokens[:FEW]
            ),
            "",
            click.style("Ctrl-C stops.", dim=True),
            "",
        ]
    )


def _line(what: str, url: str) -> str:
    return f"  {what:<16}{click.style(url, fg='cyan')}"


def _heading(what: str, count: int) -> str:
    told = click.style("understudy fixtures --list tells more", dim=True)
    return f"{click.style(f'{what} ({count:,})', bold=True)}  {told}"


def _listed(slugs: list[str], count: int) -> str:
    more = ", …" if count > len(slugs) else ""
    text = ", ".join(slugs) + more
    return textwrap.fill(text, 90, initial_indent="  ", subsequent_indent="  ")

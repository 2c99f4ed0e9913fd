"""The tables of ``understudy fixtures``, for a terminal of any width.

What fixtures say is never read as rich's markup: a person may be called ``[bold]``.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from understudy.reports.console import Terminal

SHOWN = 200
"""People in the table; ``--json`` lists all of them."""


def print_tables(listed: Mapping[str, list[dict[str, Any]]], reasons: Mapping[str, str]) -> None:
    """Prints people, tokens and applications to standard output.

    Args:
        listed: The listing of the fixtures, as ``--json`` prints it.
        reasons: Token to its purpose, which the listing does not have.
    """
    console = Terminal()
    people = listed["people"]
    console.print(_people(people[:SHOWN]))
    if len(people) > SHOWN:
        console.print(f"  and {len(people) - SHOWN:,} more; --json shows them all\n")
    console.print(_tokens(listed["tokens"], reasons))
    console.print(_applications(listed["applications"]))


def _people(people: Iterable[dict[str, Any]]) -> Table:
    table = _table("People", "password: <slug>-password; --json tells all")
    table.add_column("slug, display name", no_wrap=True, overflow="ellipsis", max_width=22)
    table.add_column("e-mails", no_wrap=True, overflow="ellipsis", max_width=27)
    table.add_column("about", ratio=1)
    for person in people:
        name = Text(f"{person['slug']}\n", "bold").append(person["display_name"], "not bold dim")
        emails = "\n".join(email["email"] for email in person["emails"])
        table.add_row(name, Text(emails), Text(person["about"]))
    return table


def _tokens(tokens: Iterable[dict[str, Any]], reasons: Mapping[str, str]) -> Table:
    table = _table("Tokens", "send one as Authorization: Bearer …")
    for heading in ("token", "person", "kind", "state"):
        table.add_column(heading, overflow="fold")
    table.add_column("scopes, about", ratio=1)
    for token in tokens:
        scopes = [" ".join(token["scopes"])] if token["scopes"] else []
        table.add_row(
            Text(token["token"], "bold"),
            token["person"],
            token["kind"],
            Text(token["state"], "red" if token["state"] == "expired" else ""),
            Text("\n".join([*scopes, reasons[token["token"]]])),
        )
    return table


def _applications(applications: Iterable[dict[str, Any]]) -> Table:
    table = _table("Applications", "for signing in at the authorization server")
    table.add_column("client_id, client_secret")
    table.add_column("owner")
    table.add_column("redirect_uris", overflow="fold", ratio=1)
    for application in applications:
        client = Text(f"{application['client_id']}\n", "bold")
        table.add_row(
            client.append(application["client_secret"], "not bold dim"),
            application["owner"],
            Text("\n".join(application["redirect_uris"])),
        )
    return table


def _table(title: str, hint: str) -> Table:
    return Table(
        title=Text(f"{title}  ", "bold").append(hint, "not bold dim"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        expand=True,
    )

"""Asks for the content of a target file, in the order of the file, and writes it.

A key that is left out becomes a comment in the file, so that it can be filled in later without
looking up its name.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

import click

from understudy.cli.writing import expect_writable, unwritable
from understudy.errors import StartupError
from understudy.record_schemas import schema_text
from understudy.verify.target import is_loopback
from understudy.verify.target_schema import SCHEMA_FILE, target_schema

Kind = Literal["", "text", "url", "mode", "secret", "list", "number", "flag"]


class Key(NamedTuple):
    """One key of the file.

    Attributes:
        name: Its name.
        about: The question, and the comment beside the key in the file.
        kind: The kind of answer; empty: nobody is asked, and the file has it as a comment.
        example: The value in the comment of a key that was left out.
        usual: The answer that Return gives.
        variable: The end of the name of a secret's environment variable.
        only_with: The fact that the question needs; see ``Answers.facts``.
    """

    name: str
    about: str
    kind: Kind = ""
    example: Any = "…"
    usual: Any = ""
    variable: str = ""
    only_with: str = ""


class TargetSection(NamedTuple):
    """A table of the file; the first has no name, and one that nobody is asked about no title."""

    table: str
    title: str
    keys: tuple[Key, ...]
    only_with: str = ""


_HASH: Final = ("0" * 64,)

_APPLICATION: Final = (
    Key("client_id", "client id, as the dashboard shows it", "text"),
    Key("client_secret", "its secret", "secret", variable="CLIENT_SECRET"),
    Key("redirect_uri", "one of its redirect URIs", "url", "https://app.example/callback"),
    Key("username", "user name of its owner, who signs in and grants", "text"),
    Key("password", "the owner's password", "secret", variable="PASSWORD"),
    Key("name", "as the consent page shows it"),
    Key("application_password", "the owner's, for two-step sign-in", variable="APP_PASSWORD"),
    Key("approve", "query parameter that approves, at a test deployment", "", "approve=mia"),
    Key("deny", "query parameter that denies", "", "deny=1"),
)

_LOGIN: Final = (
    Key("path", "where a token is had, where none is given above", "", "/login"),
    Key(
        "json",
        "members of the JSON body",
        example={"username": "…", "password": "env:PASSWORD"},
    ),
    Key("form", "or the fields of a form", example={"grant_type": "client_credentials"}),
    Key("token", "its place in the JSON response", "", "data/token"),
)

_UNASKED: Final = tuple(key._replace(kind="") for key in _APPLICATION)

SECTIONS: Final = (
    TargetSection(
        "",
        "The deployment",
        (
            Key("base_url", "resource API", "url", usual="http://127.0.0.1:8080/v3"),
            Key(
                "auth_url",
                "authorization server; without it, its rules are not checked",
                "url",
                "https://accounts.staging.example",
            ),
            Key(
                "document",
                'OpenAPI document to judge by: a file, or "published" for the one at /openapi',
                "text",
                "published",
            ),
            Key("mode", "what it may write: observe, own or full", "mode", "observe"),
            Key("is_mock", "true: assumed and inferred rules give findings too", example=False),
            Key("accept", "rules whose breach is a note here", example=()),
            Key("accept_as_stated", "inferred rules whose breach is a finding here", example=()),
            Key("like", "profile of the deployment, as of `serve --like`", "", "deployment.yaml"),
            Key("facts", "what `understudy learn` wrote of the deployment", "", "facts.yaml"),
            Key("state_model", "corrects what is inferred of another service", "", "model.yaml"),
            Key("overlays", "Overlay files that change the document", "", ("overlay.yaml",)),
            Key(
                "vocabulary", "words for scopes, QR types, headers, upload field", "", "words.yaml"
            ),
            Key("ledger", "counts the hour's requests across runs", "", "target.ledger"),
        ),
    ),
    TargetSection(
        "credentials",
        "Bearer tokens of accounts for tests",
        (
            Key("access_token", "of the test account, every scope", "secret", variable="TOKEN"),
            Key("read_only_token", "of it, which may only read", "secret", variable="READ_TOKEN"),
            Key(
                "other_access_token",
                "of another account, with every scope",
                "secret",
                variable="OTHER_TOKEN",
            ),
            Key("api_key", "API key of any application", "secret", variable="API_KEY"),
            Key("auth_only_token", "with the scope auth alone", variable="AUTH_ONLY_TOKEN"),
            Key("no_auth_token", "with every scope but auth", variable="NO_AUTH_TOKEN"),
            Key("expired_token", "was valid and has expired", variable="EXPIRED_TOKEN"),
            Key("private_access_token", "of the private profile", variable="PRIVATE_TOKEN"),
            Key("disabled_access_token", "of a disabled profile", variable="DISABLED_TOKEN"),
            Key("admin_token", "of a mock on another machine", variable="ADMIN_TOKEN"),
        ),
    ),
    TargetSection(
        "application", "An application, and the owner who signs in", _APPLICATION, "authorization"
    ),
    TargetSection(
        "known",
        "People that the deployment is known to have",
        (
            Key("slug", "slug of the test account's profile", "text"),
            Key(
                "emails",
                "its e-mail addresses, the primary one first, separated by commas",
                "list",
                ("primary@example.com", "second@example.com"),
            ),
            Key("other_slug", "slug of the other account's profile", "text"),
            Key("hashes", "SHA-256 hashes in place of emails", example=_HASH),
            Key("other_emails", "of the other account", example=("other@example.com",)),
            Key("other_hashes", "SHA-256 hashes in place of other_emails", example=_HASH),
            Key("people", "further public profiles", example=("nora", "greta")),
            Key("private_slug", "of a private profile"),
            Key("disabled_slug", "of a disabled profile"),
            Key("hidden_contact_slug", "of one whose contact details are not public"),
        ),
    ),
    TargetSection(
        "permit",
        "What verify may do beyond reading and editing",
        (
            Key("uploads", "upload avatars, and remove them again", "flag", only_with="writes"),
            Key(
                "fill_account",
                "upload avatars to an account that has some",
                "flag",
                only_with="uploads",
            ),
            Key("tokens", "have tokens issued to the application", "flag", only_with="application"),
            Key(
                "max_tokens",
                "the most tokens that a run may have issued",
                "number",
                usual=100,
                only_with="tokens",
            ),
            Key(
                "exhaust_rate_limit",
                "use up the hour's requests; others at this address then wait for an hour",
                "flag",
            ),
            Key("clock", "move the clock of a mock, and restore it", "flag", only_with="here"),
        ),
    ),
    TargetSection(
        "budget",
        "Requests to profile endpoints that an hour allows",
        (
            Key("anonymous", "without a token", "number", usual=100),
            Key("token", "with a token", "number", usual=1000),
        ),
    ),
    TargetSection("other_application", "", _UNASKED),
    TargetSection("two_step", "", _UNASKED),
    TargetSection("login", "", _LOGIN),
    TargetSection("other_login", "", _LOGIN),
)
"""The tables, in the order of the file."""

MODES: Final = """\
  observe  writes nothing
  own      writes to the test account alone, and undoes it
  full     writes to two accounts
"""


ABOUT = """\
{path} will say what `understudy verify` judges, and what it may do there.
Press Return to take the value in brackets, or to leave a key out. It can be filled in later; rules
that need it are not checked until then. Give a secret as env:NAME, which is read from the
environment, so that the secret is in no file.
"""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REST_OF_NAME = re.compile(r"[^A-Z0-9]+")


@dataclass
class Answers:
    """The answers so far, by table and key; a key that was left out has none."""

    by_key: dict[tuple[str, str], Any] = field(default_factory=dict)

    def get(self, table: str, key: str) -> Any:
        """Returns an answer, or None."""
        return self.by_key.get((table, key))

    @property
    def facts(self) -> Mapping[str, bool]:
        """The facts that decide which questions make sense."""
        return {
            "": True,
            "authorization": self.get("", "auth_url") is not None,
            "application": self.get("application", "client_id") is not None,
            "tokens": self.get("permit", "tokens") is True,
            "uploads": self.get("permit", "uploads") is True,
            "writes": self.get("", "mode") != "observe",
            "here": is_loopback(self.get("", "base_url") or ""),
        }

    @property
    def prefix(self) -> str:
        """The beginning of the names of environment variables."""
        if self.facts["here"]:
            return "MOCK"
        host = urlsplit(self.get("", "base_url") or "").hostname or ""
        return _REST_OF_NAME.sub("_", host.partition(".")[0].upper()).strip("_") or "TARGET"

    def reference(self, table: str, key: Key) -> str:
        """Returns how the file refers to the environment variable of a secret."""
        others = {section.table for section in SECTIONS if not section.title}
        owner = f"{table.upper()}_" if table in others else ""
        return f"env:{self.prefix}_{owner}{key.variable}"


def ask_for_target(path: Path) -> None:
    """Asks, and writes a target file.

    Raises:
        StartupError: There is one already that is to stay, or it cannot be written.
    """
    try:
        answers = _answers(path)
    except click.Abort:
        click.echo(err=True)
        msg = (
            f"The questions were not answered to the end, so {path} was not written. "
            "`understudy verify --init --template` prints a template to fill in."
        )
        raise StartupError(msg) from None
    try:
        path.write_text(written(answers))
        path.with_name(SCHEMA_FILE.name).write_text(schema_text(target_schema()))
    except OSError as error:
        raise unwritable(path, "--target", error) from error
    _tell_what_is_next(path, answers)


def _answers(path: Path) -> Answers:
    """Asks every question that makes sense.

    Raises:
        StartupError: There is a file already that is to stay, or it cannot be written.
        Abort: The input ended.
    """
    if path.exists() and not click.confirm(f"{path} already exists. Overwrite it?"):
        msg = f"{path} stays as it is; give --target another name."
        raise StartupError(msg)
    expect_writable(path, "--target")
    click.echo(ABOUT.format(path=path))
    answers = Answers()
    for section in SECTIONS:
        if not section.title or not answers.facts[section.only_with]:
            continue
        click.secho(section.title, bold=True)
        for key in section.keys:
            if key.kind and answers.facts[key.only_with]:
                _ask(answers, section.table, key)
        click.echo()
    return answers


def _ask(answers: Answers, table: str, key: Key) -> None:
    usual = key.usual
    text = f"  {key.about[0].upper()}{key.about[1:]}"
    if key.kind == "mode":
        usual = "own" if answers.facts["here"] else "observe"
        click.echo(MODES, nl=False)
    if key.kind == "secret":
        text += f" (such as {answers.reference(table, key)})"
    if key.kind == "flag":
        answer: Any = click.confirm(f"{text}?", default=False)
    else:
        read = _READERS.get(key.kind, str.strip)
        answer = click.prompt(text, default=usual, show_default=bool(usual), value_proc=read)
    if answer not in {"", (), None}:
        answers.by_key[table, key.name] = answer
        if key.kind == "secret" and not str(answer).startswith("env:"):
            click.secho(
                "  The secret will be in the file; keep it out of version control.", dim=True
            )


def _url(answer: str) -> str:
    url = answer.strip()
    parts = urlsplit(url)
    if url and not (parts.scheme in {"http", "https"} and parts.hostname):
        msg = f"{url!r} is not a URL; write it as https://host/path, or press Return for none."
        raise click.UsageError(msg)
    return url


def _mode(answer: str) -> str:
    if answer.strip() not in {"observe", "own", "full"}:
        msg = f"{answer.strip()!r} is not a mode; write observe, own or full."
        raise click.UsageError(msg)
    return answer.strip()


def _secret(answer: str) -> str:
    name = answer.strip().removeprefix("env:")
    if answer.strip().startswith("env:") and not _VARIABLE.fullmatch(name):
        msg = f"{name!r} is not the name of a variable; write it as env:NAME."
        raise click.UsageError(msg)
    return answer.strip()


def _list(answer: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in answer.split(",") if part.strip())


def _number(answer: str) -> int:
    if not str(answer).strip().isdecimal():
        msg = f"{str(answer).strip()!r} is not a whole number; write 0 or more."
        raise click.UsageError(msg)
    return int(answer)


_READERS: Mapping[str, Callable[[str], Any]] = {
    "url": _url,
    "mode": _mode,
    "secret": _secret,
    "list": _list,
    "number": _number,
}


def written(answers: Answers) -> str:
    """Returns the content of the file; a key that was left out becomes a comment."""
    lines = [f"#:schema ./{SCHEMA_FILE.name}", ""]
    for section in SECTIONS:
        lines += [f"[{section.table}]"] if section.table else []
        for key in section.keys:
            answer = answers.get(section.table, key.name)
            if answer is not None or key.kind in {"flag", "number"}:
                shown, mark = (key.usual or False) if answer is None else answer, ""
            else:
                shown, mark = key.example, "# "
                if key.variable:
                    shown = answers.reference(section.table, key)
            lines.append(_line(f"{mark}{key.name} = {_toml(shown)}", key.about))
        lines.append("")
    return "\n".join(lines)


def template() -> str:
    """Returns a file with every key; all but the address are comments, or have their usual value."""
    address = SECTIONS[0].keys[0]
    return written(Answers({("", address.name): address.usual}))


def _line(text: str, about: str) -> str:
    return f"{text:<46} # {about}"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_toml(each)}' for name, each in value.items())} }}"
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{"".join(c if c.isprintable() else "?" for c in escaped)}"'


def _tell_what_is_next(path: Path, answers: Answers) -> None:
    named = [str(a).removeprefix("env:") for a in answers.by_key.values() if str(a)[:4] == "env:"]
    unset = [name for name in dict.fromkeys(named) if not os.environ.get(name)]
    click.echo(
        f"{path} was written, and {SCHEMA_FILE.name}, by which editors complete and check it."
    )
    if unset:
        click.echo(f"  export {' '.join(f'{name}=…' for name in unset)}")
    click.echo(
        f"  understudy verify --target {path} --plan   # shows the requests, and sends nothing"
    )
    click.echo(f"  understudy verify --target {path}")

"""Asks for the content of a target file, in the order of the file, and writes the file.

A key without an answer becomes a comment in the file, so that it can be filled in later without
looking up its name.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

import click

from understudy.cli.writing import expect_writable
from understudy.errors import StartupError
from understudy.interface.recognition import interface_operations
from understudy.openapi.loader import Document, load
from understudy.record_schemas import schema_text
from understudy.verify.target import is_loopback
from understudy.verify.target_schema import SCHEMA_NAME, target_schema

Kind = Literal["text", "url", "mode", "secret", "list", "number", "flag"]


class Questions(NamedTuple):
    """Questions about one table of the file.

    Attributes:
        table: The name of the table; empty for keys outside tables.
        title: The heading of the questions.
        keys: The keys to ask for, in order.
        only_with: The condition of the questions; see ``Answers.facts``.
    """

    table: str
    title: str
    keys: tuple[str, ...]
    only_with: str = ""


QUESTIONS: Final = (
    Questions("", "The deployment", ("base_url", "auth_url", "document", "mode")),
    Questions(
        "credentials",
        "Bearer tokens of accounts for tests",
        ("access_token", "read_only_token", "other_access_token", "api_key"),
    ),
    Questions(
        "application",
        "An application, and the owner who signs in",
        ("client_id", "client_secret", "redirect_uri", "username", "password"),
        "authorization",
    ),
    Questions(
        "known",
        "People that the deployment is known to have",
        ("slug", "emails", "other_slug"),
    ),
    Questions(
        "permit",
        "What verify may do beyond reading and editing",
        ("uploads", "fill_account", "tokens", "max_tokens", "exhaust_rate_limit", "clock"),
    ),
    Questions(
        "budget",
        "Requests to profile endpoints that an hour allows",
        ("anonymous", "token"),
    ),
)
"""The questions, in the order of the file; their texts are the docstrings of the target records."""

OF_ANOTHER_SERVICE: Final = (
    Questions("", "The deployment", ("base_url", "mode")),
    Questions(
        "credentials",
        "Credentials of accounts for tests; for HTTP Basic, name:password",
        ("access_token", "other_access_token"),
    ),
)
"""The questions if the document describes another service."""

_TABLES_OF_ANOTHER_SERVICE: Final = {"", "credentials", "login", "other_login", "reader_login"}

NEEDED_FACT: Final = {
    "uploads": "writes",
    "fill_account": "uploads",
    "tokens": "application",
    "max_tokens": "tokens",
    "clock": "here",
}
"""The condition of the question about a key; see ``Answers.facts``."""

USUAL: Final[Mapping[str, Any]] = {
    "base_url": "http://127.0.0.1:8080/v3",
    "max_tokens": 100,
    "anonymous": 100,
    "token": 1000,
}
"""The default answers, which Return gives."""

_HASH: Final = ("0" * 64,)

EXAMPLES: Final[Mapping[str, Any]] = {
    "auth_url": "https://accounts.staging.example",
    "document": "published",
    "overlays": ("overlay.yaml",),
    "vocabulary": "words.yaml",
    "like": "deployment.yaml",
    "mode": "observe",
    "state_model": "model.yaml",
    "facts": "facts.yaml",
    "ledger": "target.ledger",
    "redirect_uri": "https://app.example/callback",
    "approve": "approve=mia",
    "deny": "deny=1",
    "emails": ("primary@example.com", "second@example.com"),
    "hashes": _HASH,
    "other_emails": ("other@example.com",),
    "other_hashes": _HASH,
    "people": ("nora", "greta"),
    "path": "/login",
    "json": {"username": "…", "password": "env:PASSWORD"},
    "form": {"grant_type": "client_credentials"},
}
"""Example values for the comments of keys without an answer."""

_SECRET: Final = re.compile(r"_token$|^api_key$|secret$|password$")


class Key(NamedTuple):
    """One key of the file, from the schema of target files.

    Attributes:
        table: Name of the key's table; empty for none.
        name: Name of the key.
        about: Description of the key, in one sentence.
        example: Example value for the comment of a key without an answer.
        kind: The kind of answer.
    """

    table: str
    name: str
    about: str
    example: Any
    kind: Kind


def _keys() -> Iterator[Key]:
    """Yields every key of a target file, those without a table first, as TOML requires."""
    records = target_schema()["$defs"]
    members = records["Target"]["properties"]
    tables = {name: member["$ref"] for name, member in members.items() if "$ref" in member}
    plain = {name: member for name, member in members.items() if name not in tables}
    yield from (_key("", name, member) for name, member in plain.items())
    for table, reference in tables.items():
        record = records[reference.rpartition("/")[2]]
        yield from (_key(table, name, member) for name, member in record["properties"].items())


def _key(table: str, name: str, member: Mapping[str, Any]) -> Key:
    example = EXAMPLES.get(name, member.get("default", "…"))
    example = tuple(example) if isinstance(example, list) else example
    return Key(table, name, member["description"].removesuffix("."), example, _kind(name, member))


def _kind(name: str, member: Mapping[str, Any]) -> Kind:
    if _SECRET.search(name):
        return "secret"
    if name == "mode" or name.endswith(("_url", "_uri")):
        return "mode" if name == "mode" else "url"
    kinds: Mapping[str, Kind] = {"boolean": "flag", "integer": "number", "array": "list"}
    return kinds.get(member.get("type", ""), "text")


MODES: Final = """\
  observe  writes nothing
  own      writes to the test account alone, and undoes it
  full     writes to two accounts
"""

MODES_OF_ANOTHER_SERVICE: Final = """\
  observe  writes nothing
  own      changes only items that it created, and can delete
  full     changes whatever the credentials allow, and undoes what it can
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
    """The answers so far, by table and key.

    Attributes:
        by_key: The answers.
        document: The document of another service; None for this one.
    """

    document: Document | None = None
    by_key: dict[tuple[str, str], Any] = field(default_factory=dict)

    def get(self, table: str, key: str) -> Any:
        """Returns the answer for a key, or None."""
        return self.by_key.get((table, key))

    @property
    def facts(self) -> Mapping[str, bool]:
        """The conditions of questions, by name, and whether each is met."""
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
        """Prefix for the names of environment variables: from the host's name."""
        if self.facts["here"]:
            return "MOCK"
        host = urlsplit(self.get("", "base_url") or "").hostname or ""
        return _REST_OF_NAME.sub("_", host.partition(".")[0].upper()).strip("_") or "TARGET"

    def reference(self, key: Key) -> str:
        """Returns the value ``env:NAME`` that refers to a secret in the environment."""
        owner = "" if key.table in {it.table for it in QUESTIONS} else f"{key.table.upper()}_"
        return f"env:{self.prefix}_{owner}{key.name.replace('access_token', 'token').upper()}"


def ask_for_target(path: Path, document: Path | None = None) -> None:
    """Asks all questions, and writes a target file with its JSON Schema beside it.

    Args:
        path: The file to write.
        document: The document to judge by, if the command names one.

    Raises:
        StartupError: The user keeps an existing file, the input ended, or the file cannot be written.
    """
    try:
        answers = _answers(path, document)
    except click.Abort:
        click.echo(err=True)
        msg = (
            f"The questions were not answered to the end, so {path} was not written. "
            "`understudy verify --init --template` prints a template to fill in."
        )
        raise StartupError(msg) from None
    path.write_text(written(answers))
    path.with_name(SCHEMA_NAME).write_text(schema_text(target_schema()))
    _tell_what_is_next(path, answers)


def _answers(path: Path, document: Path | None) -> Answers:
    """Asks every question whose condition is met.

    Raises:
        StartupError: The user keeps an existing file, or the file cannot be written.
        Abort: The input ended.
    """
    if path.exists() and not click.confirm(f"{path} already exists. Overwrite it?"):
        msg = f"{path} stays as it is; give --target another name."
        raise StartupError(msg)
    expect_writable(path, "--target")
    click.echo(ABOUT.format(path=path))
    read = None if document is None else load(document)
    is_other = read is not None and not interface_operations(read)
    answers = Answers(read if is_other else None)
    keys = {(key.table, key.name): key for key in _keys()}
    if document is not None:
        answers.by_key["", "document"] = os.path.relpath(document, path.parent)
    for questions in OF_ANOTHER_SERVICE if is_other else QUESTIONS:
        if not answers.facts[questions.only_with]:
            continue
        click.secho(questions.title, bold=True)
        for name in questions.keys:
            is_known = (questions.table, name) in answers.by_key
            if answers.facts[NEEDED_FACT.get(name, "")] and not is_known:
                _ask(answers, keys[questions.table, name])
        click.echo()
    return answers


def _ask(answers: Answers, key: Key) -> None:
    usual, text, other = USUAL.get(key.name, ""), f"  {key.about}", answers.document
    if other is not None and key.name == "base_url":
        usual, text = f"http://127.0.0.1:8080{other.base_path}", "  Base URL of the service"
    if key.kind == "mode":
        usual = ("full" if other else "own") if answers.facts["here"] else "observe"
        click.echo(MODES_OF_ANOTHER_SERVICE if other else MODES, nl=False)
        text = "  What it may write"
    if key.kind == "secret":
        text += f" (such as {answers.reference(key)})"
    if key.kind == "flag":
        answer: Any = click.confirm(f"{text}?", default=False)
    else:
        text += ", separated by commas" if key.kind == "list" else ""
        read = _READERS.get(key.kind, str.strip)
        answer = click.prompt(text, default=usual, show_default=bool(usual), value_proc=read)
    if answer not in {"", (), None}:
        answers.by_key[key.table, key.name] = answer
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


def _number(answer: str) -> int:
    if not str(answer).strip().isdecimal():
        msg = f"{str(answer).strip()!r} is not a whole number; write 0 or more."
        raise click.UsageError(msg)
    return int(answer)


_READERS: Mapping[str, Callable[[str], Any]] = {
    "url": _url,
    "mode": _mode,
    "secret": _secret,
    "list": lambda answer: tuple(filter(None, map(str.strip, answer.split(",")))),
    "number": _number,
}


def written(answers: Answers) -> str:
    """Returns the content of the file; a key without an answer becomes a comment."""
    lines = [f"#:schema ./{SCHEMA_NAME}"]
    listed = [
        key for key in _keys() if not answers.document or key.table in _TABLES_OF_ANOTHER_SERVICE
    ]
    for table, keys in groupby(listed, lambda key: key.table):
        lines += ["", *([f"[{table}]"] if table else []), *(_line(answers, key) for key in keys)]
    return "\n".join([*lines, ""])


def _line(answers: Answers, key: Key) -> str:
    answer, mark = answers.get(key.table, key.name), ""
    if answer is None and key.table in {"permit", "budget"}:
        answer = USUAL.get(key.name, False)
    if answer is None:
        answer, mark = key.example, "# "
        if key.kind == "secret":
            answer = answers.reference(key)
    return f"{f'{mark}{key.name} = {_toml(answer)}':<46} # {key.about}"


def template() -> str:
    """Returns a file with every key; all but ``base_url`` are comments or have their defaults."""
    return written(Answers(by_key={("", "base_url"): USUAL["base_url"]}))


def _toml(value: Any) -> str:
    """Returns a value in TOML, whose notation is that of JSON except for tables."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_toml(member)}' for name, member in value.items())} }}"
    text = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else "?" for c in text)


def _tell_what_is_next(path: Path, answers: Answers) -> None:
    named = [str(a).removeprefix("env:") for a in answers.by_key.values() if str(a)[:4] == "env:"]
    unset = [name for name in dict.fromkeys(named) if not os.environ.get(name)]
    click.echo(f"{path} was written, and {SCHEMA_NAME}, by which editors complete and check it.")
    if unset:
        click.echo(f"  export {' '.join(f'{name}=…' for name in unset)}")
    click.echo(
        f"  understudy verify --target {path} --plan   # shows the requests, and sends nothing"
    )
    click.echo(f"  understudy verify --target {path}")

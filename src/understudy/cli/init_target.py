"""Asks for the content of a target file, in the order of the file, and writes it.

A key that is left out becomes a comment in the file, so that it can be filled in later without
looking up its name.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from understudy.cli.questions import SECTIONS, UNASKED, Question
from understudy.cli.writing import expect_writable, unwritable
from understudy.errors import StartupError
from understudy.record_schemas import schema_text
from understudy.verify.target import is_loopback
from understudy.verify.target_schema import SCHEMA_FILE, target_schema

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
        if not answers.facts[section.only_with]:
            continue
        click.secho(section.title, bold=True)
        for question in section.questions:
            _ask(answers, section.table, question)
        click.echo()
    return answers


def _ask(answers: Answers, table: str, question: Question) -> None:
    if not answers.facts[question.only_with]:
        return
    usual = question.usual
    if question.key == "mode":
        usual = "own" if answers.facts["here"] else "observe"
    text = f"  {question.text}"
    if question.kind == "secret":
        text += f" (such as env:{answers.prefix}_{question.variable})"
    if question.kind == "flag":
        answer: Any = click.confirm(text, default=False)
    else:
        answer = click.prompt(
            text,
            default=usual,
            show_default=bool(usual),
            value_proc=_READERS[question.kind],
        )
    if answer not in {"", (), None}:
        answers.by_key[table, question.key] = answer
        if question.kind == "secret" and not str(answer).startswith("env:"):
            click.secho(
                "  The secret will be in the file; keep it out of version control.", dim=True
            )


def _text(answer: str) -> str:
    return answer.strip()


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
    "text": _text,
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
        for question in section.questions:
            answer = answers.get(section.table, question.key)
            mark = "# " if answer is None and question.kind not in {"flag", "number"} else ""
            shown = _toml(question.example if mark else answer or question.usual)
            lines.append(_line(f"{mark}{question.key} = {shown}", question.about))
        lines += [*_unasked(section.table), ""]
    tables = {section.table for section in SECTIONS}
    for table in (name for name in UNASKED if name not in tables):
        lines += [f"[{table}]", *_unasked(table), ""]
    return "\n".join(lines)


def template() -> str:
    """Returns a file with every key; all but the address are comments, or have their usual value."""
    address = next(question for question in SECTIONS[0].questions if question.key == "base_url")
    return written(Answers({("", "base_url"): address.usual}))


def _unasked(table: str) -> list[str]:
    """Returns the keys of a table that no question asks for, as comments."""
    keys = UNASKED.get(table, ())
    return [_line(f"# {each.key} = {_toml(each.example)}", each.about) for each in keys]


def _line(text: str, about: str) -> str:
    return f"{text:<46} # {about}"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
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

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

Kind = Literal["text", "url", "mode", "secret", "list", "number", "flag"]


class Question(NamedTuple):
    """One key of the file.

    Attributes:
        key: The name of the key.
        kind: The kind of answer.
        text: The question.
        about: The comment beside the key in the file.
        example: The value in the comment of a key that was left out.
        usual: The answer that Return gives.
        variable: The end of the name of a secret's environment variable.
        only_with: The fact that the question needs; see ``Answers.facts``.
    """

    key: str
    kind: Kind
    text: str
    about: str
    example: Any = "…"
    usual: Any = ""
    variable: str = ""
    only_with: str = ""


class TargetSection(NamedTuple):
    """A table of the file; the first has no name."""

    table: str
    title: str
    questions: tuple[Question, ...]
    only_with: str = ""


SECTIONS: Final = (
    TargetSection(
        "",
        "The deployment",
        (
            Question(
                "base_url",
                "url",
                "Address of the resource API",
                "of the resource API",
                usual="http://127.0.0.1:8080/v3",
            ),
            Question(
                "auth_url",
                "url",
                "Address of the authorization server",
                "left out: its rules are not checked",
                "https://accounts.staging.example",
            ),
            Question(
                "document",
                "text",
                "OpenAPI document to judge by: a file, or published for the one at /openapi",
                'left out: the bundled one; "published": the one at /openapi',
                "published",
            ),
            Question(
                "mode",
                "mode",
                "May it write? observe: no; own: to one account, and undo it; full: to two",
                "observe | own | full",
                "observe",
            ),
        ),
    ),
    TargetSection(
        "credentials",
        "Bearer tokens of accounts for tests",
        (
            Question(
                "access_token",
                "secret",
                "Token of the test account, with every scope",
                "of the test account, with every scope",
                variable="TOKEN",
            ),
            Question(
                "read_only_token",
                "secret",
                "Token of the same account, which may only read",
                "of the same account, read only",
                variable="READ_TOKEN",
            ),
            Question(
                "other_access_token",
                "secret",
                "Token of another account, with every scope",
                "of another account",
                variable="OTHER_TOKEN",
            ),
            Question(
                "api_key",
                "secret",
                "API key of any application",
                "of any application",
                variable="API_KEY",
            ),
        ),
    ),
    TargetSection(
        "application",
        "An application, and the owner who signs in",
        (
            Question("client_id", "text", "Client id", "as the dashboard shows it"),
            Question(
                "client_secret", "secret", "Client secret", "its secret", variable="CLIENT_SECRET"
            ),
            Question(
                "redirect_uri",
                "url",
                "One of its redirect URIs",
                "as registered",
                "https://app.example/callback",
            ),
            Question("username", "text", "User name of its owner", "signs in, and grants"),
            Question(
                "password", "secret", "The owner's password", "the owner's", variable="PASSWORD"
            ),
        ),
        only_with="authorization",
    ),
    TargetSection(
        "known",
        "People that the deployment is known to have",
        (
            Question("slug", "text", "Slug of the test account's profile", "of the test account"),
            Question(
                "emails",
                "list",
                "Its e-mail addresses, the primary one first, separated by commas",
                "the primary one first; or hashes = […]",
                ("primary@example.com", "second@example.com"),
            ),
            Question("other_slug", "text", "Slug of the other account's profile", "of the other"),
        ),
    ),
    TargetSection(
        "permit",
        "What verify may do beyond reading and editing",
        (
            Question(
                "uploads",
                "flag",
                "Upload avatars, and remove them again?",
                "avatars, which are removed again",
                only_with="writes",
                usual=False,
            ),
            Question(
                "tokens",
                "flag",
                "Have tokens issued to the application?",
                "have tokens issued",
                only_with="application",
                usual=False,
            ),
            Question(
                "max_tokens",
                "number",
                "The most tokens that a run may have issued",
                "the most that a run has issued",
                only_with="tokens",
                usual=100,
            ),
            Question(
                "exhaust_rate_limit",
                "flag",
                "Use up the hour's requests? Others at this address then wait for an hour",
                "use up an hour's requests",
                usual=False,
            ),
            Question(
                "clock",
                "flag",
                "Is it a mock of understudy, whose clock may be moved (and is restored)?",
                "move a mock's clock, and restore it",
                only_with="here",
                usual=False,
            ),
        ),
    ),
    TargetSection(
        "budget",
        "Requests to profile endpoints that an hour allows",
        (
            Question("anonymous", "number", "Without a token", "without a token", usual=100),
            Question("token", "number", "With a token", "with a token", usual=1000),
        ),
    ),
)
"""The tables, in the order of the file."""


class UnaskedKey(NamedTuple):
    """A key of the file that no question asks for; it is written as a comment.

    Attributes:
        key: Its name.
        about: The comment beside it.
        example: An example of its value.
    """

    key: str
    about: str
    example: Any = "…"


_APPLICATION: Final = (
    UnaskedKey("client_id", "as the dashboard shows it"),
    UnaskedKey("client_secret", "its secret", "env:OTHER_CLIENT_SECRET"),
    UnaskedKey("redirect_uri", "as registered", "https://other.example/callback"),
    UnaskedKey("name", "as the consent page shows it"),
    UnaskedKey("username", "user name of its owner"),
    UnaskedKey("password", "the owner's", "env:OTHER_PASSWORD"),
    UnaskedKey(
        "application_password", "the owner's, for two-step sign-in", "env:OTHER_APP_PASSWORD"
    ),
    UnaskedKey("approve", "query parameter that approves, at a test deployment", "approve=mia"),
    UnaskedKey("deny", "query parameter that denies", "deny=1"),
)

UNASKED: Final[Mapping[str, tuple[UnaskedKey, ...]]] = {
    "": (
        UnaskedKey(
            "is_mock",
            "true: assumed and inferred rules give findings too, as for the mock",
            example=False,
        ),
        UnaskedKey("accept", "rules whose breach is a note here", ()),
        UnaskedKey("accept_as_stated", "inferred rules whose breach is a finding here", ()),
        UnaskedKey("facts", "what `understudy learn` wrote of the deployment", "facts.yaml"),
        UnaskedKey("state_model", "corrects what is inferred of another service", "model.yaml"),
        UnaskedKey("overlays", "Overlay files that change the document", ("overlay.yaml",)),
        UnaskedKey("vocabulary", "words for scopes, QR types, headers, upload field", "words.yaml"),
        UnaskedKey("ledger", "counts the hour's requests across runs", "target.ledger"),
    ),
    "credentials": (
        UnaskedKey("auth_only_token", "with the scope auth alone", "env:AUTH_ONLY_TOKEN"),
        UnaskedKey("no_auth_token", "with every scope but auth", "env:NO_AUTH_TOKEN"),
        UnaskedKey("expired_token", "was valid and has expired", "env:EXPIRED_TOKEN"),
        UnaskedKey("private_access_token", "of the private profile", "env:PRIVATE_TOKEN"),
        UnaskedKey("disabled_access_token", "of a disabled profile", "env:DISABLED_TOKEN"),
        UnaskedKey("admin_token", "of a mock on another machine", "env:UNDERSTUDY_ADMIN_TOKEN"),
    ),
    "application": _APPLICATION[3:4] + _APPLICATION[6:],
    "known": (
        UnaskedKey("hashes", "SHA-256 hashes in place of emails", ("0" * 64,)),
        UnaskedKey("other_emails", "of the other account", ("other@example.com",)),
        UnaskedKey("other_hashes", "SHA-256 hashes in place of other_emails", ("0" * 64,)),
        UnaskedKey("people", "further public profiles", ("nora", "greta")),
        UnaskedKey("private_slug", "of a private profile"),
        UnaskedKey("disabled_slug", "of a disabled profile"),
        UnaskedKey("hidden_contact_slug", "of one whose contact details are not public"),
    ),
    "other_application": _APPLICATION,
    "two_step": _APPLICATION,
}
"""Keys without a question, by table; those of applications are alike."""


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

"""What was found: a rule that does not hold, and the fewest requests that show it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from understudy.contract.exchange import Exchange, Request, masked
from understudy.contract.judgement import Verdict
from understudy.document.rules import Rule

DOCUMENT: Final = Rule(
    id="document",
    statement="Every answer is one that the OpenAPI document allows.",
    section="Versioning",
    status="stated",
    held_by="document",
)
"""Not of the catalogue: what the document says beyond the rules."""

ANSWERS: Final = Rule(
    id="answers",
    statement="Every request is answered, and none by a server's failure.",
    section="Errors",
    status="stated",
    held_by="document",
)
"""Not of the catalogue either: a connection that ends, an answer 500."""

GENERATED: Final = Rule(
    id="generated",
    statement="What the document allows is taken, and what it rules out is refused.",
    section="Versioning",
    status="stated",
    held_by="document",
)
"""Nor this: what Schemathesis's own checks find between several answers."""

BODY_SHOWN = 2000
_QUIET: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "host", "user-agent"}
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that does not hold.

    Attributes:
        rule: Which.
        expected: What it asks for.
        came: What was found.
        steps: The exchanges that show it, the telling one last.
        is_note: Whether it is an assumption of ours that another deployment does not share.
        count: How often it was seen.
    """

    rule: Rule
    expected: str
    came: str
    steps: tuple[Exchange, ...]
    is_note: bool = False
    count: int = 1

    @property
    def exchange(self) -> Exchange:
        """The telling exchange."""
        return self.steps[-1]

    @property
    def summary(self) -> str:
        """One line."""
        request = self.exchange.request
        where = self.exchange.operation or f"{request.method} {self.exchange.path}"
        return (
            f"{where} as {self.exchange.identity.name}: expected {self.expected}; came {self.came}"
        )

    @property
    def fingerprint(self) -> str:
        """What is the same for the same finding in another run; a baseline keeps it."""
        exchange = self.exchange
        text = f"{self.rule.id}\n{exchange.operation}\n{exchange.identity.kind}\n{exchange.status}"
        return sha256(text.encode()).hexdigest()[:16]


def key_of(rule: str, exchange: Exchange, verdict: Verdict) -> tuple[object, ...]:
    """Returns what two sightings of one finding have in common."""
    return (
        rule,
        exchange.operation,
        exchange.identity.kind,
        exchange.status,
        verdict.expected[:60],
    )


def steps_of(exchange: Exchange, evidence: Iterable[Exchange]) -> tuple[Exchange, ...]:
    """Returns the fewest exchanges that show a finding, in order."""
    earlier = {before.number: before for before in evidence if before.number != exchange.number}
    return (*(earlier[number] for number in sorted(earlier)), exchange)


def curl(request: Request, secrets: Mapping[str, str]) -> str:
    """Returns a command that sends a request again; secrets stand as shell variables."""

    def quoted(text: str) -> str:
        return _quoted(masked(text, secrets), secrets)

    parts = ["curl -i"]
    if request.method != "GET":
        parts.append(f"-X {request.method}")
    parts.append(quoted(request.url))
    for name, header in request.headers:
        if name not in _QUIET:
            parts.append(f"-H {quoted(f'{name}: {masked(header, secrets)}')}")
    body = _text(request.body)
    if body is None or len(body) > BODY_SHOWN:
        parts.append("--data-binary @body.bin")
    elif body:
        parts.append(f"--data-raw {quoted(body)}")
    return " ".join(parts)


def snippet(steps: Iterable[Exchange], secrets: Mapping[str, str]) -> str:
    """Returns a Python program that sends the requests again; secrets come from the environment."""
    lines = ["import os", "", "import httpx", ""]
    for exchange in steps:
        request = exchange.request
        arguments = [repr(request.method), _expanded(masked(request.url, secrets))]
        headers = {n: masked(t, secrets) for n, t in request.headers if n not in _QUIET}
        if headers:
            pairs = ", ".join(f"{name!r}: {_expanded(text)}" for name, text in headers.items())
            arguments.append(f"headers={{{pairs}}}")
        if request.body:
            arguments.append(f"content={_content(request.body, secrets)}")
        lines.append(f"answer = httpx.request({', '.join(arguments)})")
        lines.append("print(answer.status_code, answer.text[:500])")
    return "\n".join(lines)


def _content(body: bytes, secrets: Mapping[str, str]) -> str:
    text = _text(body)
    if text is not None and len(text) <= BODY_SHOWN:
        return _expanded(masked(text, secrets))
    return repr(body) if len(body) <= BODY_SHOWN else "open('body.bin', 'rb').read()"


def shown(exchange: Exchange, secrets: Mapping[str, str]) -> str:
    """Returns an exchange as a person reads it, secrets masked."""
    request, answer = exchange.request, exchange.answer
    lines = [f"{request.method} {masked(request.url, secrets)}"]
    lines += [f"{n}: {masked(t, secrets)}" for n, t in request.headers if n not in _QUIET]
    lines += ["", *_body_lines(request.body, secrets), f"HTTP {answer.status}"]
    lines += [f"{name}: {masked(text, secrets)}" for name, text in answer.headers]
    lines += ["", *_body_lines(answer.body, secrets)]
    return "\n".join(lines)


def _body_lines(body: bytes, secrets: Mapping[str, str]) -> list[str]:
    if not body:
        return []
    text = _text(body)
    return [masked(text[:BODY_SHOWN], secrets) if text is not None else f"({len(body)} bytes)", ""]


def _text(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _quoted(text: str, secrets: Mapping[str, str]) -> str:
    # in double quotes, so that the shell reads $OWNER_TOKEN, and nothing else
    names = "|".join(map(re.escape, secrets.values())) or "(?!)"
    escaped = re.sub(r'["\\`]', r"\\\g<0>", text)
    return '"' + re.sub(rf"\$(?!(?:{names})\b)", r"\$", escaped) + '"'


def _expanded(text: str) -> str:
    return f"os.path.expandvars({text!r})" if "$" in text else repr(text)

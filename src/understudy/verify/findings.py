"""What was found: a rule that does not hold, and the fewest requests that show it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from understudy.deployments.exchange import Exchange, masked
from understudy.interface.rules import Rule
from understudy.verify.checks import CheckResult

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
QUIET: Final = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "host", "user-agent"),
        "x-schemathesis-testcaseid",
    }
)
"""Headers that mean nothing to a finding."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that does not hold.

    Attributes:
        rule: Which.
        expected: What it asks for.
        actual: What was found.
        steps: The exchanges that show it, the telling one last.
        is_note: Whether it is an assumption of ours that another deployment does not share.
        count: How often it was seen.
    """

    rule: Rule
    expected: str
    actual: str
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
        return f"{where} as {self.exchange.identity.name}: expected {self.expected}; came {self.actual}"

    @property
    def fingerprint(self) -> str:
        """What is the same for the same finding in another run; a baseline keeps it."""
        exchange = self.exchange
        text = f"{self.rule.id}\n{exchange.operation}\n{exchange.identity.kind}\n{exchange.status}"
        return sha256(text.encode()).hexdigest()[:16]


def key_of(rule: str, exchange: Exchange, verdict: CheckResult) -> tuple[object, ...]:
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


def shown(exchange: Exchange, secrets: Mapping[str, str]) -> str:
    """Returns an exchange as a person reads it, secrets masked."""
    request, answer = exchange.request, exchange.response
    lines = [f"{request.method} {masked(request.url, secrets)}"]
    lines += [f"{n}: {masked(t, secrets)}" for n, t in request.headers if n not in QUIET]
    lines += ["", *_body_lines(request.body, secrets), f"HTTP {answer.status}"]
    lines += [f"{name}: {masked(text, secrets)}" for name, text in answer.headers]
    lines += ["", *_body_lines(answer.body, secrets)]
    return "\n".join(lines)


def _body_lines(body: bytes, secrets: Mapping[str, str]) -> list[str]:
    if not body:
        return []
    text = text_of(body)
    return [masked(text[:BODY_SHOWN], secrets) if text is not None else f"({len(body)} bytes)", ""]


def text_of(body: bytes) -> str | None:
    """Returns a body as text, or None where it is none."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None

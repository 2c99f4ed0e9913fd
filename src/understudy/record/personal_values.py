"""Finds the personal values in exchanges, and replaces them by pseudonyms in reports.

A recording keeps only declared values. A report must also show undeclared ones, so here everything is
kept except personal values, which are replaced wherever a text repeats them.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote, quote_plus, urlsplit

from msgspec import structs

from understudy.cases.model import Case
from understudy.exchange.masking import SECRET_NAMES
from understudy.exchange.messages import LARGEST_REPORTED, Exchange, Request, Response
from understudy.interface.facts import Facts
from understudy.interface.operations import ME, PROFILES, QR_CODE
from understudy.openapi.pointers import objects_in
from understudy.record.allow_list import CODES, KINDS
from understudy.record.pseudonyms import Pseudonyms, drawn, form_of, last_segment
from understudy.verify.clock import machine_time
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Event, Exchanged, Finding, Outcome
from understudy.verify.gateway import BOOKKEEPING
from understudy.verify.shapes import bundled
from understudy.verify.target import Target, email_hash

SHORTEST: Final = 2
"""Least number of characters of a value that can identify a person."""

LONGEST_CODE: Final = 3
"""Longest language code; codes are shared by many people, and may be English words, so they stay."""

_OF_PEOPLE: Final = frozenset({*ME, *PROFILES})
_IMPERSONAL: Final = frozenset({*CODES, "error"})
"""Members whose values are words of the deployment, not personal ones."""

_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]?[\d:.,Z+-]*", re.ASCII)
"""An instant; the time of an avatar's last change is not personal, and is kept."""


@dataclass
class PersonalValues:
    """The personal values found so far, each with its pseudonym.

    Attributes:
        pseudonyms: Makes the pseudonyms.
        words: Words of the contract, which are never replaced.
        sites: URLs of the deployments; only the last path segment of a URL there is personal.
    """

    pseudonyms: Pseudonyms
    words: Collection[str] = ()
    sites: tuple[str, ...] = ()
    _replaced: dict[str, str] = field(default_factory=dict)
    _sent: set[str] = field(default_factory=set)
    _exchanges: dict[int, tuple[Exchange, Exchange]] = field(default_factory=dict)

    def know(self, target: Target) -> None:
        """Adds the values of a target file; only its e-mail addresses get pseudonyms.

        Slugs, hashes and secrets are kept, as the commands in reports need them.
        """
        known = target.known
        named = (known.slug, known.other_slug, known.private_slug, known.disabled_slug)
        slugs = filter(None, (*named, known.hidden_contact_slug, *known.people))
        for kept in (*target.secrets(), *slugs, *known.own_hashes, *known.others_hashes):
            self._add_pseudonym(kept, kept)
        for email in (*known.emails, *known.other_emails):
            self._add_pseudonym(email, self.pseudonyms.email(email))

    def read(self, exchanges: Iterable[Exchange]) -> None:
        """Adds personal values of responses, without those that requests of the run have sent."""
        for exchange in exchanges:
            if exchange.operation not in _OF_PEOPLE:
                continue
            if exchange.source not in BOOKKEEPING:
                sent = (text for _, text in _texts("", exchange.request.json))
                self._sent |= {text for text in sent if text not in self._replaced}
            for name, text in _texts("", exchange.body):
                if text not in self._sent:
                    self._add(name, text)

    def listen(self, event: Event) -> None:
        """Adds the personal values of an exchange when a run reports it."""
        if isinstance(event, Exchanged):
            self.read((event.exchange,))

    def _add(self, name: str, text: str) -> None:
        own = name.rpartition(".")[2]
        is_language = name == "languages.code" and len(text) > LONGEST_CODE
        if text in self.words or (own in SECRET_NAMES | _IMPERSONAL and not is_language):
            return
        if own == "updated_date" and _INSTANT.fullmatch(text):
            return
        if text.startswith(self.sites):
            segment = last_segment(text)
            named = self.pseudonyms.slug if own == "profile_url" else self.pseudonyms.identifier
            self._add_pseudonym(segment, named(segment))
            return
        replaced = KINDS.get(name) or KINDS.get(own, Pseudonyms.text)
        self._add_pseudonym(text, replaced(self.pseudonyms, text))
        if "@" in text:
            self._add_pseudonym(email_hash(text), self.pseudonyms.hash(email_hash(text)))

    def _add_pseudonym(self, value: str, pseudonym: str) -> None:
        """Adds a value with its pseudonym, in every encoding: JSON, URL, shell."""
        if len(value) < SHORTEST or value in self._replaced:
            return
        self.__dict__.pop("_pattern", None)
        self._exchanges.clear()
        spellings = (
            lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
            lambda text: json.dumps(text)[1:-1],
            lambda text: quote(text, safe=""),
            quote,
            quote_plus,
            lambda text: text.replace("'", "'\\''"),
        )
        for spell in spellings:
            self._replaced.setdefault(spell(value), spell(pseudonym))
        self._replaced[value] = pseudonym

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Matches all values as whole words, the longest first."""
        listed = sorted(self._replaced, key=len, reverse=True)
        words = "|".join(re.escape(text) for text in listed if text[0].isalnum())
        others = "|".join(re.escape(text) for text in listed if not text[0].isalnum())
        # grouped, so that re rejects places inside words before it tries the many alternatives
        begun = [rf"(?<!\w)(?:{words})"] * bool(words) + [others] * bool(others)
        return re.compile(rf"(?:{'|'.join(begun) or '(?!)'})(?!\w)")

    def hidden(self, text: str) -> str:
        """Returns a text with pseudonyms in place of personal values."""
        return self._pattern.sub(lambda match: self._replaced[match[0]], text)

    def hidden_exchange(self, exchange: Exchange) -> Exchange:
        """Returns an exchange with pseudonyms in place of personal values.

        Cached, since several findings share an exchange, and bodies may be long.
        """
        # the cache holds the exchange too, so that its id cannot be reused
        if id(exchange) not in self._exchanges:
            self._exchanges[id(exchange)] = exchange, self._made_hidden(exchange)
        return self._exchanges[id(exchange)][1]

    def _made_hidden(self, exchange: Exchange) -> Exchange:
        return replace(
            exchange,
            request=self._hidden_request(exchange.request, exchange),
            response=self._hidden_response(exchange.response, exchange),
            path=self.hidden(exchange.path),
            values=tuple(map(self.hidden, exchange.values)),
            wire=exchange.wire
            and (
                self._hidden_request(exchange.wire[0], exchange),
                self._hidden_response(exchange.wire[1], exchange),
            ),
        )

    def _hidden_request(self, request: Request, exchange: Exchange) -> Request:
        try:
            body = self.hidden(request.body.decode()).encode()
        except UnicodeDecodeError:  # a probe's upload, or a person's own picture being restored
            body = b"" if exchange.source in BOOKKEEPING else request.body
        return Request(
            request.method, self.hidden(request.url), self._hidden_fields(request.headers), body
        )

    def _hidden_response(self, response: Response, exchange: Exchange) -> Response:
        try:
            text = response.body.decode()
            is_long = len(text) > LARGEST_REPORTED  # no report shows it, and hiding takes seconds
            body = f"({len(text)} characters)".encode() if is_long else self.hidden(text).encode()
        except UnicodeDecodeError:
            body = response.body if exchange.operation == QR_CODE else self._picture(response.body)
        return Response(response.status, self._hidden_fields(response.headers), body)

    def _hidden_fields(self, fields: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple((name, self.hidden(text)) for name, text in fields)

    def _picture(self, content: bytes) -> bytes:
        """Returns a drawn picture of the same form in place of a picture; empty for other bytes."""
        form = form_of(content)
        digest = self.pseudonyms.digest("picture", content.decode("latin-1"))
        return b"" if form is None else drawn(form, digest)

    def hidden_case(self, case: Case) -> Case:
        """Returns a case with pseudonyms in its outcome; its request has no personal values."""
        return replace(case, outcome=self.hidden(case.outcome))

    def hidden_facts(self, facts: Facts) -> Facts:
        """Returns facts with pseudonyms in the texts on actual and unsettled behaviour."""
        return structs.replace(
            facts,
            facts=tuple(structs.replace(it, actual=self.hidden(it.actual)) for it in facts.facts),
            unsettled=tuple(structs.replace(it, why=self.hidden(it.why)) for it in facts.unsettled),
        )

    def hidden_outcome(self, outcome: Outcome) -> Outcome:
        """Returns the outcome of a run with pseudonyms in place of personal values."""
        self.read(outcome.exchanges)

        def hidden(finding: Finding) -> Finding:
            return replace(
                finding,
                expected=self.hidden(finding.expected),
                actual=self.hidden(finding.actual),
                steps=tuple(map(self.hidden_exchange, finding.steps)),
            )

        def lines(texts: Iterable[str]) -> tuple[str, ...]:
            return tuple(map(self.hidden, texts))

        return replace(
            outcome,
            rules=tuple(replace(it, reason=self.hidden(it.reason)) for it in outcome.rules),
            findings=tuple(map(hidden, outcome.findings)),
            notes=tuple(map(hidden, outcome.notes)),
            internal_errors=lines(outcome.internal_errors),
            not_restored=lines(outcome.not_restored),
            remaining=lines(outcome.remaining),
            differences=lines(outcome.differences),
            exchanges=tuple(map(self.hidden_exchange, outcome.exchanges)),
        )

    def hidden_texts(self, value: Any, kept: Collection[str] = ()) -> Any:
        """Returns a JSON value with pseudonyms in its texts, except in the members ``kept``."""
        if isinstance(value, str):
            return self.hidden(value)
        if isinstance(value, list):
            return [self.hidden_texts(item, kept) for item in value]
        if isinstance(value, Mapping):
            return {
                name: member if name in kept else self.hidden_texts(member, kept)
                for name, member in value.items()
            }
        return value


def personal_values(key: bytes, deployments: Sequence[Deployment]) -> PersonalValues:
    """Returns an object that hides the personal values of the deployments of a run.

    Args:
        key: The key of the pseudonyms, such as that of the project's recordings.
        deployments: The deployments; the applications of the first one keep their names.
    """
    targets = [each.target for each in deployments]
    documents = [each.document or bundled("service.yaml") for each in deployments]
    personal = PersonalValues(
        Pseudonyms(key, targets[0], machine_time()),
        frozenset(word for document in documents for word in _words_of(document.raw)),
        tuple(
            f"{urlsplit(each.base_url).scheme}://{urlsplit(each.base_url).netloc}/"
            for each in targets
        ),
    )
    for target in targets:
        personal.know(target)
    return personal


def _words_of(document: Any) -> Iterator[str]:
    """Yields all member names of a document, and the values of its enums."""
    for value in objects_in(document):
        yield from value
        yield from (it for it in value.get("enum") or () if isinstance(it, str))


def _texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yields name and text of each string of a JSON value; names are ``parent.member``."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(name, item)
    elif isinstance(value, Mapping):
        above = name.rpartition(".")[2]
        for key, member in value.items():
            yield from _texts(f"{above}.{key}", member)

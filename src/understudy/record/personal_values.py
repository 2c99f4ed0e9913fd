"""Finds what exchanges show of people, and puts the pseudonyms of recordings in its place.

A recording keeps only what a schema declares. A report has to show what a schema does not, so here
everything stays but the values of people, wherever a text repeats them.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote, quote_plus

from understudy.exchange.masking import SECRET_NAMES
from understudy.exchange.messages import Exchange, Request, Response
from understudy.interface.operations import ME, PROFILES
from understudy.record.allow_list import CODES, KINDS
from understudy.record.pseudonyms import Pseudonyms, last_segment
from understudy.verify.gateway import BOOKKEEPING
from understudy.verify.target import Target, email_hash

SHORTEST: Final = 2
"""Characters of a value that can tell somebody from others."""

LONGEST_CODE: Final = 3
"""Letters of a language's code, which is many people's and a word of English now and then."""

_OF_PEOPLE: Final = frozenset({*ME, *PROFILES})
_IMPERSONAL: Final = frozenset({*CODES, "error", "rating", "updated_date"})
"""Members whose values are the deployment's own words."""


@dataclass
class PersonalValues:
    """The values of people, each with its pseudonym.

    Attributes:
        pseudonyms: Makes the pseudonyms.
        words: Words of the contract, which stay wherever they are.
        sites: Addresses of deployments; of a URL there only what names a person is one's.
    """

    pseudonyms: Pseudonyms
    words: Collection[str] = ()
    sites: tuple[str, ...] = ()
    _replaced: dict[str, str] = field(default_factory=dict)

    def know(self, target: Target) -> None:
        """Takes what a target names: slugs, hashes and secrets stay, as commands are sent with them."""
        known = target.known
        named = (known.slug, known.other_slug, known.private_slug, known.disabled_slug)
        slugs = filter(None, (*named, known.hidden_contact_slug, *known.people))
        for kept in (*target.secrets(), *slugs, *known.own_hashes, *known.others_hashes):
            self._put(kept, kept)
        for email in (*known.emails, *known.other_emails):
            self._put(email, self.pseudonyms.email(email))

    def read(self, exchanges: Iterable[Exchange]) -> None:
        """Takes what responses show of people that no request of the run has set before."""
        sent: set[str] = set()
        for exchange in exchanges:
            if exchange.operation not in _OF_PEOPLE:
                continue
            if exchange.source not in BOOKKEEPING:
                sent |= {text for _, text in _texts("", exchange.request.json)} - set(
                    self._replaced
                )
            for name, text in _texts("", exchange.body):
                if text not in sent:
                    self._take(name, text)

    def _take(self, name: str, text: str) -> None:
        own = name.rpartition(".")[2]
        is_language = name == "languages.code" and len(text) > LONGEST_CODE
        if text in self.words or (own in SECRET_NAMES | _IMPERSONAL and not is_language):
            return
        if text.startswith(self.sites):
            segment = last_segment(text)
            named = self.pseudonyms.slug if own == "profile_url" else self.pseudonyms.identifier
            self._put(segment, named(segment))
            return
        replaced = KINDS.get(name) or KINDS.get(own, Pseudonyms.text)
        self._put(text, replaced(self.pseudonyms, text))
        if "@" in text:
            self._put(email_hash(text), self.pseudonyms.hash(email_hash(text)))

    def _put(self, value: str, pseudonym: str) -> None:
        """Keeps a pseudonym for every spelling of a value: in JSON, in an address, in a shell."""
        if len(value) < SHORTEST or value in self._replaced:
            return
        self.__dict__.pop("_pattern", None)
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
        """Matches every value where no word goes on, the longest first."""
        listed = sorted(self._replaced, key=len, reverse=True)
        texts = (rf"(?<!\w){re.escape(it)}" if it[0].isalnum() else re.escape(it) for it in listed)
        ended = (f"{text}(?!\\w)" for text in texts)
        return re.compile("|".join(ended) or r"(?!)")

    def hidden(self, text: str) -> str:
        """Returns a text with pseudonyms in place of people's values."""
        return self._pattern.sub(lambda match: self._replaced[match[0]], text)

    def hidden_exchange(self, exchange: Exchange) -> Exchange:
        """Returns an exchange with pseudonyms in place of people's values."""
        request, response = exchange.request, exchange.response
        return replace(
            exchange,
            request=Request(
                request.method,
                self.hidden(request.url),
                tuple((name, self.hidden(text)) for name, text in request.headers),
                self._hidden_body(request.body),
            ),
            response=Response(
                response.status,
                tuple((name, self.hidden(text)) for name, text in response.headers),
                self._hidden_body(response.body),
            ),
            path=self.hidden(exchange.path),
            values=tuple(map(self.hidden, exchange.values)),
        )

    def _hidden_body(self, body: bytes) -> bytes:
        try:
            return self.hidden(body.decode()).encode()
        except UnicodeDecodeError:
            return body  # reports show no bytes

    def hidden_texts(self, value: Any, kept: Collection[str] = ()) -> Any:
        """Returns a JSON value with pseudonyms in its texts, save in members that are kept."""
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


def words_of(value: Any) -> Iterator[str]:
    """Yields the names of members in a document, and the values that its enumerations list."""
    if isinstance(value, Mapping):
        yield from value
        listed = value.get("enum")
        yield from (it for it in listed or () if isinstance(it, str))
        for member in value.values():
            yield from words_of(member)
    elif isinstance(value, list):
        for item in value:
            yield from words_of(item)


def _texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yields each text of a JSON value, with the member that it is of, behind the one above it."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(name, item)
    elif isinstance(value, Mapping):
        above = name.rpartition(".")[2]
        for key, member in value.items():
            yield from _texts(f"{above}.{key}", member)

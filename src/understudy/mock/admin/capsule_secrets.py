"""Replaces the secrets of a capsule by references, and references by secrets.

A capsule is attached to bug reports, so it contains no secret. A reference names a place in the
fixtures, or the number of an identifier that the mock generates from the world's seed, so that a
request of the capsule has the same effect on every mock with the same fixtures. Any other secret,
such as a real token that was sent by mistake, is replaced by an invented one, the same in all places.
"""

import base64
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import islice
from typing import Final
from urllib.parse import quote, unquote_plus

import msgspec
import orjson

from understudy.exchange.masking import (
    SECRET_HEADERS,
    SECRET_NAMES,
    SECRET_NAMES_OF_RESOURCES,
    is_secret_header,
)
from understudy.mock.server.faults import Fault
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.security import basic_pair
from understudy.mock.server.worlds import COOKIE as WORLD_COOKIE
from understudy.mock.server.worlds import Baseline, Identifiers, World
from understudy.mock.store.applications import APPLICATIONS, CODES, CONSENTS, SESSIONS, SPENT_CODES
from understudy.mock.store.applications import COOKIE as SESSION_COOKIE
from understudy.mock.store.people import PEOPLE, default_password
from understudy.mock.store.tokens import KEY_ALPHABET, TOKEN_ALPHABET, TOKENS
from understudy.openapi.pointers import objects_in

SHORTEST: Final = 6
"""Least length of a secret that is replaced inside of texts; a shorter one could be a common word."""

MOST_ISSUED: Final = 20_000
"""Most generated identifiers that a secret is compared with; earlier ones become invented."""

MOST_PEOPLE: Final = 5_000
"""Most people of the fixtures whose passwords become references; others become invented."""

_ALPHABETS: Final = {"hex": "0123456789abcdef", "key": KEY_ALPHABET, "token": TOKEN_ALPHABET}
_REFERENCE: Final = re.compile(r"\{\{understudy ([^{}|]+)(\|quoted)?\}\}")
_PAIR: Final = re.compile(r"(?:^|[?&#])([^?&#=\s]+)=([^&#\s]*)")
_COOKIE: Final = re.compile(rf"(?:^|;\s*){SESSION_COOKIE}=([^;]+)")
_COOKIE_PAIR: Final = re.compile(r"([^=;\s]+)=[^;]*")
_KEYED_BY_SECRETS: Final = frozenset(
    collection.name for collection in (TOKENS, CODES, SPENT_CODES, SESSIONS, CONSENTS)
)
_NOT_SECRET: Final = frozenset({"code_verifier"})
"""A PKCE verifier is worthless once its code is exchanged."""

_WHOLE: Final = frozenset({"equalTo", "contains"})
"""Comparisons whose text can be a secret; patterns are not sent as they are."""


class SecretReferences:
    """The secrets of one world and its journal, each with the reference that replaces it.

    Args:
        world: The world in the state of the capsule.
        contexts: The requests of the capsule.
        issued: Number of identifiers that were generated up to the last request.
    """

    def __init__(self, world: World, contexts: Sequence[RequestContext], issued: int) -> None:
        secrets = dict.fromkeys(s for s in _secrets(world, contexts) if s)
        named = {text: name for name, text in _fixture_secrets(world.baseline)}
        others = [s for s in secrets if s not in named]
        drawn = _issued_references(world, issued, others)
        self._references: dict[str, str] = {}
        for number, secret in enumerate(secrets, start=1):
            name = named.get(secret) or drawn.get(secret) or f"invented {number}"
            self._references[secret] = f"{{{{understudy {name}}}}}"
        variants: dict[str, str] = {}
        for secret, reference in self._references.items():
            if len(secret) >= SHORTEST:
                variants[secret] = reference
                variants.setdefault(quote(secret, safe=""), reference[:-2] + "|quoted}}")
        self._variants = variants
        longest = sorted(variants, key=len, reverse=True)  # a secret may be the start of another
        self._pattern = re.compile("|".join(map(re.escape, longest))) if longest else None

    def hidden(self, text: str) -> str:
        """Returns a text with references in place of secrets; text like a reference is escaped."""
        whole = self._references.get(text)
        if whole is not None:
            return whole
        text = text.replace("{{understudy ", "{{understudy braces}}understudy ")
        if self._pattern is not None:
            text = self._pattern.sub(lambda match: self._variants[match[0]], text)
        return _PAIR.sub(self._hidden_pair, text)

    def hidden_field(self, name: str, text: str, declared: Container[str] = ()) -> str:
        """Returns the value of a header field with references, Basic credentials in decoded form.

        Args:
            name: Name of the field.
            text: Value of the field.
            declared: Names of the cookies that the operation reads. The values of other cookies,
                which browsers also send for pages of other ports, are not kept.
        """
        if name.lower() == "cookie":
            kept = {SESSION_COOKIE, WORLD_COOKIE}
            text = _COOKIE_PAIR.sub(
                lambda it: it[0] if it[1] in kept or it[1] in declared else f"{it[1]}=invented",
                text,
            )
        if name.lower() == "authorization" and text[:6].lower() == "basic ":
            pair = basic_pair(text[6:])
            if pair is not None:
                user, password = pair
                return f"Basic-parts {user}:{self.hidden(password)}"
        return self.hidden(text)

    def _hidden_pair(self, pair: re.Match[str]) -> str:
        reference = self._references.get(unquote_plus(pair[2]))
        if reference is None or unquote_plus(pair[1]).lower() not in SECRET_NAMES:
            return pair[0]
        return pair[0].removesuffix(pair[2]) + reference[:-2] + "|quoted}}"


class SecretResolver:
    """Replaces references by the secrets of the mock that opens a capsule.

    Args:
        baseline: The fixtures.
        seed: The seed of the capsule's world.
        mark: Prefix of the world's tokens.
    """

    def __init__(self, baseline: Baseline, seed: int, mark: str) -> None:
        self._baseline = baseline
        self._seed = seed
        self._mark = mark
        self._fixture_secrets: Mapping[str, str] | None = None

    def revealed(self, text: str) -> str:
        """Returns a text with secrets in place of references.

        Raises:
            ValueError: A reference has no target.
        """
        return _REFERENCE.sub(self._resolved, text) if "{{understudy " in text else text

    def revealed_field(self, text: str) -> str:
        """Returns the value of a header field with secrets in place of references.

        Raises:
            ValueError: A reference has no target.
        """
        revealed = self.revealed(text)
        if not revealed.startswith("Basic-parts "):
            return revealed
        encoded = base64.b64encode(revealed.removeprefix("Basic-parts ").encode()).decode()
        return f"Basic {encoded}"

    def _resolved(self, reference: re.Match[str]) -> str:
        secret = self._secret(reference[1])
        return quote(secret, safe="") if reference[2] else secret

    def _secret(self, name: str) -> str:
        kind, _, rest = name.partition(" ")
        if name == "braces":  # the escape of a text that looks like a reference
            return "{{"
        if kind == "invented":
            return f"invented-secret-{rest}"
        if kind == "issued":
            number, alphabet, length, before = [*rest.split(" "), ""][:4]
            drawn = _drawn(self._seed, int(number), alphabet, min(int(length), 100))
            return self._mark + before + drawn
        if self._fixture_secrets is None:
            self._fixture_secrets = dict(_fixture_secrets(self._baseline))
        if name not in self._fixture_secrets:
            msg = f"the fixtures have no {name}"
            raise ValueError(msg)
        return self._fixture_secrets[name]


def _fixture_secrets(baseline: Baseline) -> Iterator[tuple[str, str]]:
    """Yields the secrets of the fixtures, each with its name in references."""
    for number, token in enumerate(baseline.get(TOKENS.name, {}), start=1):
        yield f"token {number}", token
    for name, application in baseline.get(APPLICATIONS.name, {}).items():
        yield f"client_secret {name}", application.client_secret
    for slug, person in islice(baseline.get(PEOPLE.name, {}).items(), MOST_PEOPLE):
        yield f"password {slug}", person.password
        if person.application_password is not None:
            yield f"application_password {slug}", person.application_password


def _issued_references(world: World, count: int, secrets: Iterable[str]) -> dict[str, str]:
    """Returns references for the secrets that the world generated, with the identifier's number."""
    wanted: dict[tuple[str, int], dict[str, tuple[str, str]]] = {}
    for secret in secrets:
        bare = secret.removeprefix(world.mark)
        before = "key-" if bare.startswith("key-") else ""
        bare = bare.removeprefix(before)
        for name, letters in _ALPHABETS.items():
            if len(bare) >= SHORTEST and set(bare) <= set(letters):
                wanted.setdefault((name, len(bare)), {})[bare] = (secret, before)
    issued: dict[str, str] = {}
    for (name, length), texts in wanted.items():
        for number in range(count, max(0, count - MOST_ISSUED), -1):
            match = texts.get(_drawn(world.identifiers.seed, number, name, length))
            if match is not None:
                secret, before = match
                issued.setdefault(secret, f"issued {number} {name} {length} {before}".rstrip())
    return issued


def _drawn(seed: int, number: int, alphabet: str, length: int) -> str:
    """Returns the generated identifier of a number, by repeating its draw."""
    identifiers = Identifiers(seed, number - 1)
    if alphabet == "hex":
        return identifiers.hexadecimal(length)
    if alphabet not in _ALPHABETS:
        msg = f"there is no alphabet {alphabet}"
        raise ValueError(msg)
    return identifiers.text(length, _ALPHABETS[alphabet])


def _secrets(world: World, contexts: Sequence[RequestContext]) -> Iterator[str]:
    """Yields the secrets of requests, and those of the world that are not in its fixtures."""
    yield from (change.key for change in world.changes() if change.collection in _KEYED_BY_SECRETS)
    for session in world.added(SESSIONS):
        yield session.csrf
        yield from session.secrets.values()
    yield from (application.client_secret for application in world.added(APPLICATIONS))
    for person in world.added(PEOPLE):
        if person.password != default_password(person.slug):
            yield person.password
        yield person.application_password or ""
    for fault in world.faults.values():
        yield from _secrets_of_fault(fault)
    for context in contexts:
        yield from _secrets_of(context)


def _secrets_of_fault(fault: Fault) -> Iterator[str]:
    """Yields the secrets in the condition and the response of a fault or stub, patterns left out."""
    for members in objects_in(orjson.loads(msgspec.json.encode(fault))):
        for name, value in members.items():
            texts = value if isinstance(value, dict) else {"equalTo": value}
            for text in (it for key, it in texts.items() if key in _WHOLE and isinstance(it, str)):
                yield from _field_secrets(name.lower(), text)
                if name in SECRET_NAMES_OF_RESOURCES - SECRET_HEADERS - _NOT_SECRET:
                    yield text


def _secrets_of(context: RequestContext) -> Iterator[str]:
    for fields in (context.sent_headers, context.response_headers):
        for name, text in fields:
            lower = name.decode("latin-1").lower()
            yield from _field_secrets(lower, text.decode("latin-1"), context.key_names)
    names = context.secret_names - _NOT_SECRET
    yield from _pair_secrets(context.query.decode("latin-1"), names | context.key_names)
    for body in (context.body, context.response_body):
        yield from _body_secrets(body, names)


def _field_secrets(name: str, text: str, names: Container[str] = ()) -> Iterator[str]:
    if name in {"location", "referer"}:
        yield from _pair_secrets(text, SECRET_NAMES - _NOT_SECRET)
    elif "cookie" in name:
        yield from _COOKIE.findall(text)
    elif is_secret_header(name, names):
        pair = basic_pair(text[6:]) if text[:6].lower() == "basic " else None
        yield pair[1] if pair else text.partition(" ")[2].strip() or text


def _body_secrets(body: bytes, names: AbstractSet[str]) -> Iterator[str]:
    if body[:1] not in {b"{", b"["}:
        yield from _pair_secrets(body.decode("latin-1"), names)
        return
    with suppress(ValueError):
        for value in objects_in(orjson.loads(body)):
            # the code of an error is a word, not an authorization code
            known = names - {"code"} if "error" in value else names
            found = (text for name, text in value.items() if name in known)
            yield from (text for text in found if isinstance(text, str))


def _pair_secrets(text: str, names: AbstractSet[str]) -> Iterator[str]:
    for name, value in _PAIR.findall(text):
        if unquote_plus(name).strip().lower() in names:
            yield unquote_plus(value)

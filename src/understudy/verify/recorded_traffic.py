"""Judges recorded traffic (HAR 1.2) of a browser or a proxy by the same rules; sends nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

from understudy.cases.model import ENCODED
from understudy.errors import StartupError, unreadable
from understudy.exchange import har
from understudy.exchange.masking import unmasked
from understudy.exchange.messages import (
    ISSUED,
    Exchange,
    Headers,
    Identity,
    Request,
    Response,
    headers_of,
    issued_identity,
    media_type,
)
from understudy.interface.operations import LIST_AVATARS, ME, OWN_PROFILE, UPDATE_PROFILE, Routes
from understudy.openapi.loader import Document
from understudy.openapi.media_types import JSON, URLENCODED
from understudy.verify.clock import machine_time
from understudy.verify.credential_places import CredentialPlaces
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Outcome
from understudy.verify.history import History
from understudy.verify.interventions import roots
from understudy.verify.run import evaluated, evaluator_of, outcome_of, places_of, routes_of
from understudy.verify.shapes import bundled
from understudy.verify.target import Target, data_for_target

_SAVE_ONE = (
    "Save one in a browser's developer tools, with `understudy journal --har FILE` or with "
    "`--report har=FILE`."
)


def read_recording(
    path: Path, target: Target, document: Document, *, is_sent: bool = True
) -> list[Exchange]:
    """Reads the exchanges of an archive, with the target's secrets in place of their variables.

    Args:
        path: The HTTP archive.
        target: The target, with its secrets.
        document: The document, which says where credentials are.
        is_sent: False to read requests without a response too, as `understudy generate` writes them.

    Raises:
        StartupError: The file cannot be read, is not an archive, or holds no exchange with the target.
    """
    try:
        archive = path.read_bytes() if is_sent else _filled(path.read_bytes(), target)
        entries = orjson.loads(archive)["log"]["entries"]
        of = routes_of(target, document), places_of(document)
        exchanges = [_exchange(number, e, target, *of) for number, e in enumerate(entries, 1)]
    except OSError as error:
        raise StartupError(unreadable(f"--har {path}", error, _SAVE_ONE)) from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        missing = f", as it has no member {error}" if isinstance(error, KeyError) else ""
        msg = f"{path} is not an HTTP archive (HAR 1.2){missing}. {_SAVE_ONE}"
        raise StartupError(msg) from error
    read = [exchange for exchange in exchanges if exchange.response.status or not is_sent]
    if not read:
        msg = f"--har {path} holds no exchange. {_SAVE_ONE}"
        raise StartupError(msg)
    if all(each.site == "elsewhere" for each in read):
        others = sorted({urlsplit(each.request.url).netloc for each in read})
        msg = (
            f"--har {path} holds no exchange with this deployment ({target.base_url}); it has "
            f"{len(read)} with {', '.join(others[:3])}. Name the address that was recorded with "
            "--base-url or in --target."
        )
        raise StartupError(msg)
    return read


def _filled(archive: bytes, target: Target) -> bytes:
    """Returns an archive of ``understudy generate`` with the target's secrets for its variables."""
    for name, secret in data_for_target(target).secrets.items():
        for variable, text in ((name, secret), (f"{name}{ENCODED}", quote(secret, safe=""))):
            archive = archive.replace(b"{{%s}}" % variable.encode(), orjson.dumps(text)[1:-1])
    return archive


def _exchange(
    number: int, entry: dict[str, Any], target: Target, routes: Routes, places: CredentialPlaces
) -> Exchange:
    sent, received = entry["request"], entry["response"]
    secrets = target.secrets()

    def pairs(listed: list[dict[str, str]]) -> Headers:
        return headers_of((h["name"], unmasked(h["value"], secrets)) for h in listed)

    request = Request(
        sent["method"],
        unmasked(sent["url"], secrets, is_encoded=True),
        pairs(sent["headers"]),
        _content(sent.get("postData") or {}, secrets, pairs(sent["headers"])),
    )
    body = _content(received.get("content") or {}, secrets, ())
    response = Response(int(received["status"]), pairs(received["headers"]), body)
    if (kept := entry.get("_set_up")) is not None:
        response = _as_if_issued(kept["member"], f"{{{{{kept['variable']}}}}}")
    place = routes.find(request.method, request.url, request.headers)
    at = datetime.fromisoformat(entry["startedDateTime"])
    return Exchange(
        number=number,
        source="recorded",
        identity=_identity(
            entry, target.identify(places.token(request, routes.operation(place.operation)))
        ),
        request=request,
        response=response,
        at=at if at.tzinfo else at.replace(tzinfo=UTC),
        elapsed_ms=float(entry.get("time") or 0),
        **place._asdict(),
    )


def _as_if_issued(member: str, variable: str) -> Response:
    """Returns a response that issues a variable, for which a replay then has the issued value."""
    place = (("location", f"https://host/?{member}={variable}"), ("content-type", JSON))
    return Response(0, place, orjson.dumps({member: variable}))


def _identity(entry: dict[str, Any], identity: Identity) -> Identity:
    """Returns the identity of an entry; verify's own archives mark tokens issued during the run."""
    if identity.kind != "unknown" or entry.get("_identity") != ISSUED:
        return identity
    scopes = entry.get("_scopes")
    return issued_identity(None if scopes is None else frozenset(scopes))


def _content(holder: dict[str, Any], secrets: dict[str, str], headers: Headers) -> bytes:
    body = har.body(holder)
    is_form = media_type(headers) == URLENCODED
    try:
        return unmasked(body.decode(), secrets, is_encoded=is_form).encode()
    except UnicodeDecodeError:
        return body


# An app that signs in gets a new token each time. If each token were regarded as another account,
# two tokens of one person would look like two people who see each other's avatars.


class TokenAccounts:
    """Finds the accounts of unknown tokens, by the profiles and avatars in the responses to them.

    Args:
        target: The deployment; the accounts of its own tokens are known.
    """

    def __init__(self, target: Target) -> None:
        self._by_hash = dict.fromkeys(target.known.own_hashes, "own")
        self._by_hash |= dict.fromkeys(target.known.others_hashes, "other")
        self._by_token: dict[str, str] = {}

    def assigned(self, exchange: Exchange, history: History) -> Exchange:
        """Returns an exchange with the account to which its unknown token was seen to belong.

        Args:
            exchange: The exchange.
            history: The exchanges before it.
        """
        identity = exchange.identity
        if exchange.operation not in ME or identity.account is None:
            return exchange
        account = identity.account
        if identity.kind == "unknown":
            account = self._by_token.get(identity.name, account)
            if exchange.response.is_success:
                account = next(self._shown(exchange, history), account)
                self._by_token[identity.name] = account
            exchange = replace(exchange, identity=replace(identity, account=account))
        for hashed in _hashes(exchange):
            self._by_hash.setdefault(hashed, account)
        return exchange

    def _shown(self, exchange: Exchange, history: History) -> Iterator[str]:
        """Yields the accounts that a response to a token shows."""
        for hashed in _hashes(exchange):
            if hashed in self._by_hash:
                yield self._by_hash[hashed]
        listed = exchange.body if exchange.operation == LIST_AVATARS else ()
        for avatar in listed if isinstance(listed, list) else ():
            image_id = avatar.get("image_id") if isinstance(avatar, dict) else None
            owner = history.owner_of(image_id) if isinstance(image_id, str) else None
            if owner is not None:
                yield owner


def _hashes(exchange: Exchange) -> Iterator[str]:
    """Yields the hash in a successful response with the caller's own profile."""
    if exchange.operation in {OWN_PROFILE, UPDATE_PROFILE} and exchange.response.is_success:
        hashed = exchange.json_object.get("hash")
        if isinstance(hashed, str) and hashed:
            yield hashed


def judge_recorded(archive: Path, deployment: Deployment, rules: Sequence[str]) -> Outcome:
    """Judges recorded traffic.

    Args:
        archive: The HTTP archive.
        deployment: The deployment, with its URLs, credentials and document.
        rules: Ids of the rules to judge; every rule if none is named.

    Raises:
        StartupError: The archive cannot be read.
    """
    started = machine_time()
    target, document = deployment.target, deployment.document or bundled("service.yaml")
    evaluator = evaluator_of(target, document, rules)
    exchanges = tuple(read_recording(archive, target, document))
    wording = deployment.wording
    accounts = TokenAccounts(target)
    for recorded in exchanges:
        exchange = recorded if wording is None else wording.recorded(recorded)
        evaluated(evaluator, accounts.assigned(exchange, evaluator.history))
    outcomes = evaluator.outcomes({}, ())
    causes = roots(evaluator, evaluator.history.exchanges)
    return outcome_of(deployment, evaluator, exchanges, started, outcomes, roots=causes)

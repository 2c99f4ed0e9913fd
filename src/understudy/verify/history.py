"""The history of a run, by which checks judge relations between exchanges.

It takes plain values, so that recorded traffic is judged like exchanges just sent. Exchanges are
indexed by operation and returned newest first, so that a check over thousands of them stays cheap.
"""

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from typing import Any, Final

from understudy.exchange.messages import GRANTEE, Exchange
from understudy.interface.facts import Fact
from understudy.interface.operations import (
    AUTHORIZE,
    DELETE_AVATAR,
    LIST_AVATARS,
    PROFILES,
    RESOURCE,
    SET_AVATAR,
    TOKEN,
    TOKEN_INFO,
    UPDATE_AVATAR,
    UPLOAD_AVATAR,
    DeclaredInputs,
)
from understudy.verify.issued_values import created_items, mentions, values_in
from understudy.verify.target import Known, Target

MADE_UP = "understudy-made-up"
"""The prefix of identifiers that no profile has."""

LEFT_OPEN = "edge case that is left open"
"""The source of requests that the contract does not cover, such as one for another host: they may
have changed something, and are not evidence of anything else."""

AGAIN = "finding shown again"
"""The source of requests that repeat the steps of a finding, and are judged by its rule alone."""

NEAR = 60
"""Number of recent exchanges of an operation that checks compare with."""

REDIRECTS = frozenset({301, 302, 303, 307, 308})
WRITES = frozenset({"POST", "PATCH", "PUT", "DELETE"})

_BEFORE_ALL: Final = datetime.min.replace(tzinfo=UTC)


@dataclass
class History:
    """The exchanges before the one that is judged, in order.

    Attributes:
        target: The deployment, and what is known of it.
        exchanges: All exchanges.
        last_write: Number of the last exchange that may have changed a resource; issuing a token
            changes none.
        inputs: Inputs that the interface leaves open, as the document in force declares them.
        allows: Whether the deployment's own document allows a request; None without such a document.
        facts: Facts learned about the deployment, by rule.
        latest: The latest time of an exchange: of the last one, unless the clock was put back.
    """

    target: Target
    exchanges: list[Exchange] = field(default_factory=list)
    inputs: DeclaredInputs = field(default_factory=DeclaredInputs)
    allows: Callable[[Exchange], bool] | None = None
    facts: Mapping[str, Fact] = field(default_factory=dict)
    last_write: int = 0
    latest: datetime = _BEFORE_ALL
    _by_operation: dict[str, list[Exchange]] = field(default_factory=dict)
    _owners: dict[str, str] = field(default_factory=dict)
    _gone: set[str] = field(default_factory=set)
    _tokens: dict[str, Exchange] = field(default_factory=dict)
    _codes: dict[str, Exchange] = field(default_factory=dict)

    @property
    def known(self) -> Known:
        """The people that the target names."""
        return self.target.known

    def emptied(self, *exchanges: Exchange) -> "History":
        """Returns a history of the same deployment with these exchanges alone, without facts."""
        history = History(self.target, inputs=self.inputs, allows=self.allows)
        for exchange in exchanges:
            history.add(exchange)
        return history

    def add(self, exchange: Exchange) -> None:
        """Adds an exchange."""
        self.exchanges.append(exchange)
        self.latest = max(self.latest, exchange.at)
        is_change = exchange.request.method in WRITES and not exchange.response.is_refusal
        if is_change and exchange.site != "authorization":
            self.last_write = exchange.number
        if exchange.source != LEFT_OPEN:
            self._by_operation.setdefault(exchange.operation, []).append(exchange)
        elif is_change and exchange.site == "resource":
            for operation in RESOURCE:  # it may have changed anything that was seen before
                self._by_operation.pop(operation, None)
        self._note_avatars(exchange)
        self._note_secrets(exchange)

    def of(self, *operations: str) -> Iterator[Exchange]:
        """Yields the exchanges of these operations, newest first."""
        newest_first = [reversed(self._by_operation.get(operation, ())) for operation in operations]
        if len(newest_first) == 1:  # the usual case, hundreds of times for each exchange
            return newest_first[0]
        return heapq.merge(*newest_first, key=lambda it: -it.number)

    def near(self, *operations: str) -> Iterator[Exchange]:
        """Yields the 60 newest exchanges of these operations, newest first."""
        return islice(self.of(*operations), NEAR)

    def since(self, before: Exchange) -> list[Exchange]:
        """Returns the exchanges later than one of them, oldest first."""
        return self.exchanges[
            bisect_right(self.exchanges, before.number, key=lambda it: it.number) :
        ]

    def last(self, *operations: str, account: str | None = None) -> Exchange | None:
        """Returns the newest success of these operations, of one account if one is named."""
        successes = (
            exchange
            for exchange in self.of(*operations)
            if exchange.response.is_success
            and (account is None or exchange.identity.account == account)
        )
        return next(successes, None)

    def still(self, exchange: Exchange) -> bool:
        """Returns True if no resource can have changed since an exchange."""
        return exchange.number > self.last_write

    def still_since(self, exchange: Exchange) -> bool:
        """Returns True if no resource can have changed since an exchange that was itself a change."""
        return exchange.number >= self.last_write

    def profile_before(self, exchange: Exchange) -> Exchange | None:
        """Returns the newest full profile of an exchange's account."""
        account = exchange.identity.account
        return None if account is None else self.last(*PROFILES[1:], account=account)

    def avatars_before(self, exchange: Exchange) -> Exchange | None:
        """Returns the account's list for the primary address, if no avatar changed since."""
        listed = self.last(LIST_AVATARS, account=exchange.identity.account)
        changed = self.last(
            UPLOAD_AVATAR,
            DELETE_AVATAR,
            UPDATE_AVATAR,
            SET_AVATAR,
            account=exchange.identity.account,
        )
        if listed is None or (changed is not None and changed.number > listed.number):
            return None
        return listed

    def owner_of(self, image_id: str) -> str | None:
        """Returns the account that was seen to have an avatar."""
        return self._owners.get(image_id)

    def is_gone(self, image_id: str) -> bool:
        """Returns True if an avatar was seen to be deleted."""
        return image_id in self._gone

    def is_made_up(self, identifier: str) -> bool:
        """Returns True if no profile can have an identifier."""
        return identifier.startswith(MADE_UP) or identifier in MADE_UP_HASHES

    def is_own(self, identifier: str) -> bool:
        """Returns True if an identifier is the test account's."""
        return identifier == self.known.slug or identifier in self.known.own_hashes

    def is_others(self, identifier: str) -> bool:
        """Returns True if an identifier is the second account's."""
        return identifier == self.known.other_slug or identifier in self.known.others_hashes

    def hashes_of(self, account: str | None) -> tuple[str, ...]:
        """Returns the hashes of a test account's addresses, as far as the target names them."""
        known = self.known
        return {"own": known.own_hashes, "other": known.others_hashes}.get(account or "", ())

    def is_public(self, identifier: str) -> bool:
        """Returns True if the target names an identifier as that of a public profile."""
        return (
            self.is_own(identifier)
            or self.is_others(identifier)
            or identifier in self.known.people
            or identifier == self.known.hidden_contact_slug
        )

    def request_behind(self, exchange: Exchange) -> Exchange | None:
        """Returns the authorization request that an exchange is the result of."""
        if exchange.operation == AUTHORIZE:
            return exchange
        if exchange.site != "authorization" or exchange.status not in REDIRECTS:
            return None
        requests = (
            before
            for before in self.of(AUTHORIZE)
            if before.source == exchange.source and before.number < exchange.number
        )
        return next(requests, None)

    def issued_by(self, token: str | None) -> Exchange | None:
        """Returns the exchange in which an access token was first seen."""
        return self._tokens.get(token or "")

    def issued_nearly(self, secret: str) -> Exchange | None:
        """Returns the exchange that issued a code or token of which a text is a near copy."""
        issued = self._tokens | self._codes
        alike = (
            exchange
            for known, exchange in issued.items()
            if known.casefold() == secret.casefold()
            or secret in {known[:-1], f"{known}0", f"{known}\0", f"{known} "}
        )
        return None if secret in issued else next(alike, None)

    def redirect_with(self, code: str | None) -> Exchange | None:
        """Returns the redirect in which an authorization code was first seen."""
        return self._codes.get(code or "")

    def with_origins(self, steps: Iterable[Exchange]) -> list[Exchange]:
        """Returns exchanges in order, with those that issued the code, token or avatar that they use."""
        complete: dict[int, Exchange] = {}
        pending = list(steps)
        while pending:
            exchange = pending.pop()
            if exchange.number not in complete:
                complete[exchange.number] = exchange
                pending += filter(None, self._origins(exchange))
        return [complete[number] for number in sorted(complete)]

    def _origins(self, exchange: Exchange) -> Iterator[Exchange | None]:
        request = exchange.request
        for secret in (request.token, request.query.get("token"), request.form.get("code")):
            issued = self.issued_by(secret) or self.redirect_with(secret)
            yield issued or self.issued_nearly(secret or "")
        yield self._page_before(exchange)
        yield self._creation_of(exchange)
        if exchange.value:
            uploads = self.of(UPLOAD_AVATAR)
            yield next(
                (u for u in uploads if u.json_object.get("image_id") == exchange.value), None
            )

    def _creation_of(self, exchange: Exchange) -> Exchange | None:
        """Returns the newest creation of the item of another service that a request names."""
        if exchange.site != "resource" or exchange.operation in RESOURCE:
            return None
        created = (
            before
            for before in reversed(self.exchanges)
            if before.number < exchange.number
            and exchange.path.startswith(f"{before.path}/")
            and any(created_items((before, exchange)))
        )
        return next(created, None)

    def _page_before(self, exchange: Exchange) -> Exchange | None:
        """Returns the newest response that issued a cookie, a hidden field or a URL of a request."""
        if exchange.site != "authorization" or exchange.operation in {TOKEN, TOKEN_INFO}:
            return None
        if exchange.operation and not exchange.request.header("cookie"):
            return None
        pages = (
            before
            for before in reversed(self.exchanges)
            if (before.source, before.site) == (exchange.source, exchange.site)
            and before.number < exchange.number
            and any(mentions(exchange.request, value) for _, _, value in values_in(before))
        )
        return next(pages, None)

    def _note_secrets(self, exchange: Exchange) -> None:
        if exchange.site != "authorization":
            return
        if exchange.operation == TOKEN and exchange.response.is_success:
            self._tokens.setdefault(str(exchange.json_object.get("access_token")), exchange)
        parameters = exchange.redirect_parameters if exchange.status in REDIRECTS else {}
        if "access_token" in parameters:
            self._tokens.setdefault(parameters["access_token"], exchange)
        if "code" in parameters:
            self._codes.setdefault(parameters["code"], exchange)

    def _note_avatars(self, exchange: Exchange) -> None:
        account = exchange.identity.account
        if account is None or not exchange.response.is_success:
            return
        if exchange.operation == DELETE_AVATAR:
            self._gone.add(exchange.value)
        for avatar in avatars_in(exchange) if account != GRANTEE else ():
            self._owners.setdefault(str(avatar.get("image_id")), account)
        if exchange.operation == UPLOAD_AVATAR:  # may have the identifier of a deleted avatar
            self._gone.discard(str(exchange.json_object.get("image_id")))


def made_up_hash(number: int) -> str:
    """Returns a hash of no existing e-mail address; the history knows those below ten."""
    return sha256(f"{MADE_UP}-{number}@example.invalid".encode()).hexdigest()


MADE_UP_HASHES = frozenset(made_up_hash(number) for number in range(10))
"""Hashes of no existing e-mail address, which the history knows."""


def avatars_in(exchange: Exchange) -> list[Mapping[str, Any]]:
    """Returns the avatars that a response holds."""
    if exchange.operation in {UPLOAD_AVATAR, UPDATE_AVATAR}:
        avatars = [exchange.json_object] if "image_id" in exchange.json_object else []
    elif exchange.operation == LIST_AVATARS and isinstance(exchange.body, list):
        avatars = [item for item in exchange.body if isinstance(item, dict)]
    else:
        avatars = []
    return avatars


def issued_tokens(exchanges: Iterable[Exchange]) -> set[str]:
    """Returns the access tokens that were issued, by token responses and by redirects."""
    tokens = set()
    for exchange in exchanges:
        if exchange.operation == TOKEN and exchange.response.is_success:
            tokens.add(exchange.json_object.get("access_token"))
        if exchange.site == "authorization" and exchange.status in REDIRECTS:
            tokens.add(exchange.redirect_parameters.get("access_token"))
    return {token for token in tokens if isinstance(token, str)}


def profile_in(exchange: Exchange) -> Mapping[str, Any]:
    """Returns the profile that a response holds; empty where it holds none."""
    if exchange.operation in PROFILES and exchange.response.is_success:
        return exchange.json_object
    return {}


# Checks judge an exchange by those before it. Simultaneous requests are carried out in any order,
# so they are put into one that explains their responses. If none does, as after a lost update, the
# checks find the defect in any order.


def in_order_of_effect(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """Returns simultaneous exchanges in an order in which they can have been carried out.

    Successes come before refusals, and a response that shows the changes of other requests comes
    after theirs.
    """
    return sorted(
        exchanges,
        key=lambda exchange: (not exchange.response.is_success, _seen(exchange, exchanges)),
    )


def _seen(exchange: Exchange, exchanges: Sequence[Exchange]) -> int:
    """Returns how many changes of the other requests a response shows."""
    shown = exchange.json_object
    changes = [other.request.json for other in exchanges if other is not exchange]
    return sum(
        shown.get(name) == value
        for change in changes
        if isinstance(change, dict)
        for name, value in change.items()
    )

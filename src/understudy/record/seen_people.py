"""Collects people, accounts and applications from anonymised exchanges, in their final state.

Only anonymised exchanges are read for recordings, so that no personal value can get into a fixture.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import (
    ASSOCIATED_EMAIL,
    AUTHORIZE,
    DELETE_AVATAR,
    LIST_AVATARS,
    LOOKUP,
    ME,
    OWN_PROFILE,
    SET_AVATAR,
    TOKEN,
    TOKEN_INFO,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
)
from understudy.interface.scopes import MANAGE_PROFILE, SCOPES

_WRITES: Final = frozenset(ME) - {LIST_AVATARS, OWN_PROFILE, ASSOCIATED_EMAIL}


@dataclass
class SeenAccount:
    """An account that a token gives access to.

    Attributes:
        hash: Hash of the primary address; empty until the profile was read.
        hashes: Hashes of the other addresses.
        avatars: Identifier to avatar, in order.
        selected: Hash of an address to the avatar selected for it; the primary one has an empty hash.
    """

    hash: str = ""
    hashes: dict[str, None] = field(default_factory=dict)
    avatars: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    selected: dict[str, str] = field(default_factory=dict)


@dataclass
class SeenToken:
    """A token that was accepted.

    Attributes:
        account: Its account; None if the token was only used to look profiles up.
        role: The name of its identity in the target, or a generated one.
        scopes: Its scopes; None if neither traffic nor target show them.
        may_not_change: True if a change was refused.
        client_id: The application that it was issued to; None if unknown.
    """

    account: SeenAccount | None = None
    role: str = ""
    scopes: tuple[str, ...] | None = None
    may_not_change: bool = False
    client_id: str | None = None

    @property
    def granted(self) -> tuple[str, ...]:
        """The scopes for the fixture; without a known list, all that no refusal contradicts."""
        if self.scopes is not None:
            return self.scopes
        return tuple(s for s in SCOPES if s != MANAGE_PROFILE or not self.may_not_change)


@dataclass
class SeenPeople:
    """The people and tokens in the exchanges so far.

    Attributes:
        profiles: Hash of the primary address to the members of the most complete profile.
        private: Identifiers whose lookup was refused.
        tokens: Token to its account, scopes and application.
        redirects: Client ID to the redirect URIs of its flows.
    """

    profiles: dict[str, dict[str, Any]] = field(default_factory=dict)
    private: dict[str, None] = field(default_factory=dict)
    tokens: dict[str, SeenToken] = field(default_factory=dict)
    redirects: dict[str, dict[str, None]] = field(default_factory=dict)
    _by_name: dict[str, SeenAccount] = field(default_factory=dict)

    def add(self, exchange: Exchange) -> None:
        """Reads people, tokens and applications from an exchange."""
        token = exchange.request.token
        operation = exchange.operation
        if operation == LOOKUP:
            self._look_up(exchange)
        elif operation in {AUTHORIZE, TOKEN, TOKEN_INFO}:
            self._sign_in(exchange)
        elif token is not None and operation in ME:
            self._use(exchange, token)

    def _look_up(self, exchange: Exchange) -> None:
        if exchange.status == HTTPStatus.FORBIDDEN and exchange.identity.kind == "none":
            self.private[exchange.value] = None
        if not exchange.response.is_success:
            return
        is_full = exchange.request.token is not None
        self._profile(exchange.json_object, is_full=is_full)
        if is_full:
            seen = self.tokens.setdefault(str(exchange.request.token), SeenToken())
            seen.role = exchange.identity.name

    def _profile(self, members: Mapping[str, Any], *, is_full: bool) -> str:
        """Merges a profile into the known one, and returns its hash; empty without one.

        An anonymous view does not overwrite the complete list of verified accounts.
        """
        own = members.get("hash")
        if not isinstance(own, str) or not own:
            return ""
        known = self.profiles.setdefault(own, {})
        is_known_fully = "number_verified_accounts" in known
        hides = {"verified_accounts"} if is_known_fully and not is_full else set()
        known.update((name, value) for name, value in members.items() if name not in hides)
        return own

    def _use(self, exchange: Exchange, token: str) -> None:
        """Reads an exchange of an operation on the caller's own account."""
        if exchange.status == HTTPStatus.FORBIDDEN and exchange.operation in _WRITES:
            if exchange.json_object.get("code") == "insufficient_scope":
                self.tokens.setdefault(token, SeenToken()).may_not_change = True
            return
        if not exchange.response.is_success:
            return
        seen = self.tokens.setdefault(token, SeenToken())
        seen.role = exchange.identity.name
        if seen.scopes is None and exchange.identity.scopes is not None:
            seen.scopes = tuple(scope for scope in SCOPES if scope in exchange.identity.scopes)
        seen.account = seen.account or self._account_of(exchange.identity.account)
        if exchange.operation in {OWN_PROFILE, UPDATE_PROFILE}:
            own = self._profile(exchange.json_object, is_full=True)
            seen.account = self._merged(seen.account, own)
        else:
            _USES[exchange.operation](seen.account, exchange)

    def _account_of(self, name: str | None) -> SeenAccount:
        """Returns the account with a name in the target, or a new one."""
        key = f"account {name}"
        known = self._by_name.get(key) if name is not None else None
        account = known or SeenAccount()
        if name is not None:
            self._by_name[key] = account
        return account

    def _merged(self, account: SeenAccount, own: str) -> SeenAccount:
        """Returns the account with a hash, merged with another one, as tokens may share an account."""
        known = self._by_name.get(own) if own else account
        if known is None or known is account:
            account.hash = account.hash or own
            if own:
                self._by_name[own] = account
            return account
        known.avatars |= {
            key: it for key, it in account.avatars.items() if key not in known.avatars
        }
        known.hashes |= account.hashes
        return known

    def _sign_in(self, exchange: Exchange) -> None:
        """Reads redirect URIs and issued tokens from an exchange of the authorization flow."""
        request = exchange.request
        sent = request.query if exchange.operation != TOKEN else request.form
        client, redirect = sent.get("client_id"), sent.get("redirect_uri")
        if exchange.response.is_refusal or not client:
            return
        redirects = self.redirects.setdefault(client, {})
        if redirect:
            redirects[redirect] = None
        members = exchange.json_object
        if exchange.operation == TOKEN_INFO:
            token, scope = sent.get("token"), members.get("scope")
        elif exchange.operation == TOKEN:
            token, scope = members.get("access_token"), members.get("scope")
        else:
            token = exchange.redirect_parameters.get("access_token")
            scope = " ".join(text for name, text in request.pairs if name.startswith("scope"))
        if isinstance(token, str) and token:
            seen = self.tokens.setdefault(token, SeenToken())
            seen.client_id = client
            if isinstance(scope, str) and scope:
                seen.scopes = tuple(word for word in SCOPES if word in scope.split())

    def accounts(self) -> Iterator[SeenAccount]:
        """Yields the accounts of all tokens, each once."""
        found = {id(seen.account): seen.account for seen in self.tokens.values() if seen.account}
        yield from found.values()


def _list(account: SeenAccount, exchange: Exchange) -> None:
    avatars = exchange.body if isinstance(exchange.body, list) else []
    listed = [each for each in avatars if isinstance(each, dict) and each.get("image_id")]
    account.avatars = {str(each["image_id"]): each for each in listed}
    address = exchange.request.query.get("selected_email_hash", "")
    if address and address != account.hash:
        account.hashes[address] = None
    chosen = [str(each["image_id"]) for each in listed if each.get("selected") is True]
    if chosen:
        account.selected[address] = chosen[0]
    else:
        account.selected.pop(address, None)


def _upload(account: SeenAccount, exchange: Exchange) -> None:
    avatar = exchange.json_object
    if avatar.get("image_id"):
        account.avatars[str(avatar["image_id"])] = avatar
        if avatar.get("selected") is True:
            address = exchange.request.query.get("selected_email_hash", "")
            account.selected[address] = str(avatar["image_id"])


def _update(account: SeenAccount, exchange: Exchange) -> None:
    account.avatars[exchange.value] = exchange.json_object


def _delete(account: SeenAccount, exchange: Exchange) -> None:
    account.avatars.pop(exchange.value, None)


def _select(account: SeenAccount, exchange: Exchange) -> None:
    address = exchange.request.json
    hashed = address.get("email_hash") if isinstance(address, dict) else None
    if isinstance(hashed, str):
        account.hashes[hashed] = None
        account.selected[hashed] = exchange.value


def _associate(account: SeenAccount, exchange: Exchange) -> None:
    hashed = exchange.request.query.get("email_hash")
    if hashed and exchange.json_object.get("associated") is True:
        account.hashes[hashed] = None


_USES: Final = {
    LIST_AVATARS: _list,
    UPLOAD_AVATAR: _upload,
    UPDATE_AVATAR: _update,
    DELETE_AVATAR: _delete,
    SET_AVATAR: _select,
    ASSOCIATED_EMAIL: _associate,
}
"""Operation to the function that updates an account by a successful exchange."""

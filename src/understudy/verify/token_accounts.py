"""Tells whose account a token opens that only recorded traffic shows.

An app that signs in gets a new token each time. Taken for accounts of their own, two tokens of one person
would look like two people who see each other's avatars.
"""

from collections.abc import Iterator
from dataclasses import replace

from understudy.deployments.target import Target
from understudy.exchange.messages import Exchange
from understudy.interface.operations import LIST_AVATARS, ME, OWN_PROFILE, UPDATE_PROFILE
from understudy.verify.history import History


class TokenAccounts:
    """The accounts of tokens, as far as traffic has shown them.

    Args:
        target: The deployment; the accounts of its own tokens are known.
    """

    def __init__(self, target: Target) -> None:
        self._by_hash = dict.fromkeys(target.known.own_hashes, "own")
        self._by_hash |= dict.fromkeys(target.known.others_hashes, "other")
        self._by_token: dict[str, str] = {}

    def assigned(self, exchange: Exchange, history: History) -> Exchange:
        """Returns an exchange whose unknown token has the account that it was seen to open.

        Args:
            exchange: The exchange.
            history: What was exchanged before.
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
        """Yields the accounts that a success says the token opens."""
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
    """Yields the hash of the profile that a success on the caller's own shows."""
    if exchange.operation in {OWN_PROFILE, UPDATE_PROFILE} and exchange.response.is_success:
        hashed = exchange.json_object.get("hash")
        if isinstance(hashed, str) and hashed:
            yield hashed

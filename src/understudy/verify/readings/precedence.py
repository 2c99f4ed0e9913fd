"""Tells which of two errors of one request a deployment refuses, beside requests with either alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import LOOKUP, SET_AVATAR, UPDATE_AVATAR, UPDATE_PROFILE
from understudy.verify.account_history import (
    ABLE,
    has_texts_only,
    is_sound_update,
    names_editable_only,
    names_own_address,
    names_unknown_address,
    names_unknown_rating,
)
from understudy.verify.checks import (
    Condition,
    is_anonymous,
    is_public_profile,
    is_unknown_identifier,
    may_manage,
)
from understudy.verify.history import History
from understudy.verify.readings.switch_reading import SwitchReading
from understudy.verify.rules.avatar_deletion import does_not_exist
from understudy.verify.rules.bearer import token_is_invalid
from understudy.verify.rules.update_precedence import INVALID, NOT_PERMITTED

Refusal = tuple[int, object]
"""Status and error code."""


def _is_own_avatar(exchange: Exchange, history: History) -> bool:
    return history.owner_of(exchange.value) == exchange.identity.account


@dataclass(frozen=True, slots=True)
class TwoErrors:
    """A question of which of two errors goes before the other.

    Attributes:
        rule: Id of the rule that assumes an answer.
        operation: Where it shows.
        when: What must hold of a request with both errors.
        alone: Option to the conditions of a request that has this error alone.
    """

    rule: str
    operation: str
    when: Sequence[Condition]
    alone: dict[str, Sequence[Condition]]

    def readings(self) -> tuple[SwitchReading, ...]:
        """Returns a reading for either option."""
        return tuple(
            SwitchReading(
                self.rule,
                (self.operation,),
                (*self.when, self._is_refused_for(option)),
                partial(_option, option),
            )
            for option in self.alone
        )

    def _is_refused_for(self, option: str) -> Condition:
        def condition(exchange: Exchange, history: History) -> bool:
            refusals = {each: self._alone(history, *self.alone[each]) for each in self.alone}
            if None in refusals.values() or len(set(refusals.values())) < len(refusals):
                return False
            return _refusal(exchange) == refusals[option]

        return condition

    def _alone(
        self, history: History, *when: Callable[[Exchange, History], bool]
    ) -> Refusal | None:
        """Returns how the newest request with one error alone was refused."""
        for before in history.of(self.operation):
            if before.response.is_refusal and all(each(before, history) for each in when):
                return _refusal(before)
        return None


def _option(option: str, _exchange: Exchange) -> str:
    return option


def _refusal(exchange: Exchange) -> Refusal:
    return exchange.status, exchange.json_object.get("code")


QUESTIONS: Final = (
    TwoErrors(
        "avatar-email-both-unknown",
        SET_AVATAR,
        (may_manage, does_not_exist, names_unknown_address),
        {
            "avatar": (may_manage, does_not_exist, names_own_address),
            "email": (may_manage, _is_own_avatar, names_unknown_address),
        },
    ),
    TwoErrors(
        "avatar-body-both-wrong",
        UPDATE_AVATAR,
        (may_manage, does_not_exist, names_unknown_rating),
        {
            "avatar": (may_manage, does_not_exist, is_sound_update),
            "body": (may_manage, _is_own_avatar, names_unknown_rating),
        },
    ),
    TwoErrors(
        "scope-body-both-wrong",
        UPDATE_PROFILE,
        (*NOT_PERMITTED, *INVALID),
        {
            "scope": (*NOT_PERMITTED, names_editable_only, has_texts_only),
            "body": (*ABLE, *INVALID),
        },
    ),
    TwoErrors(
        "invalid-token-unknown-profile",
        LOOKUP,
        (token_is_invalid, is_unknown_identifier),
        {
            "token": (token_is_invalid, is_public_profile),
            "profile": (is_anonymous, is_unknown_identifier),
        },
    ),
)

PRECEDENCE_READINGS: Final = tuple(
    reading for question in QUESTIONS for reading in question.readings()
)
"""The exchanges that show which of two errors goes before the other."""

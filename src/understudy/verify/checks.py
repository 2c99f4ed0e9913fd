"""Registers checks, applies them to an exchange, and defines the conditions that sections share.

A check is a pure function of an exchange and the exchanges before it. Its conditions are registered
with it, so that its body is only the judgement. Unless all of them hold it gives no result, which
is never reported as passed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, KeysView, Sequence
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from textwrap import shorten
from typing import Final, NamedTuple, TypeVar

from understudy.exchange.messages import Exchange
from understudy.interface.scopes import MANAGE_PROFILE, READ_PROFILE
from understudy.verify.history import History, avatars_in, profile_in
from understudy.verify.value_texts import as_json, as_text

MESSAGE_SHOWN: Final = 60
"""Characters of an error message that a result shows."""
SHOWN = 300
"""Characters of a value that a result shows."""

Value = TypeVar("Value")


class CheckResult(NamedTuple):
    """One check's judgement of one exchange.

    Attributes:
        holds: Whether the rule holds here.
        expected: What the rule demands, in a few words.
        actual: What the exchange shows instead.
        evidence: Earlier exchanges that the judgement rests on.
        is_choice: Whether it judges a behaviour that the rule's source leaves open.
        is_shape: Whether it judges names, types and values that a document can declare otherwise.
        attempts: How often to send the first evidence to reproduce it, such as to use up a limit.
        is_timed: Whether reproducing it needs the time that passed between the exchanges.
        is_learnt: Whether it judges by a learned fact of the deployment, which binds it.
        is_form: Whether the request was rightly refused, and only the refusal's form is judged.
        is_of_status: Whether it judges nothing but the status.
        where: The condition that distinguishes the exchange, in words; empty if none does.
    """

    holds: bool
    expected: str
    actual: str = ""
    evidence: tuple[Exchange, ...] = ()
    is_choice: bool = False
    is_shape: bool = False
    attempts: int = 1
    is_timed: bool = False
    is_learnt: bool = False
    is_form: bool = False
    is_of_status: bool = False
    where: str = ""


Condition = Callable[[Exchange, History], bool]
"""A predicate; reports quote its docstring, as ``Tells whether the code was redeemed before.``"""

Judge = Callable[[Exchange, History], CheckResult]


@dataclass(frozen=True, slots=True)
class Check:
    """A check, the rules that it judges, and the exchanges that it can judge.

    Attributes:
        name: Its name in schedules: the section and function, such as ``qr_codes.code_is_png``, or
            the rule and outcome of a demand.
        rules: The ids of the rules.
        operations: The operations whose exchanges it judges; empty for all.
        when: Conditions that an exchange must meet to be judged, in the order of evaluation.
        judge: The function.
        is_of_limits: Whether it also judges 429 responses, which other checks skip.
        is_choice: Whether the rule's source leaves the behaviour open: a deployment that behaves
            otherwise gets a note, whatever the rule's status.
        is_shape: Whether it judges names, types and values, which the document in force decides:
            the interface calls the published definition the authority.
    """

    name: str
    rules: tuple[str, ...]
    operations: frozenset[str]
    when: tuple[Condition, ...]
    judge: Judge
    is_of_limits: bool = False
    is_choice: bool = False
    is_shape: bool = False

    def concerns(self, operation: str, *, is_too_many: bool) -> bool:
        """Tells whether the check applies to an operation's responses, of status 429 or others."""
        if self.operations and operation not in self.operations:
            return False
        return self.is_of_limits or not is_too_many

    @property
    def where(self) -> str:
        """The condition that the fewest checks share, in words; empty if many checks share all."""
        sharing = _conditions()
        telling = [it for it in reversed(self.when) if not _ANYWHERE.search(described(it))]
        rarest = min(telling, key=sharing.__getitem__, default=None)
        return "" if rarest is None or sharing[rarest] > _SHARING else described(rarest)

    def occasion(self, reached: int, title: Callable[[str], str] = str) -> str:
        """Describes the exchange that the check needed and that was never seen.

        Args:
            reached: How many of the conditions held at once, at most.
            title: Returns an operation as the document writes it.
        """
        what = " or ".join(map(title, sorted(self.operations))) or "request"
        conditions = [described(each) for each in self.when[: reached + 1]]
        if len(conditions) > _MOST_CONDITIONS:  # all but the last of them held
            return f"no {what} met every condition of the rule; the one missing: {conditions[-1]}"
        return f"no {what} was seen" + (f" where {' and '.join(conditions)}" if conditions else "")


UNAVAILABLE: Final = frozenset({502, 503, 504})
"""Statuses of a gateway, or of a service that is down for the moment (RFC 9110, 15.6)."""

CONDITIONAL: Final = "conditional-reads"
"""The only rule that judges 304 responses."""

_MOST_CONDITIONS: Final = 2
"""Most conditions that a report names for a rule that was not checked; more hide what matters."""

_ANYWHERE: Final = re.compile(
    r"^the (response|redirect|status|exchange|list has|definition|page)\b|^HEAD is|^no fact|^the method"
    r"|\bif (any|it is there)\b|, or none at all|nothing but|every media type|not known to|, and the account known|surely valid"
)
"""Matches conditions that distinguish no request: on its response, or met by nearly all."""

_SHARING: Final = 4
"""Most checks that may share a condition for it to distinguish a request."""

CHECKS: Final[list[Check]] = []
"""Every registered check, in the order in which ``rules`` imports its sections."""


def check(
    *rules: str,
    on: Iterable[str] = (),
    when: Sequence[Condition] = (),
    **kind: bool,
) -> Callable[[Judge], Judge]:
    """Registers a check; one function may judge several, each under other conditions.

    Args:
        rules: Ids of ``rules.yaml``.
        on: The operations whose exchanges it judges; all where none is given.
        when: Conditions that an exchange must meet; evaluation stops at the first that fails, so
            cheap conditions come first.
        kind: ``is_of_limits``, ``is_choice`` and ``is_shape``, as of ``Check``.
    """

    def register(judge: Judge) -> Judge:
        number = sum(each.judge is judge for each in CHECKS)  # makes the name unique
        name = f"{judge.__module__.rpartition('.')[2]}.{judge.__name__}{number or ''}"
        CHECKS.append(Check(name, rules, frozenset(on), tuple(when), judge, **kind))
        _checks_of.cache_clear()
        _conditions.cache_clear()
        return judge

    return register


def demands(*on: str) -> Callable[..., None]:
    """Returns a function that registers checks with one expectation, on these operations.

    Args:
        on: The operations; all where none is given.
    """

    def demand(
        rule: str,
        when: Sequence[Condition],
        expectation: Callable[..., CheckResult],
        *arguments: object,
        **kind: bool,
    ) -> None:
        """Registers a check that exchanges which meet the conditions also meet the expectation.

        Args:
            rule: Id of ``rules.yaml``.
            when: As of ``check``.
            expectation: Judges the exchange alone, such as ``expect_status``.
            arguments: Further arguments of the expectation, such as the status.
            kind: ``is_of_limits``, ``is_choice`` and ``is_shape``, as of ``check``.
        """

        def judge(exchange: Exchange, _history: History) -> CheckResult:
            return expectation(exchange, *arguments)

        number = sum(each.rules == (rule,) for each in CHECKS)  # makes the name unique
        judge.__name__ = f"{rule}_{expectation.__name__}_{number}".replace("-", "_")
        check(rule, on=on, when=when, **kind)(judge)

    return demand


def checks_for(exchange: Exchange) -> tuple[Check, ...]:
    """Returns the checks that apply to the operation and status of an exchange.

    No check applies to 502, 503 and 504: they say nothing about the contract, and are reported as
    failures of the server anyway.
    """
    if exchange.status in UNAVAILABLE or wants_length(exchange):
        return ()
    checks = _checks_of(
        exchange.operation, is_too_many=exchange.status == HTTPStatus.TOO_MANY_REQUESTS
    )
    if is_not_modified(exchange):
        return tuple(each for each in checks if CONDITIONAL in each.rules)
    return checks


def is_not_modified(exchange: Exchange) -> bool:
    """Tells whether a conditional request got 304 (RFC 9110, 13)."""
    return exchange.status == HTTPStatus.NOT_MODIFIED and bool(
        exchange.request.header("if-none-match")
    )


def wants_length(exchange: Exchange) -> bool:
    """Tells whether a chunked body was refused with 411, as a server may (RFC 9110, 15.5.12)."""
    is_chunked = bool(exchange.request.header("transfer-encoding"))
    return is_chunked and exchange.status == HTTPStatus.LENGTH_REQUIRED


@lru_cache(maxsize=256)  # called for every exchange, with few different arguments
def _checks_of(operation: str, *, is_too_many: bool) -> tuple[Check, ...]:
    return tuple(each for each in CHECKS if each.concerns(operation, is_too_many=is_too_many))


@lru_cache(maxsize=1)
def _conditions() -> Counter[Condition]:
    """Returns how many checks have each condition."""
    return Counter(condition for each in CHECKS for condition in each.when)


def tells(words: str, holds: Condition) -> Condition:
    """Returns a predicate as a condition that reports describe by these words."""
    holds.__doc__ = f"Tells whether {words}."
    return holds


def unless(condition: Callable[[Exchange, History], object], words: str) -> Condition:
    """Returns the negation of a condition, which reports describe by these words."""
    return tells(words, lambda it, history: not condition(it, history))


def found(find: Callable[[Exchange, History], object], words: str) -> Condition:
    """Returns the condition that a search finds something; the check then uses ``proven``.

    Args:
        find: The search; returns None if it finds nothing.
        words: Description of the condition in reports.
    """
    return tells(words, lambda it, history: find(it, history) is not None)


def described(condition: Condition) -> str:
    """Returns the description of a condition: its docstring without "Tells whether"."""
    text = (condition.__doc__ or condition.__name__).partition("\n")[0]
    return text.removeprefix("Tells whether ").rstrip(".")


def proven(value: Value | None) -> Value:
    """Returns a value that a condition of the check has shown not to be None.

    Raises:
        LookupError: The value is None, so the check lacks that condition.
    """
    if value is None:
        msg = "a value is missing that a condition of the check must prove"
        raise LookupError(msg)
    return value


class InternalError(NamedTuple):
    """An exception in a check: a defect of this program, not a finding."""

    rules: tuple[str, ...]
    reason: str


class Unmet(NamedTuple):
    """A check that gave no result, because a condition did not hold.

    Attributes:
        check: The check.
        reached: How many of its conditions held before the first that did not.
    """

    check: Check
    reached: int


def check_results(
    exchange: Exchange,
    history: History,
    rules: KeysView[str] | None = None,
    *,
    of_limits: bool = False,
) -> Iterator[tuple[str, CheckResult] | Unmet | InternalError]:
    """Yields each check result of an exchange with its rule, and the checks that gave no result.

    Args:
        exchange: The exchange to judge.
        history: The exchanges before it.
        rules: Ids of the rules to judge; None for all.
        of_limits: Whether only checks that judge 429 responses too are to judge.
    """
    known: dict[Condition, bool] = {}
    for registered in checks_for(exchange):
        if of_limits and not registered.is_of_limits:
            continue
        if rules is not None and rules.isdisjoint(registered.rules):
            continue
        result = judged(registered, exchange, history, known)
        if not isinstance(result, CheckResult):
            yield result
            continue
        for rule in registered.rules:
            yield rule, result


def judged(
    registered: Check,
    exchange: Exchange,
    history: History,
    known: dict[Condition, bool] | None = None,
) -> CheckResult | Unmet | InternalError:
    """Returns a check's result for an exchange, or why it gives none.

    Args:
        registered: The check.
        exchange: The exchange to judge.
        history: The exchanges before it.
        known: Cache of the conditions' values for this exchange, shared by its checks.
    """
    known = {} if known is None else known
    try:
        for reached, condition in enumerate(registered.when):
            holds = known.get(condition)
            if holds is None:
                holds = known[condition] = bool(condition(exchange, history))
            if not holds:
                return Unmet(registered, reached)
        result = registered.judge(exchange, history)
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        return InternalError(registered.rules, f"{type(error).__name__}: {error}")
    declared = (registered.is_choice, registered.is_shape, "" if result.holds else registered.where)
    if (result.is_choice, result.is_shape, result.where) == declared:
        return result
    is_choice, is_shape, where = declared
    return result._replace(is_choice=is_choice, is_shape=is_shape, where=where)


def expect(
    condition: object, expected: str, actual: object = "", *evidence: Exchange | None
) -> CheckResult:
    """Returns a check result that holds if a condition is true."""
    seen = tuple(exchange for exchange in evidence if exchange is not None)
    return CheckResult(bool(condition), expected, as_text(actual)[:SHOWN], seen)


def expect_equal(
    actual: object, expected: object, what: str, *evidence: Exchange | None
) -> CheckResult:
    """Returns a check result that holds if two values are equal."""
    return expect(
        actual == expected,
        f"{what} is {as_json(expected)}"[:SHOWN],
        f"{what} is {as_json(actual)}",
        *evidence,
    )


def expect_status(exchange: Exchange, *wanted: int) -> CheckResult:
    """Returns a check result that holds if the status is one of these."""
    words = " or ".join(str(number) for number in wanted)
    result = expect(exchange.status in wanted, f"status {words}", f"status {exchange.status}")
    is_form = exchange.response.is_refusal and min(wanted) >= HTTPStatus.BAD_REQUEST
    return result._replace(is_form=is_form, is_of_status=True)


def expect_refused(exchange: Exchange) -> CheckResult:
    """Returns a check result that holds if the request was refused, with any 4XX status."""
    result = expect(exchange.response.is_refusal, "a refusal, 4XX", f"status {exchange.status}")
    return result._replace(is_of_status=True)


def expect_accepted(exchange: Exchange) -> CheckResult:
    """Returns a check result that holds if the request succeeded."""
    result = expect(exchange.response.is_success, "success, 2XX", f"status {exchange.status}")
    return result._replace(is_of_status=True)


_MESSAGES: Final = ("detail", "message", "error", "title", "description", "msg")
"""The members in which services say why they refuse or fail."""


def message_of(exchange: Exchange) -> str:
    """Returns the start of the error message in a JSON response; empty if there is none."""
    messages = (exchange.json_object.get(name) for name in _MESSAGES)
    message = next((text for text in messages if isinstance(text, str)), "")
    return shorten(message, MESSAGE_SHOWN, placeholder="…")


# Conditions that several sections share. Reports quote their docstrings: for a rule that was not
# checked, they name the condition that never held.

TOKENS = frozenset({"oauth", "api_key"})
"""Kinds of credentials that a deployment accepts."""

UNSURE = frozenset({"invalid", "unknown"})
"""Kinds of credentials that a deployment may refuse for any request."""

succeeded = tells("the request succeeded", lambda it, _: it.response.is_success)
was_refused = tells("the request was refused with 4XX", lambda it, _: it.response.is_refusal)
document_allows = tells(
    "the deployment's own document, if there is one, allows the request",
    lambda it, history: history.allows is None or history.allows(it),
)
document_allows_no_such = tells(
    "the deployment's own document, if there is one, does not allow the request",
    lambda it, history: history.allows is None or not history.allows(it),
)
is_get = tells("the method is GET", lambda it, _: it.request.method == "GET")
accepts_anything = tells(
    "the request accepts every media type", lambda it, _: it.request.header("accept") in {"", "*/*"}
)
holds_profile = tells("the response holds a profile", lambda it, _: bool(profile_in(it)))
holds_avatars = tells("the response holds avatars", lambda it, _: bool(avatars_in(it)))
is_anonymous = tells("the client is anonymous", lambda it, _: it.identity.kind == "none")
sends_no_credentials = tells(
    "no Authorization header was sent",
    lambda it, _: it.identity.kind == "none" and not it.request.header("authorization"),
)
has_token = tells("a valid token or API key was sent", lambda it, _: it.identity.kind in TOKENS)
credentials_are_certain = tells(
    "the credentials, if any, are known to be valid", lambda it, _: it.identity.kind not in UNSURE
)
is_public_profile = tells(
    "the identifier is of a public profile that the target names",
    lambda it, history: history.is_public(it.value),
)
is_unknown_identifier = tells(
    "the identifier is made up", lambda it, history: history.is_made_up(it.value)
)
may_read = tells(
    "the token has the scope to read profiles and avatars",
    lambda it, _: it.identity.may(READ_PROFILE),
)
may_manage = tells(
    "the token has the scope to change profiles and avatars",
    lambda it, _: it.identity.may(MANAGE_PROFILE),
)
is_of_test_accounts = tells(
    "the token is of one of the two test accounts",
    lambda it, _: it.identity.account in {"own", "other"},
)


def status_is(*statuses: int) -> Condition:
    """Returns the condition that the response has one of these statuses."""
    words = " or ".join(map(str, statuses))
    return tells(f"the status is {words}", lambda it, _: it.status in statuses)


def declares(name: str) -> Condition:
    """Returns the condition that the document in force does not leave out a member of profiles."""
    words = f"the document in force names {name}"
    return tells(words, lambda _, history: name not in history.inputs.never_shown)


def profile_has(name: str) -> Condition:
    """Returns the condition that the response holds a profile with a member that is not null."""
    return tells(f"the profile has {name}", lambda it, _: profile_in(it).get(name) is not None)

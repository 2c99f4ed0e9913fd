"""Query parameters that no operation declares (interface, Versioning: clients and servers grow)."""

from typing import Any, Final

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import ASSOCIATED_EMAIL, LOOKUP, OWN_PROFILE, QR_CODE
from understudy.verify.checks import CheckResult, check, expect, expect_refused, is_get, proven
from understudy.verify.history import History
from understudy.verify.pictures import fitting
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import probe
from understudy.verify.value_texts import as_json

DECLARED: Final = {
    LOOKUP: frozenset[str](),
    OWN_PROFILE: frozenset[str](),
    ASSOCIATED_EMAIL: frozenset({"email_hash"}),
    QR_CODE: frozenset({"size", "version", "utm_medium", "utm_campaign", "type"}),
}


SIZES: Final = (96, 120)
"""Pixels of the two sizes of one request."""


def _unknown(exchange: Exchange) -> list[str]:
    declared = DECLARED[exchange.operation]
    return [name for name, _ in exchange.request.pairs if name not in declared and "[" not in name]


def has_unknown_parameter(exchange: Exchange, _history: History) -> bool:
    """Tells whether the query has a parameter that is not declared."""
    return bool(_unknown(exchange))


def without_it(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the same request without its unknown parameters, if it succeeded."""
    declared = DECLARED[exchange.operation]
    plain = {(name, text) for name, text in exchange.request.pairs if name in declared}
    for before in history.near(exchange.operation):
        is_twin = before.path == exchange.path and before.identity == exchange.identity
        if is_twin and set(before.request.pairs) == plain and before.response.is_success:
            return before
    return None


def succeeded_without_it(exchange: Exchange, history: History) -> bool:
    """Tells whether the same request succeeded without the unknown parameter."""
    return without_it(exchange, history) is not None


@check(
    "unknown-query-parameters-accepted",
    on=DECLARED,
    when=[is_get, has_unknown_parameter, succeeded_without_it],
)
def unknown_parameter_changes_nothing(exchange: Exchange, history: History) -> CheckResult:
    """A parameter that is not declared changes nothing."""
    before = proven(without_it(exchange, history))
    is_same = before.status == exchange.status
    if history.still(before):
        is_same = is_same and _content(before) == _content(exchange)
    actual = f"status {exchange.status}, without it {before.status}; the bodies may differ"
    return expect(is_same, f"the response without {_unknown(exchange)[0]}", actual, before)


def _content(exchange: Exchange) -> object:
    """Returns a body to compare: of JSON its value, in which the order of lists means nothing."""
    return exchange.response.body if exchange.body is NO_JSON else _unordered(exchange.body)


def _unordered(value: Any) -> object:
    if isinstance(value, dict):
        return {name: _unordered(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return sorted((_unordered(item) for item in value), key=as_json)
    return value


def repeats_a_size(exchange: Exchange, _history: History) -> bool:
    """Tells whether the query has two sizes that differ, and no more."""
    sizes = {text for name, text in exchange.request.pairs if name == "size"}
    is_repeated = len(exchange.request.pairs) == len(sizes) == len(SIZES)
    return is_repeated and all(size.isdecimal() for size in sizes)


def has_empty_size(exchange: Exchange, _history: History) -> bool:
    """Tells whether the query has an empty size, and no more."""
    return exchange.request.pairs == (("size", ""),)


@check("query-parameter-repeated", on=[QR_CODE], when=[is_get, repeats_a_size])
def repeated_parameter_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """A parameter that is given twice is refused."""
    return expect_refused(exchange)


@check("query-parameter-empty", on=[QR_CODE], when=[is_get, has_empty_size])
def empty_parameter_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """An empty text is refused where a number is due."""
    return expect_refused(exchange)


@probe("query-parameter-repeated", needs=("slug",))
def code_with_two_sizes(client: ProbeClient) -> None:
    """Requests a QR code of two sizes."""
    first, last = (fitting(client, size) for size in SIZES)
    client.get(f"/qr-code/{client.known.slug}", query=[("size", first), ("size", last)])


@probe("query-parameter-empty", needs=("slug",))
def code_with_an_empty_size(client: ProbeClient) -> None:
    """Requests a QR code of an empty size."""
    client.get(f"/qr-code/{client.known.slug}", query=[("size", "")])


@probe("unknown-query-parameters-accepted", needs=("slug",))
def lookup_with_unknown_parameter(client: ProbeClient) -> None:
    """Sends what an official client adds to every lookup."""
    client.recall(f"/profiles/{client.known.slug}")
    client.get(f"/profiles/{client.known.slug}", query={"source": "understudy"})

"""Writes all traffic of a run as an HTTP archive (HAR 1.2) with its secrets masked."""

from collections.abc import Mapping
from typing import Any

import orjson

from understudy.exchange import har
from understudy.exchange.masking import masked_exchange
from understudy.exchange.messages import Exchange
from understudy.verify.outcome import Outcome


def traffic_archive(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the traffic as HAR."""
    entries = (_entry(masked_exchange(exchange, secrets)) for exchange in outcome.exchanges)
    log = har.archive("understudy verify", entries)
    return orjson.dumps(log, option=orjson.OPT_INDENT_2).decode()


def _entry(exchange: Exchange) -> dict[str, Any]:
    identity = exchange.identity
    entry = har.entry_of(exchange, _source=exchange.source, _identity=identity.name)
    return entry if identity.scopes is None else {**entry, "_scopes": sorted(identity.scopes)}

"""Reads what a deployment makes of query parameters that are empty, or given twice."""

from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import QR_CODE
from understudy.verify.checks import is_get, is_public_profile
from understudy.verify.pictures import DEFAULT_SIZE, picture_of
from understudy.verify.readings.switch_reading import SwitchReading
from understudy.verify.rules.query_parameters import has_empty_size, repeats_a_size


def _width(exchange: Exchange) -> str:
    size = picture_of(exchange).size
    return "" if size is None else str(size[0])


def _of_repeated(exchange: Exchange) -> str:
    if not exchange.response.is_success:
        return "refuse"
    first, last = (size for _, size in exchange.request.pairs)
    width = _width(exchange)
    return {first: "first", last: "last"}.get(width, f"a code {width} pixels wide")


def _of_empty(exchange: Exchange) -> str:
    if not exchange.response.is_success:
        return "refuse"
    width = _width(exchange)
    return "ignore" if width == str(DEFAULT_SIZE) else f"a code {width} pixels wide"


QUERY_READINGS: Final = (
    SwitchReading(
        "query-parameter-repeated",
        (QR_CODE,),
        (is_get, is_public_profile, repeats_a_size),
        _of_repeated,
    ),
    SwitchReading(
        "query-parameter-empty", (QR_CODE,), (is_get, is_public_profile, has_empty_size), _of_empty
    ),
)
"""The exchanges that show how a deployment reads such parameters."""

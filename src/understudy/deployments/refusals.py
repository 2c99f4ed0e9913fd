"""Reasons why the gateway did not send a request; each ends a probe, none ends a run's report.

Refusal
├── NotPermitted    the mode or a permission rules the request out
├── BudgetSpent     the requests of the hour or of the run are used up
├── OutOfTime       the time of the run is used up
└── Unreachable     the deployment did not respond
"""

from understudy.exchange.messages import Exchange


class Refusal(Exception):
    """A request was not sent or got no response; the text is the reason that reports show."""


class NotPermitted(Refusal):
    """The mode or a permission rules the request out."""


class BudgetSpent(Refusal):
    """The requests of the hour or of the run are used up."""


class OutOfTime(Refusal):
    """The time of the run is used up."""


class Unreachable(Refusal):
    """The deployment did not respond.

    Args:
        message: The cause.
        exchange: The request, with a response of status 0.
    """

    def __init__(self, message: str, exchange: Exchange) -> None:
        super().__init__(message)
        self.exchange = exchange

"""Why the gateway did not send: each ends a probe, and none of them a run's report.

Refusal
├── NotPermitted    the mode, or a permission, rules it out
├── BudgetSpent     the hour's requests are used up, or those of the run
├── OutOfTime       the run's time is
└── Unreachable     the deployment did not answer
"""

from understudy.deployments.exchange import Exchange


class Refusal(Exception):
    """A request that was not sent, or not answered; the text is the reason a report gives."""


class NotPermitted(Refusal):
    """The mode, or a permission, rules it out."""


class BudgetSpent(Refusal):
    """The requests of the hour, or of the run, are used up."""


class OutOfTime(Refusal):
    """The time of the run is used up."""


class Unreachable(Refusal):
    """The deployment did not answer.

    Args:
        message: What happened.
        exchange: What was sent, with an answer of status 0.
    """

    def __init__(self, message: str, exchange: Exchange) -> None:
        super().__init__(message)
        self.exchange = exchange

"""The smallest requests that tell the readings of a switch apart, where no probe sends them.

An experiment only sends; what its exchanges show is for the readings to say.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Final

from understudy.deployments.exchange import Exchange
from understudy.deployments.refusals import BudgetSpent, OutOfTime, Refusal
from understudy.verify.gateway import Gateway
from understudy.verify.needs import lacking
from understudy.verify.pictures import picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.readings.switch_readings import md5_of


@dataclass(frozen=True, slots=True)
class Experiment:
    """Requests for one question.

    Attributes:
        rule: Id of the rule that assumes an answer.
        needs: What the target must give or permit, as named in ``needs``.
        run: Sends them.
    """

    rule: str
    needs: tuple[str, ...]
    run: Callable[[ProbeClient], object]

    @property
    def name(self) -> str:
        """The name of its sender in reports."""
        return f"experiment {self.run.__name__.strip('_')}"


def _lookup_by_md5(client: ProbeClient) -> None:
    """Looks the test account up by the MD5 hash of its primary address."""
    client.get(f"/profiles/{md5_of(client.known.emails[0])}")


def _upload_of_webp(client: ProbeClient) -> None:
    """Uploads a WebP picture, which is deleted again if it is taken."""
    upload(client, picture("WEBP"), select_avatar="false")


EXPERIMENTS: Final = (
    Experiment("email-hash-normalised", ("emails",), _lookup_by_md5),
    Experiment("upload-image-types", ("owner", "writes", "uploads"), _upload_of_webp),
)


def carry_out_experiments(
    gateway: Gateway, earlier: Sequence[Exchange], wanted: Container[str]
) -> dict[str, str]:
    """Sends the experiments of some rules.

    Args:
        gateway: Sends the requests.
        earlier: What the run exchanged so far, kept up to date.
        wanted: Ids of the rules.

    Returns:
        The reason why an experiment could not be carried out, by its rule.

    Raises:
        Refusal: The budget or the time is used up.
    """
    reasons = {}
    for experiment in EXPERIMENTS:
        if experiment.rule in wanted:
            reason = lacking(experiment.needs, gateway.target, gateway.time)
            reason = reason or _tried(experiment, ProbeClient(gateway, experiment.name, earlier))
            if reason is not None:
                reasons[experiment.rule] = reason
    return reasons


def _tried(experiment: Experiment, client: ProbeClient) -> str | None:
    """Carries out an experiment, and returns the reason where that cannot be done."""
    try:
        experiment.run(client)
    except (BudgetSpent, OutOfTime):
        raise
    except Refusal as refusal:
        return str(refusal)
    return None

"""The smallest requests that tell the readings of a switch apart, where no probe sends them.

An experiment only sends; what its exchanges show is for the readings to say. That of a number is
sent again with the next number to try, until one is left.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from understudy.deployments.exchange import Exchange
from understudy.deployments.refusals import BudgetSpent, OutOfTime, Refusal
from understudy.interface.facts import Fact
from understudy.verify.gateway import Gateway
from understudy.verify.granting import code, form_of, post
from understudy.verify.history import MADE_UP, made_up_hash
from understudy.verify.needs import lacking
from understudy.verify.pictures import an_avatar, picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.qr_pictures import draw
from understudy.verify.readings.number_readings import Trials, range_of
from understudy.verify.readings.searching import next_trial
from understudy.verify.readings.switch_readings import md5_of
from understudy.verify.rules.code_grant import GRANTED


@dataclass(frozen=True, slots=True)
class Experiment:
    """Requests for one question.

    Attributes:
        rule: Id of the rule that assumes an answer.
        needs: What the target must give or permit, as named in ``needs``.
        run: Sends them.
        requests: How many it sends.
        undo: How the run undoes what it changes; empty where nothing is changed.
    """

    rule: str
    needs: tuple[str, ...]
    run: Callable[[ProbeClient], object]
    requests: int = 1
    undo: str = ""

    @property
    def name(self) -> str:
        """The name of its sender in reports."""
        return f"experiment {self.run.__name__.strip('_')}"


@dataclass(frozen=True, slots=True)
class NumberExperiment:
    """A request that tries a number, for a question whose answer is one.

    Attributes:
        rule: Id of the rule that assumes a number.
        needs: What the target must give or permit, as named in ``needs``.
        run: Tries a number.
        likely: The numbers that operators choose, in ascending order; they are tried first.
        requests: How many a trial sends, those that undo it included.
        undo: How the run undoes what a trial changes; empty where nothing is changed.
        sends_bytes: Whether the number is one of bytes that are sent.
    """

    rule: str
    needs: tuple[str, ...]
    run: Callable[[ProbeClient, int], object]
    likely: tuple[int, ...]
    requests: int = 1
    undo: str = ""
    sends_bytes: bool = False

    @property
    def name(self) -> str:
        """The name of its sender in reports."""
        return f"experiment {self.run.__name__.strip('_')}"


_UPLOADING: Final = ("owner", "writes", "uploads")
_DELETED: Final = "the uploaded avatars are deleted"
_PUT_BACK: Final = "the clock is put back, where it was moved"


def _lookup_by_md5(client: ProbeClient) -> None:
    """Looks the test account up by the MD5 hash of its primary address."""
    client.get(f"/profiles/{md5_of(client.known.emails[0])}")


def _assignments_of_unknowns(client: ProbeClient) -> None:
    """Assigns an unknown avatar, one for an unknown address, and an unknown one for an unknown address."""
    avatar, own, unknown = an_avatar(client), client.known.own_hashes[0], made_up_hash(6)
    for image, hash_ in ((MADE_UP, own), (avatar, unknown), (MADE_UP, unknown)):
        path = f"/me/avatars/{image}/email"
        client.send("POST", path, "owner", json={"email_hash": hash_})


def _two_lookups(client: ProbeClient) -> None:
    """Looks the test account up twice; where time can be moved, in a new hour and minutes apart."""
    path = f"/profiles/{client.known.slug}"
    for span in (timedelta(hours=1, minutes=7, seconds=7), timedelta(minutes=7, seconds=7)):
        if client.gateway.time.advance is not None:
            client.advance(span)
        client.get(path)


def _upload_of_webp(client: ProbeClient) -> None:
    """Uploads a WebP picture, which is deleted again if it is taken."""
    upload(client, picture("WEBP"), select_avatar="false")


def _upload_of_size(client: ProbeClient, size: int) -> None:
    """Uploads a picture of so many bytes, which is deleted again if it is taken."""
    content = picture()
    upload(client, content + bytes(size - len(content)), select_avatar="false")


def _code_of_size(client: ProbeClient, size: int) -> None:
    """Draws a code that is so many pixels wide."""
    draw(client, size=str(size))


def _code_of_age(client: ProbeClient, lifetime: int) -> None:
    """Redeems a code that counts if codes live so many seconds, and not if they live a step less."""
    granted = code(client)
    client.advance(timedelta(seconds=lifetime - range_of("code-lifetime").step / 2))
    post(client, form_of(client.app, granted))


EXPERIMENTS: Final = (
    Experiment("email-hash-normalised", ("emails",), _lookup_by_md5),
    Experiment("upload-image-types", _UPLOADING, _upload_of_webp, 2, _DELETED),
    Experiment(
        "avatar-email-both-unknown",
        (*_UPLOADING, "hashes"),
        _assignments_of_unknowns,
        5,
        _DELETED,
    ),
    Experiment("rate-limit-window", ("slug",), _two_lookups, 2, _PUT_BACK),
)

NUMBER_EXPERIMENTS: Final = (
    NumberExperiment(
        "upload-size-limit",
        _UPLOADING,
        _upload_of_size,
        (
            *(100_000, 131_072, 200_000, 262_144, 500_000, 524_288, 1_000_000, 1_048_576),
            *(2_000_000, 2_097_152, 3_000_000, 3_145_728, 4_000_000, 4_194_304),
            *(5_000_000, 5_242_880, 8_000_000, 8_388_608, 10_000_000, 10_485_760),
        ),
        requests=2,
        undo=_DELETED,
        sends_bytes=True,
    ),
    NumberExperiment(
        "qr-size-bounds",
        ("slug",),
        _code_of_size,
        (512, 600, 720, 800, 1000, 1024, 1200, 1500, 1600, 1920, 2000, 2048),
    ),
    NumberExperiment(
        "code-lifetime",
        (*GRANTED, "clock"),
        _code_of_age,
        (60, 120, 180, 300, 600, 900, 1800, 3600),
        requests=5,
        undo=f"{_PUT_BACK}; the tokens that were issued remain",
    ),
)


SENDERS: Final = {each.name: each.rule for each in (*EXPERIMENTS, *NUMBER_EXPERIMENTS)}
"""The rule of each experiment, by the source of its exchanges."""


def carry_out_experiments(
    gateway: Gateway,
    earlier: Sequence[Exchange],
    wanted: Container[str],
    trials: Trials,
    facts: Mapping[str, Fact],
) -> dict[str, str]:
    """Sends the experiments of some rules.

    Args:
        gateway: Sends the requests.
        earlier: What the run exchanged so far, kept up to date.
        wanted: Ids of the rules.
        trials: Reads which numbers were accepted.
        facts: What was learnt of the deployment before, by rule: its numbers are tried first.

    Returns:
        The reason why an experiment could not be carried out, by its rule.

    Raises:
        Refusal: The budget or the time is used up.
    """
    reasons = {}
    for experiment in EXPERIMENTS:
        if experiment.rule in wanted:
            reason = lacking(experiment.needs, gateway.target, gateway.time)
            client = ProbeClient(gateway, experiment.name, earlier)
            reason = reason or _tried(partial(experiment.run, client))
            if reason is not None:
                reasons[experiment.rule] = reason
    for search in NUMBER_EXPERIMENTS:
        if search.rule in wanted:
            reason = lacking(search.needs, gateway.target, gateway.time)
            client = ProbeClient(gateway, search.name, earlier)
            expected = _number_in(facts.get(search.rule))
            reason = reason or _tried(partial(_search, search, client, trials, expected))
            if reason is not None:
                reasons[search.rule] = reason
    return reasons


def _number_in(fact: Fact | None) -> int | None:
    return int(fact.reading) if fact is not None and fact.reading.isdecimal() else None


def _search(
    search: NumberExperiment, client: ProbeClient, trials: Trials, expected: int | None
) -> None:
    """Tries one number after the other until one is left, or a trial shows nothing."""
    trials.heed(client.earlier)
    bracket = trials.bracket(search.rule)
    number = next_trial(bracket, search.likely, expected)
    while number is not None:
        search.run(client, number)
        trials.heed(client.earlier)
        before, bracket = bracket, trials.bracket(search.rule)
        number = None if bracket == before else next_trial(bracket, search.likely, expected)


def _tried(run: Callable[[], object]) -> str | None:
    """Carries out an experiment, and returns the reason where that cannot be done."""
    try:
        run()
    except (BudgetSpent, OutOfTime):
        raise
    except Refusal as refusal:
        return str(refusal)
    return None

"""The smallest requests that tell the readings of a switch apart, where no probe sends them.

An experiment only sends; what its exchanges show is for the readings to say.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.facts import Fact
from understudy.interface.scopes import AUTH, MANAGE_PROFILE
from understudy.verify.gateway import Gateway
from understudy.verify.history import MADE_UP, made_up_hash
from understudy.verify.permits import BudgetSpent, OutOfTime, Refusal
from understudy.verify.pictures import an_avatar, picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import lacking
from understudy.verify.readings.number_experiments import (
    DELETED,
    NUMBER_EXPERIMENTS,
    PUT_BACK,
    UPLOADING,
    expected_number,
    find_number,
)
from understudy.verify.readings.number_readings import Trials
from understudy.verify.readings.switch_readings import md5_of
from understudy.verify.rules.code_grant import GRANTED
from understudy.verify.rules.read_scopes import (
    ask_about_address,
    list_avatars,
    read_profile,
    token_of,
)
from understudy.verify.rules.update_precedence import send_number


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


_ISSUED: Final = "the tokens that were issued remain"


def _lookup_by_md5(client: ProbeClient) -> None:
    """Looks the test account up by the MD5 hash of its primary address."""
    client.get(f"/profiles/{md5_of(client.known.emails[0])}")


def _assignments_of_unknowns(client: ProbeClient) -> None:
    """Assigns an unknown avatar, one for an unknown address, and an unknown one for an unknown address."""
    avatar, own, unknown = an_avatar(client), client.known.own_hashes[0], made_up_hash(6)
    for image, hash_ in ((MADE_UP, own), (avatar, unknown), (MADE_UP, unknown)):
        path = f"/me/avatars/{image}/email"
        client.send("POST", path, "owner", json={"email_hash": hash_})


def _updates_with_errors(client: ProbeClient) -> None:
    """Gives an unknown avatar a rating, an avatar an unknown one, and an unknown one an unknown one."""
    avatar = an_avatar(client)
    for image, rating in ((MADE_UP, "G"), (avatar, "M"), (MADE_UP, "M")):
        client.send("PATCH", f"/me/avatars/{image}", "owner", json={"rating": rating})


def _profile_updates_with_errors(client: ProbeClient) -> None:
    """Sends an update with a token that may only read, an invalid one, and an invalid one so."""
    client.send("PATCH", "/me/profile", "reader", json={"job_title": "nowhere"})
    send_number(client, "owner")
    send_number(client, "reader")


def _own_profile_without_read_scope(client: ProbeClient) -> None:
    """Reads the own profile with a token that can sign in alone, and with one that can manage alone."""
    _with_lesser_scopes(client, read_profile)


def _avatars_without_read_scope(client: ProbeClient) -> None:
    """Lists the avatars with the same two tokens."""
    _with_lesser_scopes(client, list_avatars)


def _address_without_read_scope(client: ProbeClient) -> None:
    """Asks about an e-mail address with the same two tokens."""
    _with_lesser_scopes(client, ask_about_address)


def _with_lesser_scopes(client: ProbeClient, read: Callable[[ProbeClient, str], None]) -> None:
    read(client, "auth_only" if client.has("auth_only") else token_of(client, AUTH))
    read(client, token_of(client, AUTH, MANAGE_PROFILE))


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


EXPERIMENTS: Final = (
    Experiment("email-hash-normalised", ("emails",), _lookup_by_md5),
    Experiment("upload-image-types", UPLOADING, _upload_of_webp, 2, DELETED),
    Experiment(
        "avatar-email-both-unknown",
        (*UPLOADING, "hashes"),
        _assignments_of_unknowns,
        5,
        DELETED,
    ),
    Experiment("avatar-body-both-wrong", UPLOADING, _updates_with_errors, 5, DELETED),
    Experiment(
        "scope-body-both-wrong",
        ("owner", "reader", "writes"),
        _profile_updates_with_errors,
        3,
        "the profile is restored",
    ),
    Experiment("scope-of-own-profile", GRANTED, _own_profile_without_read_scope, 8, _ISSUED),
    Experiment("scope-of-avatar-list", GRANTED, _avatars_without_read_scope, 8, _ISSUED),
    Experiment("scope-of-associated-email", GRANTED, _address_without_read_scope, 8, _ISSUED),
    Experiment("rate-limit-window", ("slug",), _two_lookups, 2, PUT_BACK),
)

SENDERS: Final[Mapping[str, str]] = {
    **{each.name: each.rule for each in EXPERIMENTS},
    **{each.name: each.rule for each in NUMBER_EXPERIMENTS},
}
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
            expected = expected_number(search, trials, facts)
            reason = reason or _tried(partial(find_number, search, client, trials, expected))
            if reason is not None:
                reasons[search.rule] = reason
    return reasons


def _tried(run: Callable[[], object]) -> str | None:
    """Carries out an experiment, and returns the reason where that cannot be done."""
    try:
        run()
    except (BudgetSpent, OutOfTime):
        raise
    except Refusal as refusal:
        return str(refusal)
    return None

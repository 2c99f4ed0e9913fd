"""The requests that try a number, for the questions whose answer is one.

A trial only sends; whether its number was accepted is for the readings to say. It is sent again
with the next number to try, until one is left.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from understudy.interface.facts import Fact
from understudy.verify.account_history import update
from understudy.verify.browsing import code, form_of, post
from understudy.verify.permits import NotPermitted
from understudy.verify.pictures import avatars, draw, id_of, picture, plain_picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.readings.number_readings import Trials, length_rule, range_of
from understudy.verify.readings.searching import next_trial
from understudy.verify.rules.code_grant import GRANTED
from understudy.verify.shapes import EDITABLE

UPLOADING: Final = ("owner", "writes", "uploads")
DELETED: Final = "the uploaded avatars are deleted"
PUT_BACK: Final = "the clock is put back, where it was moved"

MOST_UPLOADS: Final = 100
"""Avatars that a run uploads at most to see how many an account may have."""


@dataclass(frozen=True, slots=True)
class NumberExperiment:
    """A request that tries a number, for a question whose answer is one.

    Attributes:
        rule: Id of the rule that assumes a number.
        sender: The end of the name of its sender in reports.
        needs: What the target must give or permit, as named in ``needs``.
        run: Tries a number.
        likely: The numbers that operators choose, in ascending order; they are tried first.
        requests: How many a trial sends, those that undo it included.
        undo: How the run undoes what a trial changes; empty where nothing is changed.
        sends_bytes: Whether the number is one of bytes that are sent.
        alike: Id of a rule whose number is likely to be the same; empty where there is none.
        uploads: Uploads after which the search ends, where the number is one of avatars, which can
            only be counted up; 0 where it can be halved.
    """

    rule: str
    sender: str
    needs: tuple[str, ...]
    run: Callable[[ProbeClient, int], object]
    likely: tuple[int, ...]
    requests: int = 1
    undo: str = ""
    sends_bytes: bool = False
    alike: str = ""
    uploads: int = 0

    @property
    def name(self) -> str:
        """The name of its sender in reports."""
        return f"experiment {self.sender}"


def _upload_of_size(client: ProbeClient, size: int) -> None:
    """Uploads a picture of so many bytes, and deletes it again if it is taken."""
    content = picture()
    _upload_and_delete(client, content + bytes(size - len(content)))


def _upload_of_width(client: ProbeClient, side: int) -> None:
    """Uploads a picture that is so many pixels wide, and deletes it again if it is taken."""
    _upload_and_delete(client, plain_picture(side))


def _upload_and_delete(client: ProbeClient, content: bytes) -> None:
    """Uploads a picture, and deletes it at once, so that the account is not filled up by trials."""
    uploaded = upload(client, content, select_avatar="false")
    if uploaded.response.is_success:
        client.send("DELETE", f"/me/avatars/{id_of(uploaded)}", "owner")


def _upload_of_one_more(client: ProbeClient, _number: int) -> None:
    """Lists the avatars, and uploads one more."""
    avatars(client)
    upload(client, picture(), select_avatar="false")


def _code_of_size(client: ProbeClient, size: int) -> None:
    """Draws a code that is so many pixels wide."""
    draw(client, size=str(size))


def _code_below(client: ProbeClient, least: int) -> None:
    """Draws a code that is one pixel narrower than a width which may be the smallest."""
    draw(client, size=str(least - 1))


def _code_of_age(client: ProbeClient, lifetime: int) -> None:
    """Redeems a code that counts if codes live so many seconds, and not if they live a step less."""
    granted = code(client)
    client.advance(timedelta(seconds=lifetime - range_of("code-lifetime").step / 2))
    post(client, form_of(client.app, granted))


def _update_with(member: str) -> Callable[[ProbeClient, int], object]:
    """Returns what sets a member of the own profile to a text of so many characters."""

    def run(client: ProbeClient, length: int) -> None:
        update(client, **{member: "u" * length})

    return run


def _of_texts() -> Iterator[NumberExperiment]:
    """Yields the experiments for the texts of the own profile, which often have one bound."""
    before = ""
    for member in EDITABLE:
        yield NumberExperiment(
            length_rule(member),
            f"{member}_of_length",
            ("owner", "writes"),
            _update_with(member),
            (
                *(100, 120, 128, 140, 150, 160, 200, 250, 255, 256, 300, 400, 500),
                *(512, 1000, 1024, 1500, 2000, 2048, 2500, 3000, 4000, 4096, 5000, 8000, 8192),
            ),
            undo="the profile is restored",
            alike=before,
        )
        before = length_rule(member)


NUMBER_EXPERIMENTS: Final[Sequence[NumberExperiment]] = (
    NumberExperiment(
        "upload-size-limit",
        "upload_of_size",
        UPLOADING,
        _upload_of_size,
        (
            *(100_000, 131_072, 200_000, 262_144, 500_000, 524_288, 1_000_000, 1_048_576),
            *(2_000_000, 2_097_152, 3_000_000, 3_145_728, 4_000_000, 4_194_304),
            *(5_000_000, 5_242_880, 8_000_000, 8_388_608, 10_000_000, 10_485_760),
        ),
        requests=2,
        undo=DELETED,
        sends_bytes=True,
    ),
    NumberExperiment(
        "upload-largest-side",
        "upload_of_width",
        UPLOADING,
        _upload_of_width,
        (
            *(512, 600, 800, 1000, 1024, 1200, 1500, 1600, 1920, 2000, 2048, 2500, 2560),
            *(3000, 3072, 3840, 4000, 4096, 5000, 6000),
        ),
        requests=2,
        undo=DELETED,
    ),
    NumberExperiment(
        "qr-size-bounds",
        "code_of_size",
        ("slug",),
        _code_of_size,
        (512, 600, 720, 800, 1000, 1024, 1200, 1500, 1600, 1920, 2000, 2048),
    ),
    NumberExperiment(
        "qr-smallest-size",
        "code_below",
        ("slug",),
        _code_below,
        (1, 8, 10, 16, 20, 32, 40, 50, 64, 80),
    ),
    *_of_texts(),
    NumberExperiment(
        "code-lifetime",
        "code_of_age",
        (*GRANTED, "clock"),
        _code_of_age,
        (60, 120, 180, 300, 600, 900, 1800, 3600),
        requests=5,
        undo=f"{PUT_BACK}; the tokens that were issued remain",
    ),
    NumberExperiment(
        "avatars-most",
        "upload_of_one_more",
        UPLOADING,
        _upload_of_one_more,
        (),
        requests=2,
        undo=DELETED,
        uploads=MOST_UPLOADS,
    ),
)
"""The searches of a run, in their order; the one that costs most is the last."""


def expected_number(
    search: NumberExperiment, trials: Trials, facts: Mapping[str, Fact]
) -> int | None:
    """Returns the number that is tried first: the one learnt before, or that of a rule alike."""
    fact = facts.get(search.rule)
    if fact is not None and fact.reading.isdecimal():
        return int(fact.reading)
    bracket = trials.bracket(search.alike) if search.alike else None
    is_settled = bracket is not None and bracket.is_settled and bracket.value.isdecimal()
    return int(bracket.value) if bracket is not None and is_settled else None


def find_number(
    search: NumberExperiment, client: ProbeClient, trials: Trials, expected: int | None
) -> None:
    """Tries one number after the other until one is left, or a trial shows nothing."""
    if search.uploads:
        _count_up(search, client, trials)
        return
    trials.heed(client.earlier)
    bracket = trials.bracket(search.rule)
    number = next_trial(bracket, search.likely, expected)
    while number is not None:
        search.run(client, number)
        trials.heed(client.earlier)
        before, bracket = bracket, trials.bracket(search.rule)
        number = None if bracket == before else next_trial(bracket, search.likely, expected)


def _count_up(search: NumberExperiment, client: ProbeClient, trials: Trials) -> None:
    """Uploads one avatar after the other until one is refused, or there were enough uploads.

    What is refused is tried again at once, and then all are deleted, as nothing else can be uploaded
    to an account that is full.

    Raises:
        NotPermitted: None was refused, and a run uploads no more.
    """
    avatars(client)
    uploaded = []
    for _upload in range(search.uploads):
        exchange = upload(client, picture(), select_avatar="false")
        if not exchange.response.is_success:
            _upload_of_one_more(client, 0)
            break
        uploaded.append(id_of(exchange))
    trials.heed(client.earlier)
    for image in uploaded:
        client.send("DELETE", f"/me/avatars/{image}", "owner")
    if len(uploaded) == search.uploads:
        msg = f"a run uploads {search.uploads} avatars at most"
        raise NotPermitted(msg)

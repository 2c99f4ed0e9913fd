"""Scenarios: Hypothesis state machines that send requests in any order and compare with a model.

Every exchange goes through the same gateway and evaluator as a probe's. A broken rule ends the
sequence, Hypothesis shrinks it, and the smallest sequence becomes the finding's steps.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any, ClassVar, Final

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from understudy.exchange.messages import Exchange
from understudy.interface.scopes import SCOPES
from understudy.verify.browsing import code, decide, form_of, parameters, password_form
from understudy.verify.history import avatars_in
from understudy.verify.permits import NotPermitted, Refusal
from understudy.verify.pictures import picture
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import lacking
from understudy.verify.run import Phase as RunPhase
from understudy.verify.run import RuleBroken, Run
from understudy.verify.shapes import EDITABLE


class Machine(RuleBasedStateMachine):
    """A scenario: a state machine that sends requests and expects what its model says.

    Args:
        run: The run that it belongs to.
        name: Its name in reports.
        goes_on: True to go on after a broken rule, if sequences are compared and not judged.
    """

    needs: ClassVar[tuple[str, ...]] = ()

    def __init__(self, run: Run, name: str, *, goes_on: bool = False) -> None:
        super().__init__()
        self.run = run
        self.goes_on = goes_on
        # earlier exchanges would blur the cause
        run.evaluator.history = run.evaluator.history.emptied()
        self.client = ProbeClient(run.gateway, f"scenario {name}")
        self.steps: list[Exchange] = []

    def send(self, method: str, path: str, who: str = "anonymous", **more: Any) -> Exchange:
        """Sends a request, and ends the scenario if the response breaks a rule.

        Raises:
            RuleBroken: The response breaks a rule, and the scenario does not go on.
        """
        exchange = self.client.send(method, path, who, **more)
        self.steps.append(exchange)
        for broken, result in self.run.evaluator.broken:
            if broken.startswith("rate-limit"):
                continue  # others may use up the same hour
            self._break(broken, result.expected, result.actual)
        return exchange

    def expect(self, rule: str, actual: object, expected: object) -> None:
        """Compares the deployment with the model.

        Raises:
            RuleBroken: They differ, and the scenario does not go on.
        """
        if actual != expected:
            self.run.evaluator.disagree(rule, self.steps[-1], str(expected), str(actual))
            self._break(rule, str(expected), str(actual))

    def _break(self, rule: str, expected: str, actual: str) -> None:
        if self.goes_on:
            return
        self.run.broken = RuleBroken(rule, expected, actual, tuple(self.steps))
        raise self.run.broken


# Only the scenario's own avatars are changed, so that everything can be undone.

RATINGS = st.sampled_from(["G", "PG", "R", "X"])
TEXTS = st.sampled_from(["", "An understudy", "Ein Bild", "<i>"])
CHANGES = st.fixed_dictionaries({}, optional={"rating": RATINGS, "alt_text": TEXTS})


class AvatarLife(Machine):
    """The avatars that the scenario uploaded, and their expected values."""

    needs: ClassVar[tuple[str, ...]] = ("owner", "writes", "uploads", "hashes")

    @initialize()
    def look(self) -> None:
        """Reads the existing avatars."""
        self.avatars: dict[str, dict[str, object]] = {}
        existing = avatars_in(self.send("GET", "/me/avatars", "owner"))
        self.others = {str(avatar.get("image_id")) for avatar in existing}

    @rule(select_avatar=st.sampled_from(["true", "false"]))
    def upload(self, select_avatar: str) -> None:
        """Uploads a picture."""
        files = {self.client.inputs.upload_field: ("understudy.png", picture(), "image/png")}
        query = {"select_avatar": select_avatar}
        avatar = self.send("POST", "/me/avatars", "owner", query=query, files=files).json_object
        if "image_id" in avatar:
            fields = {"rating": avatar.get("rating"), "alt_text": avatar.get("alt_text")}
            self.avatars[str(avatar["image_id"])] = fields

    @precondition(lambda self: self.avatars)
    @rule(data=st.data(), changes=CHANGES)
    def update(self, data: st.DataObject, changes: dict[str, object]) -> None:
        """Changes an avatar's rating or text alternative."""
        image = data.draw(st.sampled_from(list(self.avatars)))  # in order of uploads
        self.send("PATCH", f"/me/avatars/{image}", "owner", json=changes)
        self.avatars[image] |= changes

    @precondition(lambda self: self.avatars)
    @rule(data=st.data())
    def assign(self, data: st.DataObject) -> None:
        """Selects an avatar for an e-mail address."""
        image = data.draw(st.sampled_from(list(self.avatars)))  # in order of uploads
        hash_ = data.draw(st.sampled_from(self.client.known.own_hashes))
        path = f"/me/avatars/{image}/email"
        self.send("POST", path, "owner", json={"email_hash": hash_})

    @precondition(lambda self: self.avatars)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """Deletes an avatar."""
        image = data.draw(st.sampled_from(list(self.avatars)))  # in order of uploads
        self.send("DELETE", f"/me/avatars/{image}", "owner")
        del self.avatars[image]

    @rule()
    def read(self) -> None:
        """Lists the avatars and compares them with the model."""
        listed = avatars_in(self.send("GET", "/me/avatars", "owner"))
        actual = {
            str(avatar.get("image_id")): {n: avatar.get(n) for n in ("rating", "alt_text")}
            for avatar in listed
        }
        own = {image: fields for image, fields in actual.items() if image not in self.others}
        self.expect("avatar-list-of-caller", sorted(own), sorted(self.avatars))
        self.expect("avatar-patch-partial", own, self.avatars)

    def teardown(self) -> None:
        """Deletes the remaining avatars, so that the next sequence begins like this one."""
        for image in self.__dict__.get("avatars", {}):
            self.client.send("DELETE", f"/me/avatars/{image}", "owner")


PROFILE_TEXTS = st.sampled_from(["", "Understudy", "Zwei Wörter", "a" * 60, "<b>", "0", " x "])
EDITS = st.dictionaries(st.sampled_from(EDITABLE), PROFILE_TEXTS, max_size=3)
REFUSED = st.sampled_from([{"hash": "x"}, {"timezone": "Etc/UTC"}, {"location": 7}])


class ProfileEdits(Machine):
    """The profile of the test account, and its expected values."""

    needs: ClassVar[tuple[str, ...]] = ("owner", "writes", "slug")

    @initialize()
    def begin(self) -> None:
        """Sets every field to the same text at the start."""
        self.look()
        self.update(dict.fromkeys(EDITABLE, "Before"))

    def look(self) -> None:
        """Reads the current values as the expected ones."""
        profile = self.send("GET", "/me/profile", "owner").json_object
        self.expected = {name: profile.get(name) for name in EDITABLE}

    @rule(edits=EDITS)
    def update(self, edits: dict[str, str]) -> None:
        """Changes some fields."""
        exchange = self.send("PATCH", "/me/profile", "owner", json=edits)
        if exchange.response.is_success:
            self.expected |= edits

    @rule(edits=EDITS, more=REFUSED)
    def update_with_refused_member(self, edits: dict[str, str], more: dict[str, object]) -> None:
        """Adds a member that cannot be changed; nothing else may change."""
        exchange = self.send("PATCH", "/me/profile", "owner", json={**edits, **more})
        if exchange.response.is_success:  # a deployment may ignore unknown members
            self.look()

    @rule(who=st.sampled_from(["owner", "anonymous"]))
    def read(self, who: str) -> None:
        """Reads the profile as owner or anonymous and compares it with the model."""
        exchange = self.send("GET", f"/profiles/{self.client.known.slug}", who)
        actual = {name: exchange.json_object.get(name) for name in EDITABLE}
        self.expect("profile-patch-partial", actual, self.expected)


SPANS = st.sampled_from([timedelta(minutes=4), timedelta(hours=2), timedelta(days=8)])


class TokenLife(Machine):
    """The codes and tokens of the test account."""

    needs: ClassVar[tuple[str, ...]] = ("auth_url", "app", "tokens", "approval", "password")

    @initialize()
    def begin(self) -> None:
        """Starts without codes and tokens."""
        self.codes: list[str] = []
        self.tokens: list[str] = []

    def _post(self, form: list[tuple[str, str]]) -> None:
        url = f"{self.client.target.auth_url}/oauth2/token"
        token = self.send("POST", url, form=form).json_object.get("access_token")
        if isinstance(token, str):
            self.tokens.append(self.client.learn(token, frozenset(SCOPES[:2])))

    @rule()
    def approve_a_code(self) -> None:
        """Obtains an authorization code."""
        self.codes.append(code(self.client))

    @precondition(lambda self: self.codes)
    @rule(data=st.data())
    def exchange(self, data: st.DataObject) -> None:
        """Exchanges a code, new or used."""
        self._post(form_of(self.client.app, data.draw(st.sampled_from(self.codes))))

    @rule()
    def approve_a_token(self) -> None:
        """Obtains a token by the implicit grant."""
        redirect_parameters = decide(
            self.client, parameters(self.client.app, response_type="token")
        ).redirect_parameters
        if "access_token" in redirect_parameters:
            scopes = frozenset(SCOPES[:2])
            self.tokens.append(self.client.learn(redirect_parameters["access_token"], scopes))

    @rule()
    def use_the_password(self) -> None:
        """Obtains a token by the password grant."""
        self._post(password_form(self.client.app))

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def use(self, data: st.DataObject) -> None:
        """Reads the own profile and the token information with a token."""
        token = data.draw(st.sampled_from(self.tokens))
        self.send("GET", "/me/profile", token)
        query = {"client_id": self.client.app.client_id, "token": token}
        self.send("GET", f"{self.client.target.auth_url}/oauth2/token-info", query=query)

    @precondition(lambda self: self.client.gateway.time.advance is not None)
    @rule(span=SPANS)
    def wait(self, span: timedelta) -> None:
        """Advances the deployment's clock."""
        self.client.advance(span)


SCENARIOS: Final[Mapping[str, type[Machine]]] = {
    "profile-edits": ProfileEdits,
    "avatar-life": AvatarLife,
    "token-life": TokenLife,
}


MOST_STEPS: Final = 12
"""The most requests of a sequence."""


def scenarios(examples: int) -> RunPhase:
    """Returns the phase that runs every scenario, with this many sequences of each."""

    def phase(run: Run) -> None:
        for name in _permitted(run):
            with _noted(run, f"the scenario {name}"):
                play(run, name, examples)
        if run.state is not None:
            run.state.play(run, examples, MOST_STEPS)

    return phase


@contextmanager
def _noted(run: Run, what: str) -> Iterator[None]:
    """Ends a part at a request that is not permitted, and records that it was cut short."""
    try:
        yield
    except NotPermitted as refusal:
        run.not_run.append(f"{what}: {refusal}")


def _permitted(run: Run) -> list[str]:
    """Returns the scenarios that the target permits; none of another service."""
    target, time = run.deployment.target, run.deployment.time
    able = [name for name, it in SCENARIOS.items() if lacking(it.needs, target, time) is None]
    return able if run.has_interface else []


def play(run: Run, name: str, examples: int, steps: int = MOST_STEPS) -> str:
    """Runs a scenario.

    Returns:
        The id of the rule that is broken, or an empty string.

    Raises:
        Refusal: The budget or the time is used up.
    """
    chosen = scenario_settings(examples, steps)
    machine = partial(SCENARIOS[name], run, name)
    if run.options.examples is None:
        return play_machine(run, machine, chosen)
    from understudy.verify.shared_ledger import shared_examples  # noqa: PLC0415 - of an extra

    base_url = run.deployment.target.base_url
    with shared_examples(run.options.examples, base_url, name) as database:
        phases = (Phase.reuse, *chosen.phases)  # first the examples that broke a rule anywhere
        shared = settings(chosen, derandomize=False, database=database, phases=phases)
        return play_machine(run, seed(run.options.seed)(machine), shared)


def scenario_settings(examples: int, steps: int) -> settings:
    """Returns Hypothesis's settings to generate sequences, and to shrink one that breaks a rule."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        verbosity=Verbosity.quiet,  # else Hypothesis prints steps in front of the JSON report
    )


def play_machine(run: Run, machine: Callable[[], RuleBasedStateMachine], chosen: settings) -> str:
    """Runs a state machine, and returns the id of the rule that it has shown to be broken, or "".

    Raises:
        Refusal: A request cannot be sent.
    """
    run.forget()
    refusal = None
    try:
        run_state_machine_as_test(machine, settings=chosen)  # type: ignore[arg-type]  # accepts any factory
    except (RuleBroken, Flaky):
        pass  # flaky: the deployment may have other users
    except Refusal as error:
        refusal = error
    except BaseExceptionGroup as group:  # a rule was broken, and the budget ended the shrinking
        refusal = _refusal_in(group)
    if run.broken is not None:
        run.evaluator.shorten(run.broken.rule, run.broken.steps)
    if refusal is not None:
        raise refusal
    return run.broken.rule if run.broken is not None else ""


def _refusal_in(group: BaseExceptionGroup[BaseException]) -> Refusal | None:
    """Returns the refusal among several errors of a scenario.

    Raises:
        BaseExceptionGroup: It holds other errors than refusals and broken rules.
    """
    _, others = group.split((Refusal, RuleBroken, Flaky))
    if others is not None:
        raise others
    error: BaseException | None = group.subgroup(Refusal)
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, Refusal) else None


# Walks compare deployments. Nothing is shrunk and no broken rule ends a walk: each deployment gets
# the same requests, as long as its responses allow them.

STEPS: Final = 10
"""The most requests of a walk, beside those that begin and end it."""


def walks(number: int, begin: int = 0) -> RunPhase:
    """Returns the phase that walks through every scenario that a target permits.

    Args:
        number: Walks through each scenario; the first of them is the simplest.
        begin: Seed of the walks.
    """

    def phase(run: Run) -> None:
        for name in _permitted(run):
            _walk(run, name, number, begin)

    return phase


def _walk(run: Run, name: str, number: int, begin: int) -> None:
    """Walks through a scenario, up to a request that is not permitted.

    Raises:
        Refusal: The budget or the time is used up.
    """
    numbers = count(1)

    def machine() -> Machine:
        return SCENARIOS[name](run, f"{name} {next(numbers)}", goes_on=True)

    factory = seed(begin)(machine)
    chosen = settings(scenario_settings(number, STEPS), phases=(Phase.generate,), derandomize=False)
    with _noted(run, f"the rest of the walks through {name}"):
        play_machine(run, factory, chosen)

"""Scenarios: Hypothesis state machines that send requests in any order and compare with a model.

Every exchange goes through the same gateway and evaluator as a probe's. A broken rule ends the
sequence, Hypothesis shrinks it, and the smallest sequence becomes the finding's steps.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from understudy.verify.permits import Refusal
from understudy.verify.probing import lacking
from understudy.verify.run import Phase as RunPhase
from understudy.verify.run import RuleBroken, Run
from understudy.verify.scenarios.avatar_life import AvatarLife
from understudy.verify.scenarios.machine import Machine
from understudy.verify.scenarios.profile_edits import ProfileEdits
from understudy.verify.scenarios.token_life import TokenLife

SCENARIOS: Final[Mapping[str, type[Machine]]] = {
    "profile-edits": ProfileEdits,
    "avatar-life": AvatarLife,
    "token-life": TokenLife,
}


def scenarios(examples: int, steps: int = 12) -> RunPhase:
    """Returns the phase that runs every scenario.

    Args:
        examples: Sequences of each scenario.
        steps: The most requests of a sequence.
    """

    def phase(run: Run) -> None:
        for name in SCENARIOS if run.has_interface else ():
            is_ready = (
                lacking(SCENARIOS[name].needs, run.deployment.target, run.deployment.time) is None
            )
            if is_ready:
                play(run, name, examples, steps)
        if run.state is not None:
            run.state.play(run, examples, steps)

    return phase


def play(run: Run, name: str, examples: int, steps: int = 12) -> str:
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
    from understudy.verify.scenarios.shared_examples import shared_examples  # noqa: PLC0415 - of an extra

    base_url = run.deployment.target.base_url
    with shared_examples(run.options.examples, base_url, name) as database:
        phases = (Phase.reuse, *chosen.phases)  # what broke a rule anywhere is tried first
        shared = settings(chosen, derandomize=False, database=database, phases=phases)
        return play_machine(run, seed(run.options.seed)(machine), shared)


def scenario_settings(examples: int, steps: int) -> settings:
    """Returns how Hypothesis makes sequences, and shrinks one that breaks a rule."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )


def play_machine(run: Run, machine: Callable[[], RuleBasedStateMachine], chosen: settings) -> str:
    """Runs a state machine, and returns the id of the rule that it has shown to be broken, or "".

    Raises:
        Refusal: A request cannot be sent.
    """
    run.forget()
    refusal = None
    try:
        _run(machine, chosen)
    except (RuleBroken, Flaky):
        pass  # a deployment that others use too may not repeat it
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


def _run(machine: Callable[[], RuleBasedStateMachine], chosen: settings) -> None:
    run_state_machine_as_test(machine, settings=chosen)  # type: ignore[arg-type]  # accepts any factory

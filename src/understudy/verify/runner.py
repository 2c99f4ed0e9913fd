"""Carries out a run: preflight, probes, generated cases, scenarios, undoing; and returns its outcome.

A refusal of the gateway ends a probe, and is the reason why its rules are not checked. Ctrl-C ends
the run, and the outcome holds what was done until then.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from understudy.errors import StartupError
from understudy.exchange.messages import Exchange
from understudy.interface.facts import Fact
from understudy.interface.operations import UPDATE_PROFILE
from understudy.terminal import counted
from understudy.verify.browsing import form_of, password_form, post, sign_in
from understudy.verify.clock import machine_time
from understudy.verify.deployment import Deployment, locked
from understudy.verify.evaluator import UNJUDGED
from understudy.verify.findings import Outcome, PhaseStarted
from understudy.verify.interventions import roots
from understudy.verify.permits import BudgetSpent, OutOfTime, Refusal, Unreachable
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Probe, candidates, needs_of, order_of_parts
from understudy.verify.readings import Trials, carry_out_experiments
from understudy.verify.run import Phase, Run, RunOptions, outcome_of, start
from understudy.verify.showing_again import show_again
from understudy.verify.target import CREDENTIALS, Known, Target, TargetApplication

# A mistake in the target file is reported before anything else is sent; otherwise it would look
# like a dozen findings about the deployment.


TOKENS: Final = {
    need: key for need, key in CREDENTIALS.items() if need not in {"expired", "api_key"}
}
"""The credentials whose token must be valid, and their keys; an expired one need not be."""

VERSIONED: Final = "/v3"
"""The path of the resource API (interface, Addresses), which is easily left out."""

WRONG_CODE: Final = "understudy-wrong-code"
_GRANTING: Final = frozenset({"tokens", "auth_url", "app"})
"""The needs of every attempt to try a password."""

_TITLE = re.compile(r"<title[^>]*>([^<]{1,60})", re.IGNORECASE)

SIGNING_IN: Final = 3
"""Requests that trying a password at the sign-in page takes: the page, its form, and where it leads."""


def planned_requests(target: Target, needs: Collection[str]) -> int:
    """Returns how many requests the preflight sends if every value is right.

    Args:
        target: The target.
        needs: The needs of the probes that can run.
    """
    count = 1 + sum(need in needs for need in TOKENS)  # the document comes first
    count += "api_key" in needs and target.known.slug is not None
    count += len(_named_slugs(target.known, needs))
    count += len(_named_applications(target, needs))
    people = (application for _, application in _named_people(target, needs))
    count += SIGNING_IN * sum(None not in (each.username, each.password) for each in people)
    return count + (set(needs) >= _GRANTING and "two_step" in needs)


def preflight(client: ProbeClient, needs: Collection[str], target_file: Path | None = None) -> None:
    """Tries each value of the target that the run needs once.

    Args:
        client: Sends the requests.
        needs: The needs of the probes that can run.
        target_file: The file of the values, for the message.

    Raises:
        StartupError: The base URL is a web page, or a value of the target was refused.
    """
    mistakes: list[str] = []
    try:
        document = client.get("/openapi")
        _expect_api(document, client.target.base_url)
        _expect_path(client)
        for find in TRIALS:
            mistakes += find(client, needs)
    except Unreachable:
        return  # the run reports it
    except Refusal:
        pass  # the budget ends the preflight, not the run
    if mistakes:
        file = target_file or "the target"
        msg = f"{'; '.join(mistakes)}. Correct {file}, or leave the keys out."
        raise StartupError(msg)


def _expect_api(exchange: Exchange, base_url: str) -> None:
    is_page = exchange.response.media_type == "text/html"
    if not is_page or not exchange.response.is_success:
        return
    title = _TITLE.search(exchange.response.body.decode("utf-8", "replace"))
    named = f' ("{title[1].strip()}")' if title else ""
    msg = (
        f'base_url = "{base_url}" is a web page{named} and not the resource API; '
        "the API's address often ends with a version, such as /v3."
    )
    raise StartupError(msg)


def _expect_path(client: ProbeClient) -> None:
    """Raises an error for a base URL without a path, if the API responds at its usual path."""
    base_url = client.target.base_url.rstrip("/")
    if urlsplit(base_url).path:
        return
    if client.get(f"{base_url}{VERSIONED}/openapi").response.is_success:
        msg = f'base_url = "{base_url}": {base_url}{VERSIONED} responds; did you mean it?'
        raise StartupError(msg)


def _named(target: Target, key: str) -> str:
    """Returns a credential by its key, and the variable that it is read from."""
    variable = target.variables.get(getattr(target.credentials, key) or "")
    return f"[credentials] {key}" + (f" (from {variable})" if variable else "")


def _refused_tokens(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    for need, key in TOKENS.items():
        if need in needs and client.get("/me/profile", need).status == HTTPStatus.UNAUTHORIZED:
            yield f"{_named(client.target, key)} was refused with 401"


def _refused_key(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    if "api_key" in needs and client.known.slug:
        exchange = client.get(f"/profiles/{client.known.slug}", "api_key")
        if exchange.status == HTTPStatus.UNAUTHORIZED:
            yield f"{_named(client.target, 'api_key')} was refused with 401"


def _missing_profiles(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    writer = "owner" if client.has("owner") and "owner" in needs else "anonymous"
    for key, slug in _named_slugs(client.known, needs):
        if client.get(f"/profiles/{slug}", writer).status == HTTPStatus.NOT_FOUND:
            yield f'[known] {key} = "{slug}": there is no such public profile (404)'


def _named_slugs(known: Known, needs: Collection[str]) -> list[tuple[str, str]]:
    """Returns the slugs that are needed, each with its key."""
    slugs = [
        ("slug", known.slug),
        ("other_slug", known.other_slug),
        ("hidden_contact_slug", known.hidden_contact_slug),
        *(("people", slug) for slug in known.people),
    ]
    return [(key, slug) for key, slug in slugs if slug is not None and key in needs]


def _named_applications(
    target: Target, needs: Collection[str]
) -> list[tuple[str, TargetApplication]]:
    """Returns the applications whose secrets are needed, each with its table."""
    applications = {
        "app": ("application", target.application),
        "other_app": ("other_application", target.other_application),
    }
    is_permitted = {"tokens", "auth_url"} <= set(needs)
    return [named for need, named in applications.items() if is_permitted and need in needs]


def _refused_secrets(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    for table, application in _named_applications(client.target, needs):
        error = post(client, form_of(application, WRONG_CODE)).json_object.get("error")
        if error == "invalid_client":
            yield f"[{table}] client_id and client_secret were refused with invalid_client"


def _named_people(target: Target, needs: Collection[str]) -> list[tuple[str, TargetApplication]]:
    """Returns the applications whose owners' passwords are needed, each with its table."""
    people = [
        ("application", target.application, {"password", "approval", "denial"}),
        ("other_application", target.other_application, {"other_person"}),
    ]
    is_permitted = set(needs) >= _GRANTING
    return [(table, app) for table, app, uses in people if is_permitted and uses & set(needs)]


def _refused_passwords(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    for table, application in _named_people(client.target, needs):
        if _is_refused(client, application):
            yield f"[{table}] username and password were refused"
    if "two_step" in needs and set(needs) >= _GRANTING:
        two_step = client.target.two_step
        if _is_invalid_grant(client, two_step, two_step.application_password):
            yield "[two_step] username and application_password were refused with invalid_grant"


def _is_refused(client: ProbeClient, application: TargetApplication) -> bool:
    """Tells whether neither the sign-in page nor the password grant accepts an owner's password.

    If one of them does, the password is right, and the run judges the refusal of the other.
    """
    if application.username is None or application.password is None:
        return False
    if sign_in(client, application.username, application.password) == "accepted":
        return False
    return _is_invalid_grant(client, application, application.password)


def _is_invalid_grant(
    client: ProbeClient, application: TargetApplication, password: str | None
) -> bool:
    exchange = post(client, password_form(application, password=password))
    return exchange.json_object.get("error") == "invalid_grant"


TRIALS: Final = (
    _refused_tokens,
    _refused_key,
    _missing_profiles,
    _refused_secrets,
    _refused_passwords,
)
"""The functions that try one kind of value each, in order."""

_OVER = object()  # sentinel: the generator of a probe has ended

UPDATE_RULE = "profile-patch-partial"
"""The rule that is broken if a profile field does not keep the text that an update sets."""


def carry_out(deployment: Deployment, options: RunOptions) -> Outcome:
    """Carries out a run, and undoes its changes.

    Raises:
        StartupError: The run cannot begin: a file is invalid, another run uses the journal or the
            ledger, or the deployment does not respond.
    """
    with locked(deployment):
        run = start(deployment, options)
        with closing(run.gateway.ledger):
            return _carried_out(run, options)


def _carried_out(run: Run, options: RunOptions) -> Outcome:
    not_restored: list[str] = []
    if options.is_preflighted and run.has_interface:
        client = ProbeClient(run.gateway, "preflight")
        preflight(client, needs_of(_candidates_of(run)), run.deployment.target_file)
    try:
        started, stopped = _phases(run)
    finally:
        run.announce(PhaseStarted("undo"))
        with options.undisturbed():
            not_restored = run.undo.restore()
    _expect_served(run)
    report_unrestored(run)
    whole = _outcome(run, started, stopped or "; ".join(_ended_tokens(run)))
    return replace(whole, not_restored=tuple(not_restored), remaining=tuple(_remaining(run)))


_LAST: Final = 10
"""Requests in a row that must be refused before a token is taken for one that has ended."""


def _ended_tokens(run: Run) -> Iterator[str]:
    """Yields what to say of each given token that was accepted at first, and no longer in the end."""
    target = run.deployment.target
    for key in dict.fromkeys(CREDENTIALS.values()):
        token = getattr(target.credentials, key)
        sent = [it for it in run.exchanges if token is not None and it.request.token == token]
        accepted = [it for it in sent if it.status != HTTPStatus.UNAUTHORIZED]
        refused = [it for it in sent if accepted and it.number > accepted[-1].number]
        before = {it.operation for it in accepted if it.response.is_success}
        if len(refused) >= _LAST and before & {it.operation for it in refused}:
            yield (
                f"{_named(target, key)} was refused with 401 from request {refused[0].number} to the "
                "end; give a token that lasts, or a [login] that renews it"
            )


def run_phases(run: Run) -> Outcome:
    """Runs every phase, without undoing the changes.

    Raises:
        StartupError: The deployment does not respond.
    """
    return _outcome(run, *_phases(run))


def _phases(run: Run) -> tuple[datetime, str]:
    """Runs every phase, and returns when it began, and why it ended early if it did."""
    started, stopped, facts = machine_time(), "", run.evaluator.facts
    try:
        for name, phase in (
            *_FIRST,
            *((("facts", partial(send_experiments, facts=facts)),) if facts else ()),
            *run.options.phases,
            ("findings once more", show_again),
            ("rate limits", _exhausting),
        ):
            run.announce(PhaseStarted(name))
            try:
                phase(run)
            except (BudgetSpent, OutOfTime) as refusal:
                run.spent[str(refusal)] = None
                run.not_run.append(f"the rest of the {name}")
            except Unreachable:
                raise
            except Exception as error:  # the other phases, and the report, go on
                run.fail(f"the phase {name}", error)
    except KeyboardInterrupt:
        stopped = "stopped by Ctrl-C or SIGTERM"
    except Unreachable as refusal:
        if _never_responded(run):
            raise StartupError(str(refusal)) from refusal
        stopped = str(refusal)
    return started, stopped


def _candidates_of(run: Run) -> list[tuple[Probe, str | None]]:
    return candidates(run.deployment, run.evaluator.rules)


def _never_responded(run: Run) -> bool:
    """Returns True if the resource API never responded: most likely a wrong base URL."""
    return not any(exchange.site == "resource" for exchange in run.exchanges)


def _expect_served(run: Run) -> None:
    """Checks that a deployment serves an operation of another service's document.

    Raises:
        StartupError: Every request was answered with 404, also where the path names no item.
    """
    sent = [it for it in run.exchanges if it.site == "resource" and it.operation]
    is_absent = all(it.status == HTTPStatus.NOT_FOUND for it in sent)
    if is_absent and not run.has_interface and any("{" not in it.operation for it in sent):
        msg = (
            f"{run.deployment.target.base_url} has no operation of the document: each of "
            f"{counted(len(sent), 'request')} was answered with 404. Correct base_url, or name the "
            "document of this service."
        )
        raise StartupError(msg)


def report_unrestored(run: Run) -> None:
    """Announces a finding for each profile field that the deployment did not restore."""
    for field in run.undo.unrestored:
        now = "missing" if field.now is None else f'"{field.now}"'
        findings = run.evaluator.disagree(
            UPDATE_RULE,
            field.exchange,
            f'{field.name} "{field.before}", as before the run and as the last update sets it',
            f"{field.name} {now}; it stays so",
        )
        run.report(findings)


def _remaining(run: Run) -> Iterator[str]:
    """Yields the changes that a run leaves, since they cannot be undone."""
    if any(it.operation == UPDATE_PROFILE for it in run.exchanges) and run.undo.has_changed:
        yield "the time of the last profile edit"
    yield from run.undo.items.remaining
    count = len(run.gateway.issued)
    if count:
        plural = "s" if count > 1 else ""
        yield f"{count} issued token{plural}, since the interface has no way to revoke one"


def _probes(run: Run) -> None:
    """Sends every probe that does not use up a limit."""
    ready: list[Probe] = []
    for probe, reason in _candidates_of(run):
        if reason is not None:
            run.reasons |= dict.fromkeys(probe.rules, reason)
            continue
        run.checkable |= set(probe.rules)
        if not probe.is_exhausting:
            ready.append(probe)
    _send(run, ready)


def send_experiments(run: Run, facts: Mapping[str, Fact]) -> None:
    """Repeats the experiments behind facts, by rule, so that a changed behaviour is found."""
    wanted = facts.keys() & run.evaluator.rules.keys()
    trials = Trials(run.evaluator.history.emptied())
    run.reasons |= carry_out_experiments(run.gateway, run.exchanges, wanted, trials, facts)


def _judge_state(run: Run) -> None:
    """Judges another service by the state that its document suggests."""
    if run.state is not None:
        run.state.judge(run)


_FIRST: Final[Sequence[tuple[str, Phase]]] = (
    ("probes", _probes),
    ("inferred state", _judge_state),
)
"""The phases before those of the options."""


def _exhausting(run: Run) -> None:
    """Sends the probes that use up a limit, after undoing, which needs the same limit."""
    candidates = _candidates_of(run)
    ready = [probe for probe, reason in candidates if reason is None and probe.is_exhausting]
    if not ready:
        return
    lines = run.undo.restore_changes()
    if lines:
        reason = f"changes could not be undone before the limit was used up: {lines[0]}"
        for probe in ready:
            run.reasons |= dict.fromkeys(probe.rules, reason)
        return
    _send(run, ready)


def _send(run: Run, ready: list[Probe]) -> None:
    """Sends probes part by part; next is always the part that settles most."""
    running = {
        probe.name: probe.steps(
            ProbeClient(run.gateway, _source(probe), run.exchanges, run.options.seed)
        )
        for probe in ready
    }
    ended: set[str] = set()
    for probe in order_of_parts(ready, ended):
        try:
            is_over = next(running[probe.name], _OVER) is _OVER
        except Refusal as refusal:
            _cut_short(run, probe, refusal)
            is_over = True
        except Exception as error:
            run.fail(_source(probe), error)
            run.reasons |= dict.fromkeys(probe.rules, f"{_source(probe)} failed: {error}")
            is_over = True
        else:
            run.lost = 0
        if is_over:
            ended.add(probe.name)


def _source(probe: Probe) -> str:
    """Returns the sender's name in reports."""
    return f"probe {probe.name}"


def _cut_short(run: Run, probe: Probe, refusal: Refusal) -> None:
    """Records why a probe was aborted.

    Raises:
        Unreachable: The deployment never responded, or too many requests in a row got no response.
    """
    if isinstance(refusal, (BudgetSpent, OutOfTime)):
        run.spent[str(refusal)] = None
        is_begun = any(exchange.source == _source(probe) for exchange in run.exchanges)
        run.not_run.append(f"the rest of {probe.name}" if is_begun else probe.name)
    if isinstance(refusal, Unreachable):
        if _never_responded(run) and refusal.exchange.site == "resource":
            raise refusal
        run.lose(refusal)
    run.reasons |= dict.fromkeys(probe.rules, str(refusal))


def _outcome(run: Run, started: datetime, stopped: str) -> Outcome:
    evaluator, gateway = run.evaluator, run.gateway
    now = run.deployment.time.now()
    return outcome_of(
        run.deployment,
        evaluator,
        run.exchanges,
        started,
        evaluator.outcomes(run.reasons, run.checkable - set(UNJUDGED)),
        seed=run.options.seed,
        requests=gateway.sent,
        counted={"anonymous": gateway.ledger.used("anonymous", now)},
        stopped=stopped,
        not_run=tuple(run.not_run),
        spent=tuple(run.spent),
        contract=run.contract,
        roots=roots(evaluator, run.exchanges),
    )

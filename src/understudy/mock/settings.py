"""Settings of one run of the mock, and their reading from a deployment's profile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from understudy.interface.deployment_profile import load_profile
from understudy.interface.facts import Facts, choices_of, load_facts
from understudy.interface.rules import bundled_choices, bundled_rules

Log = Literal["auto", "text", "json", "off"]
ResponseValidation = Literal["refuse", "warn", "off"]
Inference = Literal["auto", "off"]
TokenPolicy = Literal["any", "known", "strict"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one run of the mock; each is an option of ``serve`` and an environment variable.

    Attributes:
        host: Address to listen on.
        port: Port of the resource API; 0 for a free one.
        auth_port: Port of the authorization server; 0 for a free one.
        single_port: Whether the authorization server is served at ``port`` too, and only there.
        document: OpenAPI document to serve instead of the bundled one.
        overlays: Overlay files that change the document, in the order of their application.
        vocabulary: File with the deployment's names for fields and parameters; None for those of the
            interface.
        like: Profile of the deployment that these settings come from, which is read again with the
            documents; None: the settings come from options alone.
        handlers: Whether the bundled handlers respond to the operations that the document shares with
            the interface (``auto``), or every response is made from the document (``off``).
        tokens: Which credentials the operations of a document accept: ``any``, those of the fixtures
            (``known``), or only the fixtures' OAuth tokens with the scopes that the document names
            (``strict``); None is ``any`` under the document of another service.
        accept: ``strict`` for 406 wherever no declared media type is acceptable, ``auto`` where the
            document also declares 406.
        infer: Whether operations of another service share a state that is inferred from its document.
        state_model: File that corrects the inferred state.
        seed_data: File or directory of the items that inferred collections begin with.
        fixtures: Directory of people, tokens and pictures instead of the bundled one.
        recording_key: Key of the recording that the fixtures come from, so that the recorded app runs
            unchanged.
        reload: Whether documents and fixtures are read again when they change.
        log: ``auto`` is coloured text on a terminal and plain text elsewhere.
        user_info: Whether the authorization server tells clients who signed in.
        choices: Switch name to option, where it differs from the default.
        facts: What was learnt of the deployment, to be shown; the choices follow from it. Where two
            files answer the same question, the later one wins.
        seed: Seed for generated identifiers and responses: same seed and requests, same bytes.
        auto_approve: Slug of the person who approves every authorization at once, without a browser.
        response_validation: What happens to a response that breaks the document; None refuses it under
            the bundled document and warns under another.
        require_world: Whether every request must name its world.
        journal: Number of exchanges that the journal of each world keeps.
        state: Directory in which the worlds are persisted, or the URL of a store that several
            processes share, such as ``valkey://host/0``; None: worlds are in memory only.
        workers: Number of processes that serve the same ports; more than one need a shared store.
        state_repair: Whether rows of the state that cannot be read are set aside in a file, instead
            of refused.
        admin_token: Lets callers from other machines use the admin API.
        public_url: Address at which clients reach the resource API; None to follow their Host.
        public_auth_url: Address at which clients reach the authorization server; None for its port on
            the host that the client used.
        tls: Directory of the certificate for https; None for http.
        admin_hosts: Host names that callers of the admin API may use, besides loopback ones.
        callbacks_to: Host names and addresses that callbacks and webhooks may be sent to, besides those
            of this machine.
        ready_file: File that gets one JSON line once the mock accepts requests.
        grace: Seconds in which requests in flight are finished after SIGINT or SIGTERM.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    auth_port: int = 8081
    single_port: bool = False
    document: Path | None = None
    overlays: tuple[Path, ...] = ()
    vocabulary: Path | None = None
    like: Path | None = None
    handlers: Literal["auto", "off"] = "auto"
    tokens: TokenPolicy | None = None
    accept: Literal["auto", "strict"] = "auto"
    infer: Inference = "auto"
    state_model: Path | None = None
    seed_data: Path | None = None
    fixtures: Path | None = None
    recording_key: Path | None = None
    reload: bool = False
    log: Log = "auto"
    user_info: bool = False
    choices: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[Facts, ...] = ()
    seed: int = 0
    auto_approve: str | None = None
    response_validation: ResponseValidation | None = None
    require_world: bool = False
    journal: int = 1000
    state: Path | str | None = None
    workers: int = 1
    state_repair: bool = False
    admin_token: str | None = None
    public_url: str | None = None
    public_auth_url: str | None = None
    admin_hosts: tuple[str, ...] = ()
    callbacks_to: tuple[str, ...] = ()
    tls: Path | None = None
    ready_file: Path | None = None
    grace: float = 5.0


def settings_like(path: Path, **others: Any) -> Settings:
    """Returns the settings that the profile of a deployment gives.

    Args:
        path: File of the profile.
        others: Settings that replace those of the profile.

    Raises:
        StartupError: A file cannot be read, or names an unknown setting, switch or option.
    """
    given = dict(load_profile(path))
    rules = bundled_rules()
    facts = tuple(load_facts(file, rules) for file in given.get("facts", ()))
    choices: dict[str, str] = {}
    for learnt in facts:  # a later file overrides an earlier one
        choices |= choices_of(learnt, rules)
    choices |= bundled_choices(given.get("choices", ()))
    return Settings(**given | {"facts": facts, "choices": choices, "like": path} | others)

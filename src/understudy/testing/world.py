"""Gives tests an isolated world of a running mock."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from understudy.errors import StartupError, nearest
from understudy.verify.admin_client import AdminClient

JsonObject = dict[str, Any]

_OF_RESPONSE = ("status", "headers", "body", "merge", "events", "interval", "then")
_OF_CONDITION = ("path", "query", "header", "person")
_OF_STUB = (
    "id",
    "response",
    "when",
    "times",
    "delay",
    "allow_invalid",
    "before_validation",
    "until_changed",
)


def stub_body(operation: str, **options: Any) -> JsonObject:
    """Returns the body of ``POST /__admin/stubs``.

    Args:
        operation: The operationId to answer.
        options: Members of the response (status, headers, body, merge, events …), of the condition
            (path, query, header, person) and of the stub itself (when, response, times, delay, allow_invalid …).

    Raises:
        StartupError: An option is not a member of a stub.
    """
    known = (*_OF_RESPONSE, *_OF_CONDITION, *_OF_STUB)
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        hint = nearest(unknown, known) or f"; there are {', '.join(known)}."
        msg = f"A stub has no {unknown!r}{hint}"
        raise StartupError(msg)
    body: JsonObject = {"operation": operation}
    for member, names in (("response", _OF_RESPONSE), ("when", _OF_CONDITION)):
        given = {name: options.pop(name) for name in names if name in options}
        if given:
            body[member] = {**options.pop(member, {}), **given}
    return {**body, **options}


def _seconds(span: Any) -> float:
    """Returns a span of time in seconds; refuses other values, which untyped tests may pass."""
    if isinstance(span, timedelta):
        return span.total_seconds()
    if isinstance(span, int | float):
        return span
    msg = f"{span!r} is not a span of time; write timedelta(weeks=2), or a number of seconds."
    raise StartupError(msg)


class MockWorld:
    """One isolated world of a running mock.

    Use it in a ``with`` block, or call ``close``; the fixture ``understudy_world`` does so.

    Args:
        mock: The address of the mock, without a path, or a client of its admin API.
        admin_token: The admin token, which a mock on another machine requires.
        options: The members of ``POST /__admin/worlds``: name, people, seed, snapshot, choices.

    Attributes:
        name: The world's name, as its addresses contain it.
        base_url: Base URL of the resource API in this world.
        auth_url: Base URL of the authorization server in this world.
        header: The header that selects the world at the mock's plain address.
        people: The people in it: slug, e-mail addresses with hashes, user name and password.
        tokens: The tokens that exist from the start.
        applications: The applications: client id, client secret and redirect URIs.
        admin: The admin API in this world, for operations without a method here.

    Raises:
        StartupError: No mock responds at the address, or it refuses the options.

    Examples:
        >>> from understudy import MockWorld
        >>> with MockWorld("http://127.0.0.1:8080", people=["ada"], seed=7) as world:
        ...     token = world.token("ada")
        ...     [person["slug"] for person in world.people]
        ['ada']
    """

    def __init__(
        self, mock: AdminClient | str, admin_token: str | None = None, **options: Any
    ) -> None:
        self._owns_client = isinstance(mock, str)
        self._mock = AdminClient(mock, token=admin_token) if isinstance(mock, str) else mock
        created = self._mock.call("POST", "/worlds", json=options)
        self.name: str = created["name"]
        self.base_url: str = created["base_url"]
        self.auth_url: str = created["auth_url"]
        self.header: dict[str, str] = created["header"]
        self.people: list[JsonObject] = created["people"]
        self.tokens: list[JsonObject] = created["tokens"]
        self.applications: list[JsonObject] = created["applications"]
        admin_url: str = created["admin_url"].removesuffix("/__admin")
        self.admin = AdminClient(admin_url, token=self._mock.token)

    def __enter__(self) -> Self:
        """Returns the world."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Deletes the world."""
        self.close()

    def token(
        self,
        person: str,
        scopes: Sequence[str] | None = None,
        *,
        kind: str = "oauth",
        lasts: timedelta | float | None = None,
    ) -> str:
        """Issues a token for a person; it selects this world at the mock's plain address too.

        Args:
            person: The person's slug.
            scopes: The scopes to grant; None for all.
            kind: ``oauth`` or ``api_key``.
            lasts: The lifetime, a number in seconds; None: never expires.
        """
        body: JsonObject = {"person": person, "kind": kind}
        if scopes is not None:
            # the mock refuses a single text, of which a list would have the letters
            body["scopes"] = scopes if isinstance(scopes, str) else list(scopes)
        if lasts is not None:
            body["expires_in"] = int(_seconds(lasts))
        token: str = self.admin.call("POST", "/tokens", json=body)["token"]
        return token

    def now(self) -> datetime:
        """Returns the world's time."""
        return datetime.fromisoformat(self.admin.call("GET", "/clock")["now"])

    def freeze(self, instant: datetime | str | None = None) -> datetime:
        """Stops the world's clock and returns its time.

        Args:
            instant: The time to show; None for the present one.
        """
        body: JsonObject = {"frozen": True}
        if instant is not None:
            body["now"] = instant if isinstance(instant, str) else instant.isoformat()
        return datetime.fromisoformat(self.admin.call("PUT", "/clock", json=body)["now"])

    def advance(self, span: timedelta | float) -> datetime:
        """Moves the world's clock forward and returns its time.

        Args:
            span: By how much; a number is seconds.
        """
        clock = self.admin.call("POST", "/clock/advance", json={"seconds": _seconds(span)})
        return datetime.fromisoformat(clock["now"])

    def fault(self, operation: str | None = None, **options: Any) -> str:
        """Injects a fault and returns its id.

        Args:
            operation: The operationId of the requests that get it; None for every request.
            options: The members of ``POST /__admin/faults``: status, effect, field, delay, times…
        """
        named = {} if operation is None else {"operation": operation}
        identifier: str = self.admin.call("POST", "/faults", json={**named, **options})["id"]
        return identifier

    def lift(self, fault: str | None = None) -> None:
        """Removes a fault by its id, or every fault."""
        self.admin.call("DELETE", "/faults" if fault is None else f"/faults/{fault}")

    def stub(self, operation: str, **options: Any) -> str:
        """Replaces the mock's response to requests of an operation, and returns the stub's id.

        Args:
            operation: The operationId to answer.
            options: Members of the response (status, headers, body, merge; of a stream events, interval,
                then), of the requests that it answers (path, query, header, person; a body in ``when``)
                and of the stub itself (response as a list, times, delay, allow_invalid,
                before_validation).

        Raises:
            StartupError: The document does not allow the response, or there is no such operation.
        """
        identifier: str = self.admin.call("POST", "/stubs", json=stub_body(operation, **options))[
            "id"
        ]
        return identifier

    def send_webhook(self, name: str, url: str, **options: Any) -> int:
        """Sends a webhook or a callback of the document at once, and returns the receiver's status.

        Args:
            name: Its name in the document.
            url: The receiver.
            options: ``body``: what is sent instead of the document's body.

        Returns:
            The status of the response; 0 if there was none.

        Raises:
            StartupError: The document has none of this name, or the receiver is not permitted.
        """
        sent = self.admin.call("POST", f"/webhooks/{name}", json={"url": url, **options})
        status: int = sent["status"]
        return status

    def unstub(self, stub: str | None = None) -> None:
        """Removes a stub by its id, or every stub."""
        self.admin.call("DELETE", "/stubs" if stub is None else f"/stubs/{stub}")

    def unused_stubs(self) -> list[str]:
        """Returns a readable line for each stub that has answered no request, with the reason."""
        stubs = self.admin.call("GET", "/stubs")
        return [stub["why_unused"] for stub in stubs if not stub["used"]]

    def limit(self, principal: str, *, limit: int | None = None, used: int | None = None) -> None:
        """Lowers a rate limit, or uses up part of it.

        Args:
            principal: A person's slug, or ``anonymous``.
            limit: Requests that an hour allows from now on.
            used: Number of requests to regard as made in this hour.
        """
        numbers = {"limit": limit, "used": used}
        body = {name: number for name, number in numbers.items() if number is not None}
        self.admin.call("PUT", f"/limits/{principal}", json=body)

    def choose(self, choices: Mapping[str, str]) -> None:
        """Chooses options of switches, as a mapping of switch to option."""
        self.admin.call("PATCH", "/choices", json=dict(choices))

    def calls(self, operation: str | None = None, **pattern: Any) -> list[JsonObject]:
        """Returns the matching requests, the oldest first.

        Args:
            operation: Their operationId; None for any.
            pattern: The members of ``POST /__admin/requests/find``: status, person, method…
        """
        named = {} if operation is None else {"operation": operation}
        # the mock compares statuses as texts
        wanted = {name: str(it) if isinstance(it, int) else it for name, it in pattern.items()}
        body = {**named, **wanted}
        requests: list[JsonObject] = self.admin.call("POST", "/requests/find", json=body)[
            "requests"
        ]
        return requests

    def snapshot(self, name: str) -> None:
        """Saves the state of the world under a name."""
        self.admin.call("POST", "/snapshots", json={"name": name})

    def restore(self, name: str) -> None:
        """Restores the state that ``snapshot`` saved under this name."""
        self.admin.call("POST", f"/snapshots/{name}/restore")

    def reset(self) -> None:
        """Restores the state in which the world began, and empties its journal."""
        self.admin.call("POST", "/reset")

    def export(self, path: Path) -> None:
        """Writes the world as a zipped directory for ``serve --fixtures``."""
        path.write_bytes(self.admin.fetch("/export"))

    def journal(self) -> list[str]:
        """Returns a readable line for each request, then the reason of a refusal, and notes."""
        return [line for entry in self.calls() for line in _lines(entry)]

    def close(self) -> None:
        """Deletes the world."""
        self.admin.close()
        self._mock.call("DELETE", f"/worlds/{self.name}")
        if self._owns_client:
            self._mock.close()


def _lines(entry: JsonObject) -> list[str]:
    request, status = entry["request"], entry["response"]["status"]
    person = entry["person"] or "-"
    line = f"{entry['id']:>4}  {status}  {request['method']:<6} {request['url']}  {person}"
    reasons = [*filter(None, [entry["reason"]]), *entry["notes"]]
    return [line, *(f"           {reason}" for reason in reasons)]

"""A world as a test sees it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from understudy.deployments.admin_client import AdminClient

Said = dict[str, Any]


class MockWorld:
    """One isolated world of a running mock.

    Args:
        mock: The mock's admin API, in any world.
        wanted: As ``POST /__admin/worlds`` takes it: name, people, seed, snapshot, choices.

    Attributes:
        name: As it stands in its addresses.
        base_url: All that a client of the resource API needs.
        auth_url: The authorization server's address in this world.
        header: What selects the world at the plain address, for a client that cannot be configured.
        people: Who is in it: slug, e-mails with hashes, user name and password.
        tokens: Those that are there from the start.
        applications: Client ids, secrets and redirect addresses.
        admin: Calls of the admin API in this world that have no name of their own here.
    """

    def __init__(self, mock: AdminClient, **wanted: Any) -> None:
        said = mock.call("POST", "/worlds", json=wanted)
        self._mock = mock
        self.name: str = said["name"]
        self.base_url: str = said["base_url"]
        self.auth_url: str = said["auth_url"]
        self.header: dict[str, str] = said["header"]
        self.people: list[Said] = said["people"]
        self.tokens: list[Said] = said["tokens"]
        self.applications: list[Said] = said["applications"]
        self.admin = AdminClient(said["admin_url"].removesuffix("/__admin"))

    def token(
        self,
        person: str,
        scopes: Sequence[str] | None = None,
        *,
        kind: str = "oauth",
        lasts: timedelta | None = None,
    ) -> str:
        """Returns a new token that speaks for a person; it works at the plain address too.

        Args:
            person: A slug.
            scopes: What it is granted; everything if left out.
            kind: ``oauth`` or ``api_key``.
            lasts: How long it counts; for good if left out.
        """
        wanted: Said = {"person": person, "kind": kind}
        if scopes is not None:
            wanted["scopes"] = list(scopes)
        if lasts is not None:
            wanted["expires_in"] = int(lasts.total_seconds())
        token: str = self.admin.call("POST", "/tokens", json=wanted)["token"]
        return token

    def now(self) -> datetime:
        """Returns the world's time."""
        return datetime.fromisoformat(self.admin.call("GET", "/clock")["now"])

    def freeze(self, instant: datetime | str | None = None) -> datetime:
        """Stops the world's clock, now or at an instant, and returns what it shows."""
        wanted: Said = {"frozen": True}
        if instant is not None:
            wanted["now"] = instant if isinstance(instant, str) else instant.isoformat()
        return datetime.fromisoformat(self.admin.call("PUT", "/clock", json=wanted)["now"])

    def advance(self, span: timedelta | float) -> datetime:
        """Moves the world's clock on, by a span or by seconds, and returns what it shows."""
        seconds = span.total_seconds() if isinstance(span, timedelta) else span
        said = self.admin.call("POST", "/clock/advance", json={"seconds": seconds})
        return datetime.fromisoformat(said["now"])

    def fault(self, operation: str | None = None, **wanted: Any) -> str:
        """Lets something go wrong, and returns the fault's id.

        Args:
            operation: The operationId that it strikes; any if left out.
            wanted: As ``POST /__admin/faults`` takes it: status, effect, field, delay, times…
        """
        named = {} if operation is None else {"operation": operation}
        identifier: str = self.admin.call("POST", "/faults", json={**named, **wanted})["id"]
        return identifier

    def lift(self, fault: str | None = None) -> None:
        """Lifts a fault, or every one."""
        self.admin.call("DELETE", "/faults" if fault is None else f"/faults/{fault}")

    def limit(self, principal: str, *, limit: int | None = None, used: int | None = None) -> None:
        """Lowers a rate limit, or uses up some of it, for a person or for ``anonymous``."""
        given = {"limit": limit, "used": used}
        wanted = {name: number for name, number in given.items() if number is not None}
        self.admin.call("PUT", f"/limits/{principal}", json=wanted)

    def choose(self, choices: Mapping[str, str]) -> None:
        """Chooses other readings of the interface: switch to option."""
        self.admin.call("PATCH", "/choices", json=dict(choices))

    def calls(self, operation: str | None = None, **pattern: Any) -> list[Said]:
        """Returns the requests that fit, the oldest first.

        Args:
            operation: Their operationId.
            pattern: As ``POST /__admin/requests/find`` takes it: status, person, method, headers…
        """
        named = {} if operation is None else {"operation": operation}
        wanted = {**named, **{name: _text(value) for name, value in pattern.items()}}
        found: list[Said] = self.admin.call("POST", "/requests/find", json=wanted)["requests"]
        return found

    def snapshot(self, name: str) -> None:
        """Keeps what the world is now."""
        self.admin.call("POST", "/snapshots", json={"name": name})

    def restore(self, name: str) -> None:
        """Makes the world what was kept."""
        self.admin.call("POST", f"/snapshots/{name}/restore")

    def reset(self) -> None:
        """Makes the world as it began, and empties its journal."""
        self.admin.call("POST", "/reset")

    def export(self, path: Any) -> None:
        """Writes the world as a zipped directory for ``serve --fixtures``."""
        path.write_bytes(self.admin.fetch("/export"))

    def journal(self) -> list[str]:
        """Returns a line for each request, for a person to read."""
        return [line for entry in self.calls() for line in _lines(entry)]

    def close(self) -> None:
        """Ends the world."""
        self.admin.close()
        self._mock.call("DELETE", f"/worlds/{self.name}")


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int) else value


def _lines(entry: Said) -> list[str]:
    request, status = entry["request"], entry["response"]["status"]
    who = entry["person"] or "-"
    line = f"{entry['id']:>4}  {status}  {request['method']:<6} {request['url']}  {who}"
    return [line, *(f"           {note}" for note in entry["notes"])]

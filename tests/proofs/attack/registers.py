"""What a register is: one kind of write, in a world that it has for itself.

A register holds a number. Its write number n makes it n, or n modulo its modulus, and nothing else
changes it. Whoever kills the mock, or fills its disk, can therefore tell whether it holds what was
acknowledged, and nothing that was refused.
"""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import httpx


class Site(NamedTuple):
    """A mock, and the world in it that a register has for itself.

    Attributes:
        client: Sends the requests.
        resource: Base address of the resource API, without its base path.
        authorization: Base address of the authorization server.
        world: Name of the world.
    """

    client: httpx.AsyncClient
    resource: str
    authorization: str
    world: str

    async def ask(self, method: str, path: str, **options: Any) -> Any:
        """Calls the world, for what is hers with ada's token; returns the JSON of the response.

        Raises:
            httpx.HTTPError: There was no response, or it was an error.
        """
        base = self.authorization if path.startswith("/oauth2") else self.resource
        headers: dict[str, str] = options.pop("headers", {})
        if path.startswith("/v3/me"):
            headers["Authorization"] = "Bearer ada-full"
        url = f"{base}/__world/{self.world}{path}"
        response = await self.client.request(method, url, headers=headers, **options)
        response.raise_for_status()
        return response.json() if response.content else None

    async def how_many(self, kind: str, name: str) -> int:
        """Returns how many things of a kind have a name."""
        return sum(item["name"] == name for item in await self.ask("GET", f"/__admin/{kind}"))


class Register(NamedTuple):
    """One kind of write.

    Attributes:
        name: The kind, in words.
        write: Makes the register n.
        read: Returns what the register holds.
        modulus: Numbers it counts to; None: it counts on.
    """

    name: str
    write: Callable[[Site, int], Awaitable[Any]]
    read: Callable[[Site], Awaitable[int]]
    modulus: int | None = 2

    def holds(self, number: int) -> int:
        """Returns what the register holds after write number n."""
        return number if self.modulus is None else number % self.modulus

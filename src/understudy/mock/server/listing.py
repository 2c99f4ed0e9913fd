"""Lists the operations and security schemes of a document, with commands and credentials that work.

For the first screen and the start page of a mock that serves another service's document.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from understudy.mock.server.access import credentials_of, declared_schemes
from understudy.mock.server.curl_commands import SampleCredentials, credential_text, curl_command
from understudy.mock.server.endpoint import Endpoint


class ListedOperation(NamedTuple):
    """An operation, and a command that calls it."""

    method: str
    path: str
    command: str


class ListedScheme(NamedTuple):
    """A security scheme.

    Attributes:
        name: As the document calls it.
        place: Where a request carries its credential.
        credential: One that is valid.
    """

    name: str
    place: str
    credential: str


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity, as a key of caches
class Listing:
    """The operations and security schemes of a document.

    Attributes:
        title: The document's title.
        endpoints: Its operations.
        are_credentials_checked: Whether only credentials of the fixtures are valid.
    """

    title: str
    endpoints: Sequence[Endpoint]
    are_credentials_checked: bool = False

    def operations(self, base_url: str, credentials: SampleCredentials) -> list[ListedOperation]:
        """Returns the operations, in the document's order."""
        return [
            ListedOperation(
                endpoint.operation.method,
                endpoint.operation.path,
                curl_command(base_url, endpoint, credentials),
            )
            for endpoint in self.endpoints
        ]

    def schemes(self, credentials: SampleCredentials) -> list[ListedScheme]:
        """Returns the security schemes that a credential is sent for."""
        if not self.endpoints:
            return []
        schemes = declared_schemes(self.endpoints[0].api.document)
        return [
            ListedScheme(name, credential.described, credential_text(credential, credentials))
            for name, scheme in schemes.items()
            for credential in credentials_of([scheme])
        ]

"""The mock as a container that tests start and stop; needs the image (docs/how-to/containers.md).

with UnderstudyContainer() as mock:
    client = MyClient(mock.base_url)
"""

import socket
from secrets import token_urlsafe

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy


class UnderstudyContainer(DockerContainer):
    """A mock of its own for a test run.

    The ports are chosen before the start, so that links in responses lead to them.

    Attributes:
        url: Address of the mock, for ``MockWorld(url, admin_token)``.
        base_url: Base URL of the resource API.
        auth_url: Base URL of the authorization server.
        admin_token: The token for the admin API.
    """

    def __init__(self, image: str = "understudy", *options: str) -> None:
        super().__init__(image)
        host = self.get_container_host_ip()
        port, auth_port = free_port(), free_port()
        self.url = f"http://{host}:{port}"
        self.base_url = f"{self.url}/v3"
        self.auth_url = f"http://{host}:{auth_port}"
        self.admin_token = token_urlsafe()
        self.with_bind_ports(8080, port).with_bind_ports(8081, auth_port)
        self.with_env("UNDERSTUDY_ADMIN_TOKEN", self.admin_token)
        addresses = ["--public-url", self.url, "--public-auth-url", self.auth_url]
        self.with_command(["serve", "--host", "0.0.0.0", *addresses, *options])
        self.waiting_for(HttpWaitStrategy(8080, "/__admin/health"))


def free_port() -> int:
    """Returns a port that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port

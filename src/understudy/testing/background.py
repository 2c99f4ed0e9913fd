"""Runs a mock in a thread of this process; it starts at the first connection.

Its ports are bound at once, so that its addresses are known. A test run that never connects does
not pay for the start.
"""

import asyncio
import selectors
import socket
import threading
from collections.abc import Callable
from functools import partial

from understudy.errors import StartupError
from understudy.mock.server import serving
from understudy.mock.server.request_context import Addresses
from understudy.mock.settings import Settings


class Background:
    """The mock of one test run.

    Args:
        settings: The settings of the mock; its ports are always free ones.

    Attributes:
        url: Address of the resource API, without a path.
        auth_url: Base URL of the authorization server.
        failure: The reason why the mock could not start; None if it could, or was never called.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._resource = serving.bind(settings.host, 0, "--port")
        self._authorization = serving.bind(settings.host, 0, "--auth-port")
        self._waker, self._wakened = socket.socketpair()
        self._stop: Callable[[], object] | None = None
        self._is_stopping = False
        self.failure: StartupError | None = None
        self.url = serving.url_of(self._resource)
        self.auth_url = serving.url_of(self._authorization)
        self._thread = threading.Thread(target=self._wait, name="understudy", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stops the mock, if it ever started."""
        self._is_stopping = True  # first, as the server may become ready at this moment
        self._waker.send(b"x")
        if self._stop is not None:
            self._stop()
        self._thread.join(timeout=10)
        for listener in (self._resource, self._authorization, self._waker, self._wakened):
            listener.close()

    def _wait(self) -> None:
        with selectors.DefaultSelector() as selector:
            for listener in (self._resource, self._authorization, self._wakened):
                selector.register(listener, selectors.EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select()]
        if self._wakened in ready:
            return
        try:
            asyncio.run(self._serve())
        except StartupError as error:
            self.failure = error
            # the client's connection fails at once instead of waiting for a response
            self._resource.close()
            self._authorization.close()

    async def _serve(self) -> None:
        # Connexion takes 0.3 s to import, which a run without the mock need not wait for.
        from understudy.mock.app import Mock

        loop = asyncio.get_running_loop()

        def ready(stop: Callable[[], None]) -> None:
            self._stop = partial(loop.call_soon_threadsafe, stop)
            if self._is_stopping:
                stop()

        mock = Mock(self._settings, None, Addresses(self.url, self.auth_url))
        applications = {self._authorization: mock.authorization, self._resource: mock.resource}
        await serving.serve(applications, ready=ready)

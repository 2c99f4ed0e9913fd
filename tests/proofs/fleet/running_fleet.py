"""``understudy serve`` as three processes on one store, behind nginx, where a test starts one.

The proxy sends each request to another process, and writes down which one it was. What a test starts
with options of its own state, or of its own ports, stays one process.
"""

import signal
import socket
import subprocess
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from tests.cli.conftest import PATIENCE, Running
from tests.needs import program
from tests.proofs.fleet.replicated import LOGIN, REPLICAS, shared_database

ONE_PROCESS = {"--state", "--workers", "--reload", "--port", "--auth-port"}
"""Options of a mock that is not served by replicas."""

NGINX = """\
daemon off; master_process off; pid {place}/pid; error_log {place}/errors.txt; events {{}}
http {{
  log_format replica $upstream_addr; access_log {requests} replica;
  client_body_temp_path {place}/bodies; proxy_temp_path {place}/proxied;
  keepalive_requests 1000000; client_max_body_size 0; large_client_header_buffers 8 128k; merge_slashes off;
  ignore_invalid_headers off; underscores_in_headers on;
  proxy_http_version 1.1; proxy_next_upstream off; proxy_read_timeout 300;
  proxy_buffering off; proxy_request_buffering off; proxy_redirect off;
  proxy_set_header Host $http_host; proxy_pass_header Server; proxy_pass_header Date;
{sites}}}
"""

SITE = """\
  upstream {name} {{ {servers} }}
  server {{
    listen 127.0.0.1:{port}{tls};
    location / {{ proxy_pass {scheme}://{name}; }}
  }}
"""


_proxied: list[Path] = []
"""The files with the requests of all proxies of this process."""


def proxied() -> int:
    """Returns how many requests were sent through proxies so far."""
    return sum(path.read_bytes().count(b"\n") for path in _proxied if path.exists())


class RunningFleet(Running):
    """Replicas behind a proxy, in place of a mock in a process of its own.

    Attributes:
        replicas: The processes that serve; ``process`` is the first one's.
        requests: The file with the replica of each request, of which a mock of one process has none.
    """

    def __init__(self, directory: Path, *options: str, **environment: str) -> None:
        self.requests = directory / "proxy" / "requests.txt"
        self._stack = ExitStack()
        self.replicas: tuple[Running, ...] = ()
        if self.command != Running.command or ONE_PROCESS & set(options):
            super().__init__(directory, *options, **environment)
            return
        program("nginx")
        ports = {"resource": _free_port(), "authorization": _free_port()}
        named = {*options, *environment}
        if not named & {"--public-auth-url", "UNDERSTUDY_PUBLIC_AUTH_URL", "--single-port"}:
            scheme = "https" if "--tls" in options else "http"
            url = f"{scheme}://127.0.0.1:{ports['authorization']}"
            options = (*options, "--public-auth-url", url)
        self.replicas = tuple(self._replicas(directory, options, environment))
        first = self.replicas[0]
        self.process, self.output, self.ready_file = first.process, first.output, first.ready_file
        tls = Path(options[options.index("--tls") + 1]) if "--tls" in options else None
        self._start_proxy(ports, tls)
        _proxied.append(self.requests)
        self.base_url = _at(first.base_url, ports["resource"])
        is_single = urlsplit(first.base_url).port == urlsplit(first.auth_url).port
        self.auth_url = _at(first.auth_url, ports["resource" if is_single else "authorization"])

    def _replicas(
        self, directory: Path, options: tuple[str, ...], environment: dict[str, str]
    ) -> list[Running]:
        address = shared_database()
        store = f"valkey://{LOGIN}@127.0.0.1:{address.port}/{address.database}"
        replicas = []
        for number in range(REPLICAS):
            place = directory / f"replica-{number}"
            place.mkdir()
            replicas.append(Running(place, *options, "--state", store, **environment))
            self._stack.callback(replicas[-1].stop)
        return replicas

    def _start_proxy(self, ports: dict[str, int], tls: Path | None) -> None:
        place = self.requests.parent
        place.mkdir()
        urls = {
            "resource": [it.base_url for it in self.replicas],
            "authorization": [it.auth_url for it in self.replicas],
        }
        sites = [
            SITE.format(
                name=name,
                servers=" ".join(f"server {_address(url)} max_fails=0;" for url in urls[name]),
                port=port,
                tls=f" ssl; ssl_certificate {tls}/cert.pem; ssl_certificate_key {tls}/key.pem"
                if tls
                else "",
                scheme="https" if tls else "http",
            )
            for name, port in ports.items()
        ]
        configuration = place / "nginx.conf"
        configuration.write_text(
            NGINX.format(place=place, requests=self.requests, sites="".join(sites))
        )
        proxy = subprocess.Popen([program("nginx"), "-p", str(place), "-c", str(configuration)])
        self._stack.callback(proxy.wait, PATIENCE)
        self._stack.callback(proxy.terminate)
        self.wait_for((place / "pid").exists)

    def said(self) -> str:
        """Returns the output of all processes, one after another."""
        return "".join(it.said() for it in self.replicas) if self.replicas else super().said()

    def stop(self) -> int:
        """Stops all processes, and returns the first code that is not zero."""
        if not self.replicas:
            return super().stop()
        for replica in self.replicas:
            replica.process.send_signal(signal.SIGINT)
        codes = [replica.process.wait(PATIENCE) for replica in self.replicas]
        self._stack.close()
        return max(codes, key=abs)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def _address(url: str) -> str:
    """Returns where the proxy finds a replica, which may listen on every interface."""
    return f"127.0.0.1:{urlsplit(url).port}"


def _at(url: str, port: int) -> str:
    """Returns a replica's URL with the port of the proxy."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"127.0.0.1:{port}").geturl()

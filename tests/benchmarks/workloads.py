"""The work that every server is given."""

from dataclasses import dataclass, field
from pathlib import Path

from understudy.document.bundled import fixtures_directory

TOKEN = "ada-full"
_BOUNDARY = "benchmark"


@dataclass(frozen=True)
class Workload:
    """One request, sent over and over.

    Attributes:
        name: In tables.
        path: Below the base path.
        method: HTTP's.
        headers: Sent along.
        body: Sent along.
    """

    name: str
    path: str
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def script(self, path: str) -> str:
        """Returns wrk's script: this request, and the figures as one line of JSON at the end."""
        headers = "".join(f"wrk.headers[{_lua(n)}] = {_lua(v)}\n" for n, v in self.headers.items())
        return (
            f"wrk.method = {_lua(self.method)}\nwrk.path = {_lua(path)}\n{headers}"
            f"wrk.body = {_lua_bytes(self.body)}\n{_DONE}"
        )


_DONE = """
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '\\nRESULT {"requests": %d, "microseconds": %d, "p50": %f, "p99": %f, "failed": %d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
"""


def workloads() -> list[Workload]:
    """Returns the work, the lookup first."""
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    return [
        Workload("lookup", "/profiles/ada"),
        Workload("lookup, token", "/profiles/ada", headers=bearer),
        Workload(
            "PATCH profile",
            "/me/profile",
            "PATCH",
            {**bearer, "Content-Type": "application/json"},
            b'{"location": "Port Lindry", "job_title": "Cartographer"}',
        ),
        Workload(
            "upload",
            "/me/avatars?select_avatar=false",
            "POST",
            {**bearer, "Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"},
            _form(fixtures_directory() / "images" / "portrait-ember.png"),
        ),
        Workload("QR code", "/qr-code/ada?size=80"),
    ]


def _form(picture: Path) -> bytes:
    head = (
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="data"; filename="me.png"\r\n'
        "Content-Type: image/png\r\n\r\n"
    )
    return head.encode() + picture.read_bytes() + f"\r\n--{_BOUNDARY}--\r\n".encode()


def _lua(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _lua_bytes(content: bytes) -> str:
    return '"' + "".join(f"\\{byte:03d}" for byte in content) + '"'

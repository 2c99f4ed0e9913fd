"""The work that every server is given: requests of which no two are equal.

Tracing clients send an id with each request, and people, tokens and values differ anyway. A server that
recognizes the bytes of a request would be measured by what no client sends; that figure has a row of its
own.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

from understudy.openapi.bundled import fixtures_directory

TOKEN = "ada-full"
LOOKUP, TOKEN_LOOKUP, EDIT = "lookup", "lookup, token", "PATCH profile"
UPLOAD, QR_CODE = "upload", "QR code"
OWN, AVATARS = "own profile", "avatar list"
MIX, SAME_BYTES = "mix", "lookup, the same bytes"
SAMPLE = "GET from a sample"
RANDOM_LOOKUP = "lookup, random person"
COUNTED_LOOKUP = "lookup, counted"
PLAIN, IN_WORLD = "lookup, plain address", "lookup, a world's address"
EXCHANGE, TOKEN_INFO = "authorize, exchange", "token-info"

NEW = "NEW000000000"
"""Stands in a request for a number that no other request has; it is as long."""

_BOUNDARY = "benchmark"


@dataclass(frozen=True)
class Workload:
    """One request, sent over and over with another id each time.

    Attributes:
        name: In tables.
        path: Below the base path; ``NEW`` in it is another number each time.
        method: HTTP's.
        headers: Sent along.
        body: Sent along; ``NEW`` in it is another number each time.
        has_same_bytes: Whether each request is the same as the one before, without an id.
        others: Further requests, drawn beside this one.
        weight: How often this one is drawn among them.
        first: Sent before, for something that this request takes: its ``taken`` pattern is looked
            for in the answer's Location and body, and stands here in the place of ``FOUND``.
        taken: A Lua pattern with one capture.
        is_used_once: Whether what was taken is good for one request only, as a code is.
        lines: A file, of which each request has a line, drawn at random, in the place of ``FOUND`` in
            its path and headers.
    """

    name: str
    path: str
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    first: "Workload | None" = None
    taken: str = ""
    is_used_once: bool = False
    lines: Path | None = None
    has_same_bytes: bool = False
    others: tuple["Workload", ...] = ()
    weight: int = 1

    def example(self) -> "Workload":
        """Returns the work as one request without a place to fill: that of the first line."""
        if self.lines is None:
            return replace(self, path=self.path.replace(NEW, "0" * len(NEW)))
        with self.lines.open() as lines:
            line = next(lines).rstrip("\n")
        headers = {name: value.replace("FOUND", line) for name, value in self.headers.items()}
        return replace(self, path=self.path.replace("FOUND", line), headers=headers, lines=None)

    def script(self, prefix: str) -> str:
        """Returns wrk's script: this request, and the figures as one line of JSON at the end."""
        if self.first is not None:
            return self._script_of_two(prefix, self.first)
        if self.lines is not None:
            return self._script_of_lines(prefix, self.lines)
        if self.has_same_bytes:
            return f"local it = {self._request(prefix)}\n{_SAME_BYTES}{_DONE}"
        added = (f"add({it.weight}, {it._request(prefix)})" for it in (self, *self.others))
        return f"{_PARTS}\ninit = function()\n  {'; '.join(added)}\nend\n{_DONE}"

    def _script_of_two(self, prefix: str, first: "Workload") -> str:
        forget = "found[#found] = nil" if self.is_used_once else ""
        return f"""
local found = {{}}
local first = {first._request(prefix)}
local second = {self._request(prefix)}
local number = 0
request = function()
  number = number + 1
  local it, text = found[#found], first
  if it then {forget} text = second end
  local path, body = text.path, text.body
  if it then
    local encode = function(c) return string.format("%%%02X", c:byte()) end
    local put = function() return (it:gsub("[^%w]", encode)) end
    path, body = path:gsub("FOUND", put), body:gsub("FOUND", put)
  end
  text.headers["X-Request-Id"] = tostring(number)
  return wrk.format(text.method, path, text.headers, body)
end
response = function(status, headers, body)
  local it = (headers["Location"] or headers["location"] or body):match({_lua(self.taken)})
  if it then found[#found + 1] = it end
end
{_DONE}"""

    def _script_of_lines(self, prefix: str, lines: Path) -> str:
        return f"""
{_PARTS}
local it = {self._request(prefix)}
init = function()
  for line in io.lines({_lua(str(lines))}) do
    local headers = {{}}
    for name, value in pairs(it.headers) do headers[name] = value:gsub("FOUND", line) end
    add(1, {{method = it.method, path = it.path:gsub("FOUND", line), headers = headers, body = it.body}})
  end
end
{_DONE}"""

    def _request(self, prefix: str) -> str:
        headers = ", ".join(f"[{_lua(n)}] = {_lua(v)}" for n, v in self.headers.items())
        return (
            f"{{method = {_lua(self.method)}, path = {_lua(prefix + self.path)}, "
            f"headers = {{{headers}}}, body = {_lua_bytes(self.body)}}}"
        )


_PARTS = f"""
local texts, number, run = {{}}, 0, os.time() % 100000
local add = function(weight, it)
  it.headers["X-Request-Id"] = "{NEW}"
  local text, parts, from = wrk.format(it.method, it.path, it.headers, it.body), {{}}, 1
  while true do
    local start, stop = text:find("{NEW}", from, true)
    parts[#parts + 1] = text:sub(from, (start or 0) - 1)
    if not start then break end
    from = stop + 1
  end
  for _ = 1, weight do texts[#texts + 1] = parts end
end
request = function()
  number = number + 1
  return table.concat(texts[math.random(#texts)], string.format("%05d%07d", run, number))
end
"""
"""Sends the requests that were added, each with numbers of its own: cut where these stand, once."""

_SAME_BYTES = """
local text
init = function() text = wrk.format(it.method, it.path, it.headers, it.body) end
request = function() return text end
"""

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
    lookup = Workload(LOOKUP, "/profiles/ada")
    token = Workload(TOKEN_LOOKUP, "/profiles/ada", headers=bearer)
    own = Workload(OWN, "/me/profile", headers=bearer)
    avatars = Workload(AVATARS, "/me/avatars", headers=bearer)
    edit = Workload(
        EDIT,
        "/me/profile",
        "PATCH",
        {**bearer, "Content-Type": "application/json"},
        b'{"location": "Port %b", "job_title": "Cartographer"}' % NEW.encode(),
    )
    upload = Workload(
        UPLOAD,
        "/me/avatars?select_avatar=false",
        "POST",
        {**bearer, "Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"},
        _form(fixtures_directory() / "images" / "portrait-ember.png"),
    )
    mixed = tuple(
        replace(work, weight=weight)
        for work, weight in ((token, 20), (own, 15), (avatars, 10), (edit, 5))
    )
    return [
        lookup,
        token,
        own,
        avatars,
        edit,
        replace(lookup, name=MIX, weight=50, others=mixed),
        replace(lookup, name=SAME_BYTES, has_same_bytes=True),
        Workload(QR_CODE, f"/qr-code/ada?size=80&utm_campaign={NEW}"),
        upload,  # last: thousands of avatars stand in each list behind it
    ]


def random_lookup(slugs: Path) -> Workload:
    """Returns the lookup of a person drawn at random.

    Args:
        slugs: A file of slugs, one a line.
    """
    return Workload(RANDOM_LOOKUP, "/profiles/FOUND", lines=slugs)


def counted_lookup(tokens: Path) -> Workload:
    """Returns the lookup with a token drawn at random, so that each counts against another limit.

    Args:
        tokens: A file of tokens, one a line.
    """
    bearer = {"Authorization": "Bearer FOUND"}
    return Workload(COUNTED_LOOKUP, "/profiles/ada", headers=bearer, lines=tokens)


def sampled() -> list[Workload]:
    """Returns an operation of ``forecast.yaml``, which has no example: its response is made up."""
    return [Workload(SAMPLE, "/forecasts/coast?days=3")]


def in_worlds() -> list[Workload]:
    """Returns the lookup at the plain address and at a world's, made in the same way."""
    json = {"Content-Type": "application/json"}
    create = Workload("create a world", "/__admin/worlds", "POST", json, b"{}")
    found = '"name":"([^"]+)"'
    return [
        Workload(PLAIN, "/v3/profiles/ada", first=create, taken=found),
        Workload(IN_WORLD, "/__world/FOUND/v3/profiles/ada", first=create, taken=found),
    ]


_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_CLIENT = b"client_id=server-app&client_secret=server-app-secret"
_BACK = "http://127.0.0.1:5000/callback"
_ASKED = f"client_id=server-app&redirect_uri={_BACK}&response_type=code&state=s"
_EXCHANGE = b"grant_type=authorization_code&code=FOUND&redirect_uri=" + _BACK.encode()


def our_grants() -> list[Workload]:
    """Returns the authorization server's work, as it is asked of ours."""
    authorize = Workload(
        "authorize", f"/oauth2/authorize?{_ASKED}&scope%5B0%5D=auth&mock_approve=ada"
    )
    password = b"grant_type=password&username=ada&password=ada-password&" + _CLIENT
    return [
        _exchange("/oauth2/token", authorize),
        Workload(
            TOKEN_INFO,
            "/oauth2/token-info?client_id=server-app&token=FOUND",
            first=Workload("token", "/oauth2/token", "POST", _FORM, password),
            taken='"access_token":"([^"]+)"',
        ),
    ]


def their_grants() -> list[Workload]:
    """Returns the same as it is asked of a peer, which introspects where ours tells about tokens."""
    authorize = Workload("authorize", f"/authorize?{_ASKED}&scope=auth")
    return [
        _exchange("/token", authorize),
        Workload(TOKEN_INFO, "/introspect", "POST", _FORM, b"token=abc"),
    ]


def _exchange(path: str, authorize: Workload) -> Workload:
    body = _EXCHANGE + b"&" + _CLIENT
    return Workload(EXCHANGE, path, "POST", _FORM, body, authorize, "[?&]code=([^&]+)", True)


def _form(picture: Path) -> bytes:
    head = (
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="data"; filename="me.png"\r\n'
        "Content-Type: image/png\r\n\r\n"
    )
    # what stands behind the end of a picture makes it another file, and is not shown
    end = f"{NEW}\r\n--{_BOUNDARY}--\r\n"
    return head.encode() + picture.read_bytes() + end.encode()


def _lua(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _lua_bytes(content: bytes) -> str:
    return '"' + "".join(f"\\{byte:03d}" for byte in content) + '"'

"""Reads the formats that no tool runs, as their schemas describe them, and sends what they hold."""

import base64
import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

from tests.generate.formats.conftest import Deployment


class Request(NamedTuple):
    """A request of a file; one without expected statuses is a set-up, which obtains a variable."""

    name: str
    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes | None
    statuses: list[str]
    needs: str = ""
    variable: str = ""
    member: str = ""


UPLOAD = (
    b'--b\r\nContent-Disposition: form-data; name="data"; filename="a.gif"\r\n'
    b"Content-Type: image/gif\r\n\r\n"
    + base64.b64decode("R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==")
    + b"\r\n--b--\r\n"
)

PASSWORD_GRANT = (
    b"grant_type=password&client_id=server-app&client_secret={{CLIENT_SECRET_ENCODED}}"
    b"&username=ada&password={{PASSWORD_ENCODED}}"
)
APPROVED = (
    "?client_id=server-app&redirect_uri=http%3A%2F%2F127.0.0.1%3A5000%2Fcallback"
    "&response_type=code&scope%5B0%5D=auth&mock_approve=ada"
)


def har_requests(path: Path) -> Iterator[Request]:
    for entry in json.loads(path.read_bytes())["log"]["entries"]:
        sent = entry["request"]
        posted = sent.get("postData")
        body = None if posted is None else posted["text"].encode()
        if posted is not None and posted.get("_encoding", posted.get("encoding")) == "base64":
            body = base64.b64decode(posted["text"])
        headers = [(header["name"], header["value"]) for header in sent["headers"]]
        statuses = entry.get("_case", {}).get("expected", [])
        obtained = entry.get("_set_up", {})
        request = Request(entry["comment"], sent["method"], sent["url"], headers, body, statuses)
        yield request._replace(**obtained)


def json_requests(path: Path) -> Iterator[Request]:
    for line in path.read_text().split("\n")[:-1]:
        case = json.loads(line)
        if "set_up" in case:
            set_up = case["set_up"]
            request = _of_json("set-up", set_up["request"], [])
            yield request._replace(variable=set_up["variable"], member=set_up["member"])
        yield _of_json(case["id"], case["request"], case["expected"]["statuses"])


def _of_json(name: str, request: dict[str, Any], statuses: list[str]) -> Request:
    body = request["body"]
    content = None
    if isinstance(body, dict):
        pieces = body.get("pieces", [{"base64": body.get("base64", ""), "times": 1}])
        content = b"".join(base64.b64decode(p["base64"]) * p["times"] for p in pieces)
        content = body["text"].encode() if "text" in body else content
    headers = [(key, text) for key, text in request["headers"]]
    return Request(name, request["method"], request["url"], headers, content, statuses)


class Replay:
    """Sends the requests of a file one after the other, as a person with the file would."""

    def __init__(self, deployment: Deployment) -> None:
        self._variables = dict(deployment.environment)
        self._base_url, self._auth_url = deployment.urls.values()
        self.sent = 0

    def mismatch(self, request: Request) -> str:
        """Sends a request, and returns what is wrong with the response, or an empty string."""
        if request.needs:
            self.mismatch(self._set_up(request.needs))
        status, location, content = self._send(request)
        if not request.statuses:
            parameters = parse_qs(urlsplit(location).query) if location else {}
            values = parameters.get(request.member) or [json.loads(content)[request.member]]
            self._variables[request.variable] = values[0]
            self._variables[f"{request.variable}_ENCODED"] = quote(values[0], safe="")
            return "" if status // 100 in (2, 3) else f"{request.name}: {status}"
        self.sent += 1
        is_expected = {str(status), f"{status // 100}XX"} & set(request.statuses)
        return "" if is_expected else f"{request.name}: {status}, expected {request.statuses}"

    def _set_up(self, variable: str) -> Request:
        """Returns the request that a row of CSV describes in words."""
        form = ("Content-Type", "application/x-www-form-urlencoded")
        token, authorize = f"{self._auth_url}/oauth2/token", f"{self._auth_url}/oauth2/authorize"
        upload = ("Content-Type", "multipart/form-data; boundary=b")
        bearer = ("Authorization", "Bearer {{TOKEN}}")
        avatars = f"{self._base_url}/me/avatars"
        method, url, headers, body, member = {
            "AVATAR_ID": ("POST", avatars, [bearer, upload], UPLOAD, "image_id"),
            "CLIENT_TOKEN": ("POST", token, [form], PASSWORD_GRANT, "access_token"),
            "CODE": ("GET", authorize + APPROVED, [], None, "code"),
        }[variable]
        return Request("set-up", method, url, headers, body, [], "", variable, member)

    def _send(self, request: Request) -> tuple[int, str, bytes]:
        address = urlsplit(request.url)
        target = self._filled(request.url.partition(address.netloc)[2])
        connection = http.client.HTTPConnection(address.netloc, timeout=60)
        connection.putrequest(request.method, quote(target, safe=SAFE), skip_accept_encoding=True)
        for name, text in request.headers:
            connection.putheader(name, self._filled(text).encode("latin-1", "replace"))
        body = request.body
        if body is not None:
            body = self._filled(body.decode("latin-1")).encode("latin-1")
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, response.headers.get("Location", ""), content

    def _filled(self, text: str) -> str:
        return re.sub(r"\{\{([A-Z_]+)\}\}", lambda match: self._variables[match[1]], text)


SAFE = "".join(map(chr, range(33, 127)))
"""Characters that a URL of a file is sent with as they are."""

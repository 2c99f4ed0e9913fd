"""A Locust file whose users send every case again and again, and judge each response.

It needs Locust and the standard library, not understudy. It uses ``http.client``, which sends a
request as it is, where Locust's own clients encode, sort and join; Locust makes its waits yield.
"""

from collections.abc import Iterable
from typing import Any

from understudy.generate.cases import Case
from understudy.generate.formats.export import (
    ExportSettings,
    OutputPieces,
    comment,
    line,
)
from understudy.generate.formats.pytest_module import (
    python_opening,
    python_request,
    python_row,
    quoted,
)
from understudy.generate.formats.step_scripts import PYTHON

_USAGE = (
    "Run: TOKEN=... locust -f this file --headless --users 10 --run-time 1m. BASE_URL names another\n"
    "deployment."
)

_HEAD = """import base64
import http.client
import json
import os
import re
import time
from urllib.parse import parse_qs, quote, unquote, urlsplit

from locust import User, task
"""

_FUNCTIONS = """

class NotSet(Exception):
    pass


class Response:
    def __init__(self, status, location, content):
        self.status, self.location, self.content = status, location, content


class Connections:
    def __init__(self):
        self.open = {}

    def send(self, address, method, path, headers, content):
        connection = self.open.get(address.netloc)
        if connection is None:
            kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
            connection = self.open[address.netloc] = kind(address.netloc, timeout=60)
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            for name, text in headers:
                connection.putheader(name, text.encode("latin-1", "replace"))
            if content is not None:
                connection.putheader("Content-Length", str(len(content)))
            connection.endheaders(content)
            response = connection.getresponse()
            return Response(response.status, response.headers.get("Location", ""), response.read())
        except (OSError, http.client.HTTPException):
            self.open.pop(address.netloc).close()  # the next request gets a new one
            raise

    def close(self):
        for connection in self.open.values():
            connection.close()


class CaseUser(User):
    def on_start(self):
        self.connections = Connections()
        self.world, self.obtained, self.items, self.sequence = {}, {}, {}, ""
        if IN_WORLDS:
            made = json.loads(self.call_admin("POST", "/worlds", {"idle_seconds": 600}).content)
            self.world = {"name": made["name"], "BASE_URL": made["base_url"], "AUTH_URL": made["auth_url"]}

    def on_stop(self):
        if self.world:
            self.call_admin("DELETE", "/worlds/" + quote(self.world["name"]))
        self.connections.close()

    def call_admin(self, method, path, body=None):
        mock = urlsplit((os.environ.get("BASE_URL") or DEFAULTS["BASE_URL"]).rpartition("/")[0])
        headers = [("Content-Type", "application/json")]
        if os.environ.get("UNDERSTUDY_ADMIN_TOKEN"):
            headers.append(("Authorization", "Bearer " + os.environ["UNDERSTUDY_ADMIN_TOKEN"]))
        content = None if body is None else json.dumps(body).encode()
        response = self.connections.send(mock, method, mock.path + "/__admin" + path, headers, content)
        if response.status not in (201, 204):
            raise RuntimeError(f"{method} /__admin{path} responded {response.status}: {response.content!r}")
        return response

    def value_of(self, name):
        text = self.world.get(name) or os.environ.get(name) or DEFAULTS.get(name)
        if not text:
            raise NotSet(name)
        return text

    def filled(self, text, values):
        def value(match):
            text = values[match[1]] if match[1] in values else self.value_of(match[1])
            return quote(text, safe="") if match[2] else text

        return re.sub(VARIABLE, value, text)

    def send(self, site, method, target, headers, body, values):
        address = urlsplit(self.value_of(site))
        path = address.path + self.filled(target, values)
        named = [(name, self.filled(text, values)) for name, text in headers]
        content = None
        if body is not None:
            content = b"".join(base64.b64decode(text) * times for text, times in body)
            content = self.filled(content.decode("latin-1"), values).encode("latin-1")
        return self.connections.send(address, method, path, named, content)

    def obtained_by(self, operation, set_up):
        if set_up is None:
            return {}
        share, name, member = set_up
        if share == "own" or operation not in self.obtained:
            response = self.send(*SET_UPS[name], {})
            if response.location:
                value = parse_qs(urlsplit(response.location).query)[member][0]
            else:
                value = json.loads(response.content)[member]
            self.obtained[operation] = {name: value}
        return self.obtained[operation]

    def values_for(self, operation, set_up, step):
        if step is None:
            return self.obtained_by(operation, set_up)
        if step["sequence"] != self.sequence:
            self.sequence, self.items = step["sequence"], {}
        return self.items

    def send_case(self, row):
        _, what, operation, statuses, location, set_up, *request, step = row
        started, response, failure = time.perf_counter(), None, None
        try:
            values = self.values_for(operation, set_up, step)
            started = time.perf_counter()
            response = self.send(*request, values)
            failure = self.failure(response, what, statuses, location, step)
        except NotSet:
            return  # a secret, or an item that no earlier step created
        except Exception as error:
            failure = error
        self.environment.events.request.fire(
            request_type=request[1],
            name=operation,
            response_time=(time.perf_counter() - started) * 1000,
            response_length=0 if response is None else len(response.content),
            exception=failure,
            context={},
        )

    def failure(self, response, what, statuses, location, step):
        if response.status == 429 and not re.match(statuses, "429"):
            return None  # not judged: the rate limit is used up
        if not re.match(statuses, str(response.status)):
            return AssertionError(f"{what}: status {response.status}")
        is_redirect = location and 300 <= response.status < 400
        if is_redirect and bool(re.search("[?&#]error=", response.location)) != (location == "with error"):
            return AssertionError(f"{what}: {location} expected")
        faults = [] if step is None else step_faults(step, response.content, response.location, self.items)
        return AssertionError(f"{what}: the response does not show {faults}") if faults else None

    @task
    def send_every_case(self):
        for row in CASES:
            self.send_case(row)


CASES = ["""


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields the module."""
    yield from python_opening(_USAGE, _HEAD, settings)
    yield line(
        f"IN_WORLDS = {settings.is_in_worlds}  # each user has a world of a mock\n\n\n{PYTHON}"
    )
    yield line(_FUNCTIONS)
    set_ups: dict[str, tuple[Any, ...]] = {}
    for case in cases:
        if case.set_up is not None:
            set_ups.setdefault(case.set_up.variable, python_request(case.set_up.request))
        row = python_row(case)
        whole = row if case.step is not None else (*row, None)
        yield line(f"    # {comment(case)}\n    {quoted(whole)},")
    yield line(f"]\nSET_UPS = {quoted(set_ups)}")

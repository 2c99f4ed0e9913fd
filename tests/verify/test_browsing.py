"""Sign-in and consent pages of unknown deployments are known by what they ask for."""

import httpx
import pytest
from msgspec.structs import replace

from understudy.api.bundled_target import TARGET
from understudy.mock.server.clock import machine_time
from understudy.verify.browsing import Flow
from understudy.verify.clock import Time
from understudy.verify.gateway import Gateway
from understudy.verify.ledger import Ledger
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import routes_of
from understudy.verify.shapes import bundled

CALLBACK = TARGET.application.redirect_uri or ""
BOTH = (
    "<form method=post><input name=user><input type=password name=pw>"
    "<button name=decision value=allow>Allow</button>"
    "<button name=decision value=no>Cancel</button></form>"
)
SIGN_IN = (
    '<form method=post action="/login"><input type=hidden name=t value="1">'
    "<input name=email><input type=password name=secret><input type=submit value=Go></form>"
)
CONSENT = (
    "<form method=post action='/no'><button>Deny</button></form>"
    "<form method=post action='/yes'><button>Authorize Trail Journal</button></form>"
)


class Pages(httpx.BaseTransport):
    """An authorization server of few pages."""

    def __init__(self, first: str) -> None:
        self.first = first
        self.posted: list[tuple[str, str, str]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if request.method == "GET":
            is_in = "session=1" in request.headers.get("cookie", "")
            return httpx.Response(200, html=CONSENT if is_in else self.first)
        self.posted.append((path, request.read().decode(), request.headers.get("cookie", "")))
        if path == "/login":
            headers = {"location": "/oauth2/authorize?again=1", "set-cookie": "session=1; Path=/"}
            return httpx.Response(303, headers=headers)
        return httpx.Response(302, headers={"location": f"{CALLBACK}?code=abc"})


@pytest.fixture
def browse():
    def browse(pages, wish):
        time = Time(machine_time, lambda _span: None)
        target = replace(TARGET, mode="own")
        routes = routes_of(target, bundled("service.yaml"))
        gateway = Gateway(target, routes, pages, time, Ledger(None, machine_time()))
        return Flow(ProbeClient(gateway, "test"), [("a", "b")]).decide(wish)

    return browse


def test_one_form_may_ask_for_both(browse):
    pages = Pages(BOTH)
    assert browse(pages, "deny").redirect_parameters == {"code": "abc"}
    assert pages.posted == [
        ("/oauth2/authorize", "user=ada&pw=ada-password&decision=no", ""),
    ]


def test_or_one_page_each_with_a_session_between(browse):
    pages = Pages(SIGN_IN)
    assert browse(pages, "approve").redirect_parameters == {"code": "abc"}
    assert pages.posted == [
        ("/login", "t=1&email=ada&secret=ada-password", ""),
        ("/yes", "", "session=1"),
    ]


def test_a_page_without_a_way_on_ends_it(browse):
    page = browse(Pages("<p>Closed for repairs</p>"), "approve")
    assert page.status == 200

"""A deployment that evicts, truncates, forgets or limits: an account loses nothing by a run."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from PIL import Image

from understudy.api.bundled_target import TARGET
from understudy.api.in_process import time_of
from understudy.verify.deployment import Deployment
from understudy.verify.learner import Learnt, learn
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import RunOptions

AVATARS = ("avatars-most", "upload-largest-side", "avatar-body-both-wrong", "upload-image-types")
TEXTS = ("job-title-length", "description-length", "scope-body-both-wrong")


class Losing(httpx.BaseTransport):
    """A deployment that keeps so many avatars, and does something else than to refuse one more.

    Args:
        inner: The deployment.
        most: The avatars that it keeps or shows.
        way: ``evicts`` the oldest, ``truncates`` the list, ``forgets`` the upload, or ``limits``: the
            next six changes get a 429.
    """

    def __init__(self, inner: httpx.BaseTransport, most: int, way: str) -> None:
        self._inner, self._most, self._way, self._refusals = inner, most, way, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        is_list = request.url.path.endswith("/me/avatars")
        if request.method not in {"GET", "HEAD"} and self._refusals:
            self._refusals -= 1
            return httpx.Response(429, json={"error": "Slower.", "code": "slow_down"})
        response = self._inner.handle_request(request)
        response.read()
        if is_list and request.method == "POST" and response.is_success:
            self._taken(request, response)
        if is_list and request.method == "GET" and self._way == "truncates":
            return httpx.Response(response.status_code, json=response.json()[-self._most :])
        return response

    def _taken(self, request: httpx.Request, response: httpx.Response) -> None:
        listed = self._sent(request, "GET", "").json()
        new = response.json()["image_id"]
        if len(listed) <= self._most:
            return
        if self._way == "limits":
            self._refusals = 6
        if self._way == "forgets":
            self._sent(request, "DELETE", f"/{new}")
        if self._way == "evicts":
            oldest = next(item["image_id"] for item in listed if item["image_id"] != new)
            self._sent(request, "DELETE", f"/{oldest}")

    def _sent(self, request: httpx.Request, method: str, path: str) -> httpx.Response:
        headers = {"authorization": request.headers["authorization"]}
        url = request.url.copy_with(query=None)
        response = self._inner.handle_request(
            httpx.Request(method, f"{url}{path}", headers=headers)
        )
        response.read()
        return response


Learn = Callable[..., Learnt]


@pytest.fixture
def learn_at(mock: Any, wire: Any, tmp_path: Path) -> Learn:
    def run(way: str, most: int, *rules: str, is_permitted: bool = True) -> Learnt:
        permit = replace(TARGET.permit, fill_account=is_permitted)
        target = replace(TARGET, permit=permit, is_mock=False)
        losing = Losing(wire, most, way)
        journal = tmp_path / "t.journal"
        deployment = Deployment(target, losing, time_of(mock), journal=journal)
        return learn(deployment, RunOptions(rules=rules))

    return run


@pytest.fixture
def account(gateway: Any) -> Callable[[], Any]:
    """Returns what the owner would miss: texts, avatars, their pictures' colours, the selection."""
    client = gateway(TARGET)

    def read() -> Any:
        def get(path: str) -> Any:
            headers = (("authorization", f"Bearer {TARGET.credentials.access_token}"),)
            return client.transport.handle_request(
                httpx.Request("GET", f"{TARGET.base_url}{path}", headers=dict(headers))
            )

        profile, listed = get("/me/profile"), get("/me/avatars")
        profile.read(), listed.read()
        kept = profile.json()
        kept = {
            name: kept[name] for name in kept if name not in {"last_profile_edit", "avatar_url"}
        }
        return kept, sorted(map(_avatar, listed.json()))

    def _avatar(item: Any) -> Any:
        response = client.transport.handle_request(httpx.Request("GET", item["image_url"]))
        picture = Image.open(BytesIO(response.read())).convert("RGB").resize((1, 1))
        colour = tuple(round(part / 8) for part in picture.tobytes())
        return item["alt_text"], item["rating"], item.get("selected", False), colour

    return read


@pytest.mark.parametrize("most", [2, 3, 4, 6])
@pytest.mark.parametrize("way", ["evicts", "truncates", "forgets", "limits"])
def test_nothing_is_lost_by_a_run_that_may_fill_the_account(
    way: str, most: int, learn_at: Learn, account: Any
) -> None:
    before = account()
    learn_at(way, most, *AVATARS)
    assert account() == before


def test_an_evicted_avatar_is_uploaded_again_and_said_to_have_another_identifier(
    learn_at: Learn, account: Any, tmp_path: Path
) -> None:
    before, number = account(), len(account()[1])
    learnt = learn_at("evicts", number, "avatars-most")
    assert account() == before
    (line,) = learnt.outcome.not_restored
    assert "its picture was uploaded again as" in line
    assert learn_at("evicts", number + 5, "avatar-delete-status").outcome.not_restored == ()
    assert [path.name for path in tmp_path.iterdir()] == ["t.journal.lock"]


def test_an_account_that_has_avatars_is_not_filled_up_without_permission(learn_at: Learn) -> None:
    (question,) = learn_at("evicts", 50, "avatars-most", is_permitted=False).facts.unsettled
    assert "[permit] fill_account = true" in question.why


def test_a_list_that_stops_to_grow_ends_the_search_and_is_said(learn_at: Learn) -> None:
    (question,) = learn_at("forgets", 8, "avatars-most").facts.unsettled
    assert "the list of avatars did not grow with an upload: it has 8" in question.why


def test_a_text_that_may_not_be_taken_back_is_not_replaced(
    learn_at: Learn, gateway: Any, account: Any
) -> None:
    client = ProbeClient(gateway(TARGET), "test")
    client.send("PATCH", "/me/profile", "owner", json={"description": "Map maker. " * 14})
    before = account()
    facts = learn_at("evicts", 50, *TEXTS).facts
    assert account() == before
    assert "description has 154 characters" in " ".join(each.why for each in facts.unsettled)

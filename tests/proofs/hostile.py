"""Runs learn, verify and drift at deployments that harm an account, and compares what its owner has.

``python -m tests.proofs.hostile`` draws a hundred deployments and prints which accounts have lost
something: a text, or an avatar by its picture, rating, text alternative and selection.
"""

import argparse
import json
import random  # noqa: TID251 - seeded
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from io import BytesIO
from itertools import islice
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx
from msgspec.structs import replace
from PIL import Image, UnidentifiedImageError

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.drift.comparing import compare
from understudy.errors import StartupError
from understudy.verify.catalogue import catalogue
from understudy.verify.clock import machine_time
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.learner import learn, open_rules
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.shapes import EDITABLE

LIST: Final = "/me/avatars"
PROFILE: Final = "/me/profile"
READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
ADDRESSES: Final = (*TARGET.known.own_hashes, *TARGET.known.others_hashes)
"""The addresses of the accounts, of which each shows its own."""

MOST_TEXT: Final = 120
"""Characters that a deployment keeps of a text, where it cuts texts."""

HOUR: Final = timedelta(hours=1)
MOST_AN_HOUR: Final = 5
"""Changes that a deployment allows an hour, where it limits them by the hour."""

LOST: Final = 4
"""One response in so many is lost by a deployment that loses responses."""


class Hostile(httpx.BaseTransport):
    """A deployment that does something else than it responds.

    Args:
        inner: A deployment that keeps the contract.
        way: What it does, of ``WAYS``.
        most: The avatars that it keeps or lists, where the way has to do with a number.
        seed: Seed of what happens by chance.
        now: Returns the time, where the way has to do with it.

    Attributes:
        names: The identifiers that avatars are known by, with their own.
        lists: The last list of avatars, by its URL and caller.
    """

    def __init__(
        self,
        inner: httpx.BaseTransport,
        way: str,
        most: int = 3,
        seed: int = 0,
        now: Callable[[], datetime] = machine_time,
    ) -> None:
        self.most, self.changes, self.edits = most, 0, 0
        self.now, self.hour, self.changes_of_hour = now, now(), 0
        self.names: dict[str, str] = {}
        self.lists: dict[str, bytes] = {}
        self.chance = random.Random(seed)
        self._inner, self._before, self._after = (
            inner,
            BEFORE.get(way),
            {**AFTER, **BEYOND_REPAIR}.get(way),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Responds to a request, or to a part of those that it changes something by."""
        request.read()
        for before, now in self.names.items():
            request = _renamed(request, before, now)
        if "/me/" not in request.url.path:
            return self._inner.handle_request(request)
        if request.method not in READS:
            self.changes += 1
            instead = self._before(self, request) if self._before is not None else None
            if instead is not None:
                return instead
        response = self._sent(request)
        if self._after is None or not response.is_success:
            return response
        return self._after(self, request, response) or response

    def call(self, request: httpx.Request, method: str, path: str, json: Any = None) -> Any:
        """Does something of its own to the account of a request."""
        base = str(request.url).partition("/me/")[0]
        headers = {"authorization": request.headers.get("authorization", "")}
        sent = httpx.Request(method, base + path, headers=headers, json=json)
        response = self._sent(sent)
        return response.json() if response.content and response.is_success else None

    def images(self, request: httpx.Request) -> list[str]:
        """Returns the avatars of the account, the oldest first."""
        return [item["image_id"] for item in self.call(request, "GET", LIST) or []]

    def remove(self, request: httpx.Request, images: list[str]) -> None:
        """Removes avatars."""
        for image in images:
            self.call(request, "DELETE", f"{LIST}/{image}")

    def _sent(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        response.read()
        return response


def _limits(to: Hostile, _request: httpx.Request) -> httpx.Response | None:
    """Refuses three changes of ten as too much at once."""
    is_refused = to.changes % 10 in {7, 8, 9}
    return httpx.Response(429, json={"error": "Slower.", "code": "slow"}) if is_refused else None


def _limits_by_the_hour(to: Hostile, _request: httpx.Request) -> httpx.Response | None:
    """Refuses further changes until the hour is over, in which the run ends and undoes."""
    passed = to.now() - to.hour
    if passed >= HOUR:
        to.hour, to.changes_of_hour = to.now(), 0
    to.changes_of_hour += 1
    if to.changes_of_hour <= MOST_AN_HOUR:
        return None
    wait = {"retry-after": str(max(1, ceil((HOUR - passed).total_seconds())))}
    return httpx.Response(429, headers=wait, json={"error": "Later.", "code": "slow"})


def _does_nothing(to: Hostile, request: httpx.Request) -> httpx.Response | None:
    """Responds to every third change with a success, and does nothing."""
    made = {
        "image_id": "0" * 32,
        "image_url": "",
        "rating": "G",
        "alt_text": "",
        "updated_date": "",
    }
    is_upload = _is_upload(request)
    return None if to.changes % 3 else httpx.Response(200, json=made if is_upload else {})


def _is_upload(request: httpx.Request) -> bool:
    return request.method == "POST" and request.url.path.endswith(LIST)


def _is_deletion(request: httpx.Request) -> bool:
    return request.method == "DELETE"


def _is_avatar_edit(request: httpx.Request) -> bool:
    return request.method == "PATCH" and f"{LIST}/" in request.url.path


def _is_edit(request: httpx.Request) -> bool:
    return request.method == "PATCH" and request.url.path.endswith(PROFILE)


Harm = Callable[[Hostile, httpx.Request], object]


def _upon(is_meant: Callable[[httpx.Request], bool], harm: Harm) -> Callable[..., None]:
    def after(to: Hostile, request: httpx.Request, _response: httpx.Response) -> None:
        if is_meant(request):
            harm(to, request)

    return after


def _evict(to: Hostile, request: httpx.Request) -> None:
    to.remove(request, to.images(request)[: -to.most])


def _forget(to: Hostile, request: httpx.Request) -> None:
    to.remove(request, to.images(request)[to.most :])


def _remove_all(to: Hostile, request: httpx.Request) -> None:
    to.remove(request, to.images(request))


def _edit_all(to: Hostile, request: httpx.Request) -> None:
    for image in to.images(request):
        to.call(request, "PATCH", f"{LIST}/{image}", _sent_members(request))


def _reset_avatar(to: Hostile, request: httpx.Request) -> None:
    members = {"rating": "G", "alt_text": "", **_sent_members(request)}
    to.call(request, "PATCH", request.url.path.partition("/v3")[2], members)


def _sent_members(request: httpx.Request) -> dict[str, Any]:
    try:
        sent = json.loads(request.content)
    except ValueError:
        return {}
    return sent if isinstance(sent, dict) else {}


def _reset_profile(to: Hostile, request: httpx.Request) -> None:
    to.call(request, "PATCH", PROFILE, {"display_name": "New here", "location": "", "company": ""})


def _select_newest(to: Hostile, request: httpx.Request) -> None:
    address = (to.call(request, "GET", PROFILE) or {}).get("hash")
    for image in to.images(request)[-1:]:
        to.call(request, "POST", f"{LIST}/{image}/email", {"email_hash": address})


def _truncate(to: Hostile, request: httpx.Request, response: httpx.Response) -> Any:
    is_list = request.method == "GET" and request.url.path.endswith(LIST)
    return httpx.Response(200, json=response.json()[-to.most :]) if is_list else None


def _rename(_to: Hostile, request: httpx.Request, response: httpx.Response) -> Any:
    if not _is_upload(request):
        return None
    made = response.json()
    return httpx.Response(response.status_code, json={**made, "image_id": made["image_id"][::-1]})


def _renamed(request: httpx.Request, before: str, now: str) -> httpx.Request:
    """Returns a request that names one avatar where it named another."""
    content = request.content.replace(before.encode(), now.encode())
    headers = {**request.headers, "content-length": str(len(content))}
    url = str(request.url).replace(before, now)
    return httpx.Request(request.method, url, headers=headers, content=content)


def _reuse_id(to: Hostile, request: httpx.Request, response: httpx.Response) -> Any:
    """Replaces the newest of the other pictures, and keeps its identifier for the uploaded one."""
    is_list = request.method == "GET" and request.url.path.endswith(LIST)
    if _is_upload(request) and not to.names:
        made = response.json()["image_id"]
        replaced = [image for image in to.images(request) if image != made][-1]
        to.remove(request, [replaced])
        to.names[replaced] = made
    elif not (is_list or _is_upload(request)):
        return None
    text = response.text
    for before, now in to.names.items():
        text = text.replace(now, before)
    return httpx.Response(response.status_code, json=json.loads(text))


def _select_for_primary(to: Hostile, request: httpx.Request) -> None:
    address = (to.call(request, "GET", PROFILE) or {}).get("hash")
    to.call(request, "POST", request.url.path.partition("/v3")[2], {"email_hash": address})


def _remove_unselected(to: Hostile, request: httpx.Request) -> None:
    image = request.url.path.split("/")[-2]
    to.remove(request, [each for each in to.images(request) if each != image][:1])


def _is_selection(request: httpx.Request) -> bool:
    return request.method == "POST" and request.url.path.endswith("/email")


def _clear_texts(to: Hostile, request: httpx.Request) -> None:
    sent = json.loads(request.content)
    to.call(request, "PATCH", PROFILE, {name: "" for name in EDITABLE if name not in sent})


def _cut_texts(to: Hostile, request: httpx.Request) -> None:
    sent = json.loads(request.content)
    to.call(request, "PATCH", PROFILE, {name: sent[name][:MOST_TEXT] for name in sent})


def _list_late(to: Hostile, request: httpx.Request, response: httpx.Response) -> Any:
    if not (request.method == "GET" and request.url.path.endswith(LIST)):
        return None
    key = str(request.url) + request.headers.get("authorization", "")
    earlier = to.lists.get(key, response.content)
    to.lists[key] = response.content
    return httpx.Response(200, json=json.loads(earlier))


def _lose(to: Hostile, request: httpx.Request, _response: httpx.Response) -> None:
    if request.method not in READS and not to.chance.randrange(LOST):
        msg = "Connection reset by peer"
        raise httpx.ReadError(msg, request=request)


def _empty_lists(to: Hostile, request: httpx.Request, response: httpx.Response) -> Any:
    to.edits += _is_edit(request)
    if not (to.edits and request.url.path.endswith(PROFILE)):
        return None
    lists: dict[str, Any] = {
        name: [] for name, it in response.json().items() if isinstance(it, list)
    }
    return httpx.Response(200, json={**response.json(), **lists})


BEFORE: Final[Mapping[str, Callable[[Hostile, httpx.Request], httpx.Response | None]]] = {
    "limits": _limits,
    "limits by the hour": _limits_by_the_hour,
    "does nothing": _does_nothing,
}
AFTER: Final[Mapping[str, Callable[..., Any]]] = {
    "evicts": _upon(_is_upload, _evict),
    "forgets": _upon(_is_upload, _forget),
    "truncates": _truncate,
    "resets other members": _upon(_is_avatar_edit, _reset_avatar),
    "loses responses": _lose,
    "lists other ids": _rename,
    "selects another": _upon(_is_upload, _select_newest),
    "resets the profile": _upon(_is_upload, _reset_profile),
    "deletes all for one": _upon(_is_deletion, _remove_all),
    "deletes all for an edit": _upon(_is_edit, _remove_all),
    "selects for the primary address": _upon(_is_selection, _select_for_primary),
    "deletes another for a selection": _upon(_is_selection, _remove_unselected),
    "clears other texts": _upon(_is_edit, _clear_texts),
    "keeps an identifier": _reuse_id,
    "lists late": _list_late,
    "cuts texts": _upon(_is_edit, _cut_texts),
}
WAYS: Final = (*BEFORE, *AFTER)
"""What hostile deployments do."""

BEYOND_REPAIR: Final[Mapping[str, Callable[..., Any]]] = {
    "edits every avatar": _upon(_is_avatar_edit, _edit_all),
    "empties lists": _empty_lists,
}
"""What no client can undo, as each attempt does it again or no request sets it: a run says so."""

KEPT: Final = (2, 3, 10, 50)
"""The avatars that a deployment keeps: none keeps fewer than the two that an account begins with.

Where one does, the first upload loses what no command can put back; ``[permit] uploads`` permits it.
"""

ACCOUNTS: Final = (TARGET.credentials.access_token, TARGET.credentials.other_access_token)
"""Tokens of the accounts that a run may change."""

RULES: Final = ("avatar-", "avatars-", "upload-", "profile-patch", "description-", "scope-body")
"""Beginnings of the names of rules whose probes and experiments change an account."""


def belongings(wire: httpx.BaseTransport, token: str | None) -> Any:
    """Returns what the owner of an account would miss, whatever identifiers it has now."""

    def get(url: str) -> httpx.Response:
        headers = {"authorization": f"Bearer {token}"}
        response = wire.handle_request(httpx.Request("GET", url, headers=headers))
        response.read()
        return response

    def avatar(item: Any) -> Any:
        return item["alt_text"], item["rating"], bool(item.get("selected")), colours(item)

    def colours(item: Any) -> Any:
        content = get(item["image_url"]).content
        try:
            picture = Image.open(BytesIO(content)).convert("RGB").resize((2, 2))
        except UnidentifiedImageError:
            return content
        return tuple(round(part / 16) for part in picture.tobytes())

    def selection(address: str) -> Any:
        listed = get(f"{TARGET.base_url}{LIST}?selected_email_hash={address}").json()
        is_own = isinstance(listed, list)  # else the address is the other account's
        return [avatar(each) for each in listed if each.get("selected")] if is_own else None

    profile = get(f"{TARGET.base_url}{PROFILE}").json()
    selected = [selection(address) for address in ADDRESSES]
    texts = {n: profile[n] for n in profile if n not in {"last_profile_edit", "avatar_url"}}
    return texts, sorted(map(avatar, get(f"{TARGET.base_url}{LIST}").json()), key=str), selected


def harmed(command: str, way: str, most: int, seed: int = 0) -> list[str | None]:
    """Returns the tokens of the accounts that have lost something by a run."""
    mock = in_process.mock()
    inner = in_process.InProcess(mock)
    permit = replace(TARGET.permit, exhaust_rate_limit=False, long_texts=False)
    target = replace(TARGET, permit=permit, is_mock=False)
    for token in ACCOUNTS if way == "cuts texts" else ():
        headers, json = {"authorization": f"Bearer {token}"}, {"description": "Map maker. " * 14}
        url = f"{TARGET.base_url}{PROFILE}"
        inner.handle_request(httpx.Request("PATCH", url, headers=headers, json=json))
    before = {token: belongings(inner, token) for token in ACCOUNTS}
    with inner, TemporaryDirectory() as directory:
        time = in_process.time_of(mock)
        deployment = Deployment(
            target,
            Hostile(inner, way, most, seed, time.now),
            time,
            Allowance(pause=timedelta(hours=2)),
            journal=Path(directory) / "target.journal",
        )
        with suppress(
            StartupError
        ):  # such as a second run of drift, where the first left something
            COMMANDS[command](deployment)
        return [token for token in ACCOUNTS if _has_lost(before[token], belongings(inner, token))]


def _has_lost(before: Any, now: Any) -> bool:
    """Tells whether a text is another one or an avatar is missing; what is left over is only said."""
    return bool(before[0] != now[0] or Counter(before[1]) - Counter(now[1]) or before[2] != now[2])


def _is_of_account(rule: str) -> bool:
    return rule.startswith(RULES)


def _learn(deployment: Deployment) -> object:
    return learn(deployment, RunOptions(rules=tuple(filter(_is_of_account, open_rules()))))


def _verify(deployment: Deployment) -> object:
    return carry_out(deployment, _changing())


def _drift(deployment: Deployment) -> object:
    other = in_process.mock_deployment()
    with other.transport:
        return compare(deployment, other, _changing())


def _changing() -> RunOptions:
    return RunOptions(rules=tuple(filter(_is_of_account, catalogue())))


COMMANDS: Final = {"learn": _learn, "verify": _verify, "drift": _drift}


def main() -> int:
    """Prints each run that harmed an account; returns 1 if one did."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.hostile", description=__doc__)
    parser.add_argument("--runs", type=int, default=100, metavar="N", help="deployments at random")
    runs, chance = parser.parse_args().runs, random.Random(0)
    drawn = iter(
        lambda: (chance.choice([*COMMANDS]), chance.choice(WAYS), chance.choice(KEPT)),
        None,
    )
    lost = 0
    for seed, (command, way, most) in enumerate(islice(drawn, runs)):
        accounts = harmed(command, way, most, seed)
        lost += bool(accounts)
        result = f"LOST by {accounts}" if accounts else "nothing lost"
        print(f"{seed}: {command} where one {way} ({most}): {result}", flush=True)  # noqa: T201 - a command
    print(f"{runs - lost} of {runs} runs lost nothing of any account")  # noqa: T201 - a command
    return int(lost > 0)


if __name__ == "__main__":
    raise SystemExit(main())

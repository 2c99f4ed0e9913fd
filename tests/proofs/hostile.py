"""Runs learn, verify and drift at deployments that harm an account, and compares what its owner has.

``python -m tests.proofs.hostile`` draws a hundred deployments and prints which accounts have lost
something: a text, or an avatar by its picture, rating, text alternative and selection.
"""

import argparse
import random  # noqa: TID251 - seeded
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from io import BytesIO
from itertools import islice
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
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.learner import learn, open_rules
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out

LIST: Final = "/me/avatars"
PROFILE: Final = "/me/profile"
READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
LOST: Final = 4
"""One response in so many is lost by a deployment that loses responses."""


class Hostile(httpx.BaseTransport):
    """A deployment that does something else than it responds.

    Args:
        inner: A deployment that keeps the contract.
        way: What it does, of ``WAYS``.
        most: The avatars that it keeps or lists, where the way has to do with a number.
        seed: Seed of what happens by chance.
    """

    def __init__(self, inner: httpx.BaseTransport, way: str, most: int = 3, seed: int = 0) -> None:
        self.most, self.changes, self.refusals = most, 0, 0
        self.chance = random.Random(seed)
        self._inner, self._before, self._after = inner, BEFORE.get(way), AFTER.get(way)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Responds to a request, or to a part of those that it changes something by."""
        request.read()
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


def _lose(to: Hostile, request: httpx.Request, _response: httpx.Response) -> None:
    if request.method not in READS and not to.chance.randrange(LOST):
        msg = "Connection reset by peer"
        raise httpx.ReadError(msg, request=request)


BEFORE: Final[Mapping[str, Callable[[Hostile, httpx.Request], httpx.Response | None]]] = {
    "limits": _limits,
    "does nothing": _does_nothing,
}
AFTER: Final[Mapping[str, Callable[..., Any]]] = {
    "evicts": _upon(_is_upload, _evict),
    "forgets": _upon(_is_upload, _forget),
    "truncates": _truncate,
    "loses responses": _lose,
    "lists other ids": _rename,
    "selects another": _upon(_is_upload, _select_newest),
    "resets the profile": _upon(_is_upload, _reset_profile),
    "deletes all for one": _upon(_is_deletion, _remove_all),
    "deletes all for an edit": _upon(_is_edit, _remove_all),
}
WAYS: Final = (*BEFORE, *AFTER)
"""What hostile deployments do."""

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

    profile = get(f"{TARGET.base_url}{PROFILE}").json()
    texts = {n: profile[n] for n in profile if n not in {"last_profile_edit", "avatar_url"}}
    return texts, sorted(map(avatar, get(f"{TARGET.base_url}{LIST}").json()), key=str)


def harmed(command: str, way: str, most: int, seed: int = 0) -> list[str | None]:
    """Returns the tokens of the accounts that have lost something by a run."""
    mock = in_process.mock()
    inner, permit = in_process.InProcess(mock), replace(TARGET.permit, exhaust_rate_limit=False)
    target = replace(TARGET, permit=permit, is_mock=False)
    before = {token: belongings(inner, token) for token in ACCOUNTS}
    with TemporaryDirectory() as directory:
        deployment = Deployment(
            target,
            Hostile(inner, way, most, seed),
            in_process.time_of(mock),
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
    return bool(before[0] != now[0] or Counter(before[1]) - Counter(now[1]))


def _is_of_account(rule: str) -> bool:
    return rule.startswith(RULES)


def _learn(deployment: Deployment) -> object:
    return learn(deployment, RunOptions(rules=tuple(filter(_is_of_account, open_rules()))))


def _verify(deployment: Deployment) -> object:
    return carry_out(deployment, _changing())


def _drift(deployment: Deployment) -> object:
    return compare(deployment, in_process.mock_deployment(), _changing())


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

"""The HTTP client of a probe: builds requests to the interface, and sends them by the gateway."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlencode

import httpx
import orjson
from msgspec import structs

from understudy.exchange.messages import Exchange, Request, headers_of, issued_identity
from understudy.interface.operations import DeclaredInputs
from understudy.openapi.media_types import JSON, URLENCODED
from understudy.verify.gateway import Gateway
from understudy.verify.permits import SAFE, NotPermitted
from understudy.verify.target import CREDENTIALS, Known, Target, TargetApplication
from understudy.verify.value_texts import as_json

Pairs = Mapping[str, Any] | Sequence[tuple[str, str]]

CLIENT_HEADERS: Final = (("user-agent", "understudy-verify"), ("accept", "*/*"))
"""Headers that every request has, as those of the commands that repeat it do."""


class MissingNeedError(LookupError):
    """A probe uses a value that the target lacks, and that is missing in the probe's ``needs``.

    Args:
        need: The name of the missing need.
    """

    def __init__(self, need: str) -> None:
        super().__init__(f"the target gives no {need}; add {need!r} to the needs of the probe")


@dataclass(frozen=True, slots=True)
class Absent:
    """Placeholder for a value that the target lacks: it is false, and cannot be sent.

    None would be sent as the text ``None``, and the rule would be judged by the response.

    Attributes:
        need: The name of the need that would have kept the probe from running.
    """

    need: str

    def __bool__(self) -> bool:
        """Returns False."""
        return False

    def __str__(self) -> str:
        """Refuses to become a part of a request.

        Raises:
            MissingNeedError: Always.
        """
        raise MissingNeedError(self.need)


@lru_cache(maxsize=16)  # called for every probe, with the same few targets
def _with_absent(known: Known) -> Known:
    """Returns the people of a target, with ``Absent`` for each missing value."""
    absent: dict[str, Any] = {
        name: Absent(name) for name, value in structs.asdict(known).items() if value is None
    }
    return structs.replace(known, **absent)


@dataclass(frozen=True, slots=True)
class ProbeClient:
    """Sends the requests of one probe.

    Attributes:
        gateway: Sends every request.
        source: Name of the sender in reports.
        earlier: The exchanges of the run so far, so that reads need not be repeated.
        seed: Seed for the random choices of a probe.
    """

    gateway: Gateway
    source: str
    earlier: Sequence[Exchange] = ()
    seed: int = 0

    @property
    def target(self) -> Target:
        """The target that is judged."""
        return self.gateway.target

    @property
    def known(self) -> Known:
        """The people that the target names, with ``Absent`` for each missing value."""
        return _with_absent(self.target.known)

    @property
    def app(self) -> TargetApplication:
        """The target's application."""
        return self.target.application

    @property
    def inputs(self) -> DeclaredInputs:
        """Inputs that the interface leaves open, as the document in force declares them."""
        return self.gateway.routes.inputs

    def get(self, path: str, who: str = "anonymous", query: Pairs = (), **more: Any) -> Exchange:
        """Sends a GET request to the resource API."""
        return self.send("GET", path, who, query=query, **more)

    def recall(
        self, path: str, who: str = "anonymous", query: Pairs = (), *, is_lasting: bool = False
    ) -> Exchange:
        """Returns the same read of this run if nothing was written since, or else sends it.

        Args:
            path: As of ``send``.
            who: As of ``send``.
            query: As of ``send``.
            is_lasting: True if no write changes the response: then earlier ones and refusals do.
        """
        request = self._request("GET", path, who, query=query)
        for exchange in reversed(self.earlier):
            is_write = exchange.site == "resource" and exchange.request.method not in SAFE
            if is_write and not is_lasting:
                break
            is_usable = exchange.response.is_success or (
                is_lasting and exchange.response.is_refusal
            )
            if exchange.request == request and is_usable:
                return exchange
        return self.gateway.send(request, self.source)

    def send(self, method: str, path: str, who: str = "anonymous", **more: Any) -> Exchange:
        """Sends a request.

        Args:
            method: In upper case.
            path: Below the resource API's base URL; an absolute URL is used as it is.
            who: Name of a credential of the target, or a token that was issued during the run.
            more: As of ``_request``; and ``is_exhausting`` if it is meant to use up the limit.
        """
        is_exhausting = bool(more.pop("is_exhausting", False))
        request = self._request(method, path, who, **more)
        return self.gateway.send(request, self.source, is_exhausting=is_exhausting)

    def send_together(
        self, method: str, path: str, who: str, *variants: Mapping[str, Any]
    ) -> list[Exchange]:
        """Sends variants of a request at the same moment.

        Args:
            method: In upper case.
            path: As of ``send``.
            who: As of ``send``.
            variants: Arguments of ``_request`` for each; one may name another ``who``.
        """
        requests = [self._request(method, path, **{"who": who, **it}) for it in variants]
        return self.gateway.send_together(requests, self.source)

    def _request(  # noqa: PLR0913 - what a request can carry
        self,
        method: str,
        path: str,
        who: str = "anonymous",
        *,
        query: Pairs = (),
        json: Any = None,
        malformed: bytes | None = None,
        form: Pairs | None = None,
        files: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """Makes a request.

        Args:
            method: In upper case.
            path: Below the resource API's base URL; an absolute URL is used as it is.
            who: Name of a credential of the target, or a token that was issued during the run.
            query: Names and texts, in order.
            json: A body to send as JSON.
            malformed: A body that is declared as JSON and is not.
            form: A body to send as a URL-encoded form.
            files: A multipart body, as httpx takes it.
            headers: Further headers.

        Raises:
            NotPermitted: The URL is not valid.
            MissingNeedError: A value is one that the target lacks.
        """
        url = path if path.startswith("http") else self.target.base_url.rstrip("/") + path
        pairs = _given(query)
        if pairs:
            url += ("&" if "?" in url else "?") + urlencode(pairs)
        token = self.token(who)
        plain = Request(method, url, CLIENT_HEADERS)
        named = self.gateway.with_token(plain, token) if token else plain
        url, own_headers = named.url, dict(named.headers)
        content = None
        if json is not None:
            content, own_headers["content-type"] = orjson.dumps(json), JSON
        if malformed is not None:
            content, own_headers["content-type"] = malformed, JSON
        if form is not None:
            content = urlencode(_given(form)).encode()
            own_headers["content-type"] = URLENCODED
        try:
            prepared = httpx.Request(
                method,
                url,
                headers={**own_headers, **(headers or {})},
                content=content,
                files=files,
            )
        except (httpx.InvalidURL, ValueError) as error:
            msg = f"the deployment returned an address that is not a URL: {as_json(url[:80])}"
            raise NotPermitted(msg) from error
        return Request(
            method, str(prepared.url), headers_of(prepared.headers.multi_items()), prepared.read()
        )

    def token(self, who: str) -> str | None:
        """Returns the token of a credential by its name; any other text is a token itself.

        Raises:
            MissingNeedError: The target lacks that credential.
        """
        if who == "anonymous":
            return None
        identity = self.target.identities().get(who)
        if identity is None and who in CREDENTIALS:
            raise MissingNeedError(who)
        return identity[1] if identity else who

    def has(self, who: str) -> bool:
        """Tells whether the target has a credential of that name."""
        return who == "anonymous" or who in self.target.identities()

    def auth(self, method: str, path: str, **more: Any) -> Exchange:
        """Sends a request to the authorization server.

        Raises:
            MissingNeedError: The target does not name the server.
        """
        address = self.target.auth_url or Absent("auth_url")
        return self.send(method, f"{address}".rstrip("/") + path, **more)

    def learn(self, token: str, scopes: frozenset[str]) -> str:
        """Registers the scopes of a token that was just issued with the gateway, and returns it."""
        self.gateway.learn(token, issued_identity(scopes))
        return token

    def advance(self, span: timedelta) -> None:
        """Moves the deployment's time.

        Raises:
            NotPermitted: The deployment's clock cannot be moved.
        """
        if self.gateway.time.advance is None:
            msg = "the deployment's time cannot be moved"
            raise NotPermitted(msg)
        self.gateway.time.advance(span)


def _given(pairs: Pairs) -> list[tuple[str, Any]]:
    """Returns the pairs of a query or a form.

    Raises:
        MissingNeedError: A value is None.
    """
    listed = list(pairs.items()) if isinstance(pairs, Mapping) else list(pairs)
    for name, value in listed:
        if value is None:
            raise MissingNeedError(name)
    return listed

"""What follows from a target is known for the next request, whatever its headers and the document are."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from tests.proofs.entrances.comparison import Entrance, Wire
from tests.proofs.entrances.traffic import Sent

from understudy.mock.server.request_context import RequestTarget, Targets
from understudy.mock.server.route_table import RouteTable
from understudy.mock.settings import Settings

DOCUMENT = """
openapi: 3.0.3
info: {title: Boats, version: '1'}
paths: {/boats: {get: {responses: {204: {description: none}}}}}
"""


def lookup(target: bytes, fields: bytes = b"") -> bytes:
    return b"GET %b HTTP/1.1\r\nHost: a\r\n%b\r\n" % (target, fields)


def statuses(wire: Wire) -> list[bytes]:
    return re.findall(rb"HTTP/1.1 (\d+)", wire.written)


def known(targets: Targets, method: str, target: bytes) -> RequestTarget:
    """Returns a target that was asked for often enough to be kept."""
    return [targets.get(method, target) for _ in range(3)][-1]


def test_a_target_is_kept_once_it_comes_again() -> None:
    targets = Targets()
    target = known(targets, "GET", b"/a%2Fb%20c?d=%zz")
    assert targets.get("GET", b"/a%2Fb%20c?d=%zz") is target
    assert (target.shown_path, target.query) == ("/a%2Fb c", b"d=%zz")
    assert targets.get("PUT", b"/a%2Fb%20c?d=%zz") is not target


def test_targets_that_come_once_and_long_ones_are_not_kept() -> None:
    targets = Targets()
    once = [targets.get("GET", b"/%d" % n) for n in range(2000)]
    assert targets.get("GET", b"/0") is not once[0]
    long = b"/" + b"y" * 3000
    assert known(targets, "GET", long) is not targets.get("GET", long)


def test_a_request_leads_where_the_document_in_force_says(tmp_path: Path) -> None:
    document = tmp_path / "boats.yaml"
    document.write_text(DOCUMENT)
    entrance = Entrance(is_direct=True, settings=Settings(document=document))
    again = Sent((lookup(b"/boats"),) * 3)
    assert statuses(asyncio.run(entrance.send(again))) == [b"204"] * 3
    document.write_text(DOCUMENT.replace("204", "205"))
    entrance.mock.reload()
    assert statuses(asyncio.run(entrance.send(again))) == [b"205"] * 3
    document.write_text(DOCUMENT.replace("/boats", "/ships"))
    entrance.mock.reload()
    assert statuses(asyncio.run(entrance.send(again))) == [b"404"] * 3


def test_requests_that_differ_in_headers_are_routed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    entrance = Entrance(is_direct=True)
    routed: list[str] = []
    find = RouteTable.find

    def counting(self: RouteTable, method: str, path: str, *others: Any) -> object:
        routed.append(path)
        return find(self, method, path, *others)

    monkeypatch.setattr(RouteTable, "find", counting)
    pieces = tuple(lookup(b"/v3/profiles/ada", b"X-Request-Id: %d\r\n" % n) for n in range(20))
    assert statuses(asyncio.run(entrance.send(Sent(pieces)))) == [b"200"] * 20
    assert len(routed) <= 2  # the first request of a target is not kept


def test_a_request_is_read_by_the_choices_in_force_although_its_target_was_known() -> None:
    entrance = Entrance(is_direct=True)
    world = entrance.mock.world
    world.choices = {"empty-query-parameter": "ignore"}
    world.journal.listeners.append(lambda _entry: setattr(world, "choices", {}))
    wire = asyncio.run(entrance.send(Sent((lookup(b"/v3/qr-code/ada?size="),) * 4)))
    assert statuses(wire) == [b"200", b"400", b"400", b"400"]
    world.choices = {"empty-query-parameter": "ignore"}
    wire = asyncio.run(entrance.send(Sent((lookup(b"/v3/qr-code/ada?size="),) * 2)))
    assert statuses(wire) == [b"200", b"400"]

"""Each session has a world of its own, which ends with it."""

import anyio
import pytest
from tests.mcp_server.conftest import Refused

from understudy.mcp_server.session_worlds import SessionWorlds

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_world_ends_with_its_session(connect, worlds, mode):
    before = worlds()
    async with connect(mode) as agent:
        await agent.send("GET", "/profiles/ada")
        assert len(worlds() - before) == 1
    assert worlds() == before


async def test_two_sessions_share_nothing(connect):
    async with connect() as first, connect() as second:
        await first.send("PATCH", "/me/profile", token="ada-full", json_body={"company": "Acme"})
        assert '"Acme"' in (await first.send("GET", "/profiles/ada"))["body"]
        assert '"Acme"' not in (await second.send("GET", "/profiles/ada"))["body"]


async def test_a_new_world_replaces_the_one_of_the_session(connect, worlds):
    before = worlds()
    async with connect() as agent:
        first = await agent.call("create_world", people=["ada"])
        second = await agent.call("create_world", people=["ben"])
        assert worlds() - before == {second["world"]} != {first["world"]}
        with pytest.raises(Refused, match="create_world makes one"):
            await agent.call("exercised", world=first["world"])


async def test_a_world_that_was_deleted_elsewhere_can_be_replaced(connect, mock):
    async with connect() as agent:
        lost = (await agent.call("create_world"))["world"]
        mock.call("DELETE", f"/worlds/{lost}")
        with pytest.raises(Refused, match=lost):
            await agent.call("exercised")
        await agent.call("create_world")
        assert (await agent.send("GET", "/profiles/ada"))["status"] == 200


def test_a_client_without_a_session_names_its_world(mock):
    worlds = SessionWorlds(mock)
    with pytest.raises(Exception, match="call create_world, and pass its name as `world`"):
        worlds.find(None, None)
    made = worlds.create(None, people=["ada"])
    assert worlds.find(None, made.name) is made
    worlds.close()


async def test_calls_at_once_make_one_world(connect, worlds):
    before = worlds()
    async with connect() as agent, anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(agent.call, "exercised")
        await agent.call("list_people")
        assert len(worlds() - before) == 1

"""Tasks of an agent that writes or repairs a client, each in the fewest calls that it takes."""

import json
import os
import sys
from contextlib import closing

import anyio
import pytest
from mcp import Client
from tests.mcp_server.conftest import Agent, Refused

from understudy.interface.facts import Fact, Facts, facts_text
from understudy.mcp_server.server import assemble, document_of_another
from understudy.mock.settings import Settings
from understudy.testing.background import Background
from understudy.verify.admin_client import AdminClient

pytestmark = pytest.mark.anyio


async def test_find_out_what_a_refused_request_must_change(connect):
    async with connect() as agent:
        sent = await agent.send("PATCH", "/me/profile", token="ada-full", json_body={"location": 7})
        why = await agent.call("explain_request")
        assert (sent["status"], why["status"]) == (400, 400)
        assert (why["operation"], why["where"], why["expected"]) == (
            "updateOwnProfile",
            "/location",
            "string",
        )
        repaired = {"location": "Oslo"}
        sent = await agent.send("PATCH", "/me/profile", token="ada-full", json_body=repaired)
        assert sent["status"] == 200


async def test_sign_in_as_a_person_with_one_scope(connect):
    async with connect() as agent:
        scopes = ["auth", "avatar-profile:read"]
        issued = await agent.call("issue_token", person="ben", scopes=scopes)
        assert issued["scopes"] == scopes
        token = issued["token"]
        assert (await agent.send("GET", "/me/profile", token=token))["status"] == 200
        edit = await agent.send("PATCH", "/me/profile", token=token, json_body={"company": "Acme"})
        assert edit["status"] == 403


async def test_see_a_token_expire(connect):
    async with connect() as agent:
        token = (await agent.call("issue_token", person="ada", expires_in=60))["token"]
        await agent.call("set_clock", advance_seconds=61)
        assert (await agent.send("GET", "/me/profile", token=token))["status"] == 401


async def test_try_how_a_client_copes_with_two_failures(connect):
    async with connect() as agent:
        fault = {"operation": "getProfile", "status": 503, "times": 2}
        await agent.call("set_faults", faults=[fault])
        statuses = [(await agent.send("GET", "/profiles/ada"))["status"] for _ in range(3)]
        assert statuses == [503, 503, 200]


async def test_check_the_response_of_a_stub(connect):
    async with connect() as agent:
        right = json.loads((await agent.send("GET", "/profiles/ada"))["body"])
        request = {"method": "GET", "path": "/profiles/ada"}
        checked = await agent.call(
            "check_exchange", request=request, response={"status": 200, "json_body": right}
        )
        assert checked["is_right"]
        wrong = right | {"timezone": "Europe/Oslo"}
        checked = await agent.call(
            "check_exchange", request=request, response={"status": 200, "json_body": wrong}
        )
        assert [finding["rule"] for finding in checked["findings"]] == ["authenticated-only-fields"]


async def test_send_the_edge_cases_of_an_operation(connect):
    async with connect() as agent:
        cases = (await agent.call("edge_cases", operation="updateOwnProfile", count=6))["cases"]
        assert len(cases) == 6
        for case in cases:
            sent = await agent.call("send_request", request=case["request"])
            classes = {str(sent["status"]), f"{sent['status'] // 100}XX"}
            assert classes & set(case["statuses"]), case["description"]


async def test_upload_a_picture(connect, tiny_png):
    async with connect() as agent:
        sent = await agent.send("POST", "/me/avatars", token="ada-full", files={"data": tiny_png})
        assert sent["status"] in {200, 201}, sent["body"]
        listed = json.loads((await agent.send("GET", "/me/avatars", token="ada-full"))["body"])
        assert json.loads(sent["body"])["image_id"] in {avatar["image_id"] for avatar in listed}


async def test_use_up_a_rate_limit_and_wait_an_hour(connect):
    async with connect() as agent:
        await agent.call("create_world", choices={"rate-limits": "on"}, people=["ada"])
        statuses = {(await agent.send("GET", "/profiles/ada"))["status"] for _ in range(101)}
        assert statuses == {200, 429}
        await agent.call("set_clock", advance_seconds=3600)
        assert (await agent.send("GET", "/profiles/ada"))["status"] == 200


async def test_find_out_what_the_tests_of_an_application_never_used(connect):
    async with connect() as agent:
        await agent.send("GET", "/qr-code/ada")
        report = await agent.call("exercised")
        unused = {part["operation"]: part["never"] for part in report["operations"]}
        assert "status 200" not in unused["getQrCode"]
        assert "status 200" in unused["getProfile"]


async def test_read_the_rules_and_choose_another_reading(connect):
    async with connect() as agent:
        switches = json.loads(await agent.read("understudy://rules"))["switches"]
        assert switches["rate-limits"]["options"]
        with pytest.raises(Refused, match="rate-limits"):
            await agent.call("create_world", choices={"rate-limit": "off"})
        await agent.call("create_world", choices={"rate-limits": "off"})
        assert "x-ratelimit-limit" not in (await agent.send("GET", "/profiles/ada"))["headers"]


@pytest.mark.parametrize(
    "path", ["/profiles/ada", "/v3/profiles/ada?x=1", "{base_url}/profiles/ada"]
)
async def test_a_base_path_or_url_that_an_agent_gives_is_not_doubled(connect, path):
    async with connect() as agent:
        world = await agent.call("create_world")
        sent = await agent.send("GET", path.format(**world))
        assert sent["status"] == 200
        assert sent["url"].startswith(f"{world['base_url']}/profiles/ada")


async def test_find_out_why_this_is_403_and_make_a_test_for_it(connect, tmp_path):
    async with connect() as agent:
        world = await agent.call("create_world")
        scopes = ["auth", "avatar-profile:read"]
        token = (await agent.call("issue_token", person="ben", scopes=scopes))["token"]
        await agent.send("PATCH", "/v3/me/profile", token=token, json_body={"company": "Acme"})
        why = await agent.call("explain_request", status="403")
        assert why["identity"] == "ben (oauth; scopes auth avatar-profile:read)"
        assert any(rule.startswith("scope-") for rule in why["rules"]), why["rules"]
        file = tmp_path / "test_it.py"
        file.write_text(why["test"])
        variables = {"BASE_URL": world["base_url"], "TOKEN": token}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
        done = await anyio.run_process(
            command, env=os.environ | variables, cwd=tmp_path, check=False
        )
        assert b"1 passed" in done.stdout, done.stdout


async def test_a_test_for_a_request_sends_its_credential_where_it_was(tmp_path):
    document = tmp_path / "berths.yaml"
    schemes = "{basic: {type: http, scheme: basic}, key: {type: apiKey, in: header, name: X-Key}}"
    paths = "{/berths: {get: {security: [{basic: [], key: []}], responses: {'200': {description: All.}}}}}"
    document.write_text(
        f"{{openapi: 3.0.3, info: {{title: A, version: '1'}}, components: {{securitySchemes: {schemes}}}, paths: {paths}}}"
    )
    background = Background(Settings(document=document, log="off"))
    with closing(AdminClient(background.url)) as admin:
        async with Client(assemble(admin).server) as client:
            agent = Agent(client)
            sent = {"Authorization": "Basic bWU6c2VjcmV0", "X-Key": "ours"}
            await agent.send("GET", "/berths", headers=sent)
            why = await agent.call("explain_request")
    background.stop()
    compile(why["test"], "test_it.py", "exec")
    assert "'Basic $TOKEN'" in why["test"]
    assert "'x-key': os.path.expandvars('$TOKEN')" in why["test"]


async def test_an_agent_at_a_mock_of_another_service_is_told_of_its_rules_alone(tmp_path):
    (tmp_path / "berths.yaml").write_text(
        "{openapi: 3.0.3, info: {title: Berths, version: '1'}, paths: {/berths: {get: {responses: {'200': {description: All.}}}}}}"
    )
    background = Background(Settings(document=tmp_path / "berths.yaml", log="off"))
    with closing(AdminClient(background.url)) as admin:
        document = document_of_another(admin, tmp_path)
        async with Client(assemble(admin, document).server) as client:
            agent = Agent(client)
            rules = json.loads(await agent.read("understudy://rules"))
            cases = await agent.call("edge_cases", operation="GET /berths")
            instructions = client.instructions
    background.stop()
    assert {"answers", "document", "inferred-create-listed"} <= {it["id"] for it in rules["rules"]}
    assert "profile-unknown-404" not in {it["id"] for it in rules["rules"]}
    assert not rules["switches"]
    assert cases["cases"]
    assert instructions is not None
    assert "another service, 'Berths'" in instructions


async def test_find_out_whether_staging_is_still_as_it_was_learnt(mock, tmp_path):
    staging = Background(Settings(choices={"private-profile-lookup": "404"}, log="off"))
    (tmp_path / "staging.toml").write_text(
        f'base_url = "{staging.url}/v3"\nauth_url = "{staging.auth_url}"\n[known]\nprivate_slug = "hush"\n'
    )
    facts = tmp_path / "facts.yaml"
    learnt = Fact("profile-private", "403", (), 1, "2026-10-01")
    facts.write_text(facts_text(Facts(staging.url, "2026-10-01", 1, (learnt,), ())))
    try:
        server = assemble(mock, target=tmp_path / "staging.toml", facts=(facts,)).server
        async with Client(server) as client:
            agent = Agent(client)
            found = await agent.call("compare_deployment", rules=["profile-private"])
            with pytest.raises(Refused, match="profile-privat"):
                await agent.call("compare_deployment", rules=["profile-privat"])
    finally:
        staging.stop()
    (changed,) = found["changed"]
    assert (changed["before"], changed["now"], found["is_as_learnt"]) == ("403", "404", False)
    assert found["command"].startswith("understudy drift --target")


async def test_no_tool_sends_to_a_deployment_that_nobody_named(mock):
    async with Client(assemble(mock).server) as client:
        named = {tool.name for tool in (await client.list_tools()).tools}
    assert "compare_deployment" not in named

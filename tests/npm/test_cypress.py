"""``examples/cypress``: its tasks, called as Cypress calls them; Cypress itself is half a gigabyte."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import patient
from tests.cli.conftest import Running
from tests.house.documentation import ROOT
from tests.npm.packing import environment, project

CALLS = """
import config from "./cypress.config.js";

let tasks;
config.e2e.setupNodeEvents((event, registered) => (tasks = event === "task" && registered));
const call = async (name, options) => {
  // Cypress sends options and results as JSON, and refuses undefined.
  const result = await tasks[`understudy:${name}`](JSON.parse(JSON.stringify(options)));
  if (result === undefined) throw new Error(`${name} returned undefined`);
  return JSON.parse(JSON.stringify(result));
};
const { name: world, baseUrl } = await call("world", { people: ["ada"] });
const status = async (path, headers) => (await fetch(baseUrl + path, { headers })).status;
const token = await call("token", { world, person: "ada", lasts: { weeks: 2 } });
const headers = { Authorization: `Bearer ${token}` };
const before = await status("/me/profile", headers);
const time = await call("advance", { world, weeks: 2 });
const after = await status("/me/profile", headers);
await call("fault", { world, operation: "getProfile", status: 503 });
const broken = await status("/profiles/ada", {});
const journal = await call("journal", { world });
const closed = await call("close", { world });
console.log(JSON.stringify({ statuses: [before, after, broken], time, journal, closed }));
"""


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("mock"), "--log", "off")
    yield running
    running.stop()


def test_tasks_make_and_steer_worlds(mock: Running, tmp_path: Path):
    place = project(tmp_path / "project", ROOT / "examples" / "cypress")
    cypress = place / "node_modules" / "cypress"
    cypress.mkdir()
    (cypress / "index.js").write_text("exports.defineConfig = (config) => config;")
    (place / "calls.mjs").write_text(CALLS)
    site = mock.base_url.removesuffix("/v3")
    command, variables = ["node", "calls.mjs"], environment(UNDERSTUDY_URL=site)
    printed = json.loads(subprocess.check_output(command, cwd=place, env=variables))
    assert printed["statuses"] == [200, 401, 503]
    assert printed["time"].endswith("Z")
    assert len(printed["journal"].splitlines()) >= 3
    assert printed["closed"] is None
    worlds = patient.get(f"{site}/__admin/worlds").json()
    assert [world["name"] for world in worlds] == ["default"]

"""Inferred state is a world's state: isolated, reset, kept, exported and bounded."""

import io
import shlex
import zipfile

import pytest
from click.testing import CliRunner
from tests.collections.serving.conftest import TODO_LIST
from tests.mock.asking import asking

from understudy import limits
from understudy.cli import main
from understudy.cli.command_options import RunningMock
from understudy.mock.app import Mock
from understudy.mock.fixtures.loading import pack_world, unpack_fixtures
from understudy.mock.server.listing import ANY_CREDENTIALS
from understudy.mock.settings import Settings
from understudy.mock.store.items import items_of
from understudy.mock.store.sqlite import SqliteStore
from understudy.openapi.media_types import JSON


def names(ask, prefix: str = "") -> list[str]:
    return [it["name"] for it in ask("GET", f"{prefix}/lists").json()]


def test_every_collection_begins_with_three_items_that_are_the_same_for_a_seed(ask):
    again, other = (asking(Mock(Settings(document=TODO_LIST, seed=seed))) for seed in (0, 1))
    first = ask("GET", "/lists").json()
    assert len(first) == 3
    assert again("GET", "/lists").json() == first
    assert other("GET", "/lists").json() != first


def test_what_is_seeded_agrees_with_its_parent(ask):
    for parent in ask("GET", "/lists").json():
        todos = ask("GET", f"/lists/{parent['id']}/todos").json()["data"]
        assert [it["listId"] for it in todos] == [parent["id"]] * 3


@pytest.mark.usefixtures("home")
def test_a_world_has_items_of_its_own_and_a_reset_returns_to_the_first(ask):
    assert ask("POST", "/__admin/worlds", json={"name": "other"}).status_code == 201
    assert "Home" in names(ask)
    assert "Home" not in names(ask, "/__world/other")
    ask("DELETE", "/__admin/worlds/other")
    assert ask("POST", "/__admin/reset").status_code < 300
    assert "Home" not in names(ask)


def test_items_outlast_the_process(tmp_path):
    settings = Settings(document=TODO_LIST, state=tmp_path)
    first = Mock(settings)
    ask = asking(first)
    created = ask("POST", "/lists", json={"name": "Home"}).headers["location"]
    ask("POST", f"{created}/todos", json={"title": "Milk"})
    before = [ask("GET", path).json() for path in ("/lists", f"{created}/todos")]
    _close(first)
    second = Mock(settings)
    after = asking(second)
    assert [after("GET", path).json() for path in ("/lists", f"{created}/todos")] == before
    _close(second)


def _close(mock: Mock) -> None:
    assert isinstance(mock.worlds.store, SqliteStore)
    mock.worlds.store.close()


def test_an_export_begins_another_mock_with_the_same_items(ask, mock, home, milk, tmp_path):
    packed = pack_world(mock.world)
    zipfile.ZipFile(io.BytesIO(packed)).extractall(tmp_path)
    again = asking(Mock(Settings(document=TODO_LIST, fixtures=tmp_path)))
    assert [again("GET", path).json() for path in ("/lists", home, milk)] == [
        ask("GET", path).json() for path in ("/lists", home, milk)
    ]
    assert unpack_fixtures(packed)["items /lists"].keys() == {
        key for key, _ in mock.world.items(items_of("/lists"))
    }


def test_the_bytes_of_all_items_are_bounded(ask, monkeypatch):
    few = limits.ITEM_BYTES._replace(most=2_000)
    monkeypatch.setattr("understudy.mock.store.items.ITEM_BYTES", few)
    statuses = [
        ask("POST", "/lists", json={"name": f"{number} {'x' * 60}"}).status_code
        for number in range(20)
    ]
    assert statuses[0] == 201
    assert statuses[-1] == 413
    assert statuses.count(201) > 5


def test_the_number_of_all_items_is_bounded(ask, monkeypatch):
    few = limits.ITEMS._replace(most=10)
    monkeypatch.setattr("understudy.mock.store.items.ITEMS", few)
    responses = [ask("POST", "/lists", json={"name": f"list {number}"}) for number in range(12)]
    assert (responses[0].status_code, responses[-1].status_code) == (201, 413)
    assert responses[-1].headers["x-mock-limit"] == "items"


@pytest.mark.usefixtures("home")
def test_explain_names_the_inference_and_what_corrects_it(ask):
    entry = ask("GET", "/__admin/requests?limit=1").json()["requests"][0]
    why = ask("GET", f"/__admin/requests/{entry['id']}").json()["explanation"]
    assert (why["inference"]["resource"], why["inference"]["role"]) == ("/lists", "create")
    assert "--state-model" in why["inference"]["override"]
    assert any("POST /lists creates an item" in it for it in why["inference"]["reasons"])


class Steered:
    """Stands for the admin client of a command."""

    def __init__(self, ask) -> None:
        self._ask = ask

    def call(self, method: str, path: str, **options):
        return self._ask(method, f"/__admin{path}", **options).json()


@pytest.mark.usefixtures("home")
def test_the_command_explains_the_inference_in_words(ask, monkeypatch):
    monkeypatch.setattr(RunningMock, "client", lambda _: Steered(ask))
    shown = CliRunner().invoke(main, ["explain", "last"]).output
    assert "inferred  create of /lists, 99% sure" in shown
    assert "because  POST /lists creates an item" in shown
    assert "override  inferred; `understudy infer` explains it" in shown


def test_nothing_is_inferred_where_that_is_off():
    ask = asking(Mock(Settings(document=TODO_LIST, infer="off")))
    created = ask("POST", "/lists", json={"name": "Home"})
    assert created.headers["x-mock-response"] == "generated"
    assert "x-mock-state" not in created.headers


def test_a_collection_that_a_state_model_states_stateless_is_made_up(tmp_path):
    model = tmp_path / "model.yaml"
    model.write_text("collections: {/lists: {stateless: true}}\n")
    ask = asking(Mock(Settings(document=TODO_LIST, state_model=model)))
    assert ask("GET", "/lists").headers["x-mock-response"] == "generated"


def test_the_commands_of_the_first_screen_work(ask, mock):
    for it in mock.listing.operations("", ANY_CREDENTIALS):
        words = shlex.split(it.command)
        if it.method == "GET":
            assert ask("GET", words[-1]).status_code == 200, it.command
        if it.path == "/lists" and it.method == "POST":
            created = ask("POST", "/lists", content=words[-1], headers={"content-type": JSON})
            assert created.status_code == 201

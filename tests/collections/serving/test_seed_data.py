"""Seed data: the items that collections begin with, from JSON, YAML and CSV."""

from pathlib import Path

import pytest
from tests.collections.serving.conftest import TODO_LIST
from tests.mock.asking import asking

from understudy.errors import StartupError
from understudy.mock.app import Mock
from understudy.mock.settings import Settings

ID = "11111111-1111-4111-a111-111111111111"


def asked(seed_data: Path):
    return asking(Mock(Settings(document=TODO_LIST, seed_data=seed_data)))


def test_a_yaml_file_gives_items_of_several_collections(tmp_path):
    path = tmp_path / "seeds.yaml"
    path.write_text(
        f"lists: [{{id: {ID}, name: Home}}]\n"
        f"/lists/{{listId}}/todos: [{{listId: {ID}, title: Milk, priority: 5}}]\n"
    )
    ask = asked(path)
    assert [(it["id"], it["name"]) for it in ask("GET", "/lists").json()] == [(ID, "Home")]
    (todo,) = ask("GET", f"/lists/{ID}/todos").json()["data"]
    assert (todo["title"], todo["priority"], todo["listId"]) == ("Milk", 5, ID)


def test_a_directory_gives_a_file_for_each_collection_and_csv_is_typed(tmp_path):
    (tmp_path / "lists.json").write_text(f'[{{"id": "{ID}", "name": "Home"}}]')
    (tmp_path / "todos.csv").write_text(f"listId,title,priority,notes\n{ID},Milk,5,\n{ID},7,1,x\n")
    todos = asked(tmp_path)("GET", f"/lists/{ID}/todos").json()["data"]
    assert [(it["title"], it["priority"]) for it in todos] == [("Milk", 5), ("7", 1)]


def test_what_is_created_later_does_not_take_the_identifier_of_a_seed(tmp_path):
    path = tmp_path / "todos.csv"
    path.write_text(f"listId,id,title\n{ID},2,Milk\n")
    (tmp_path / "lists.json").write_text(f'[{{"id": "{ID}", "name": "Home"}}]')
    ask = asked(tmp_path)
    numbers = [ask("POST", f"/lists/{ID}/todos", json={"title": "Eggs"}).json()["id"] for _ in "12"]
    assert len({2, *numbers}) == 3


def test_an_identifier_that_is_made_is_not_that_of_a_later_seed(tmp_path):
    path = tmp_path / "seeds.yaml"
    path.write_text(
        f"lists: [{{id: {ID}, name: Home}}]\ntodos: [{{title: Milk}}, {{id: 1, title: Ink}}]\n"
    )
    ask = asked(path)
    todos = ask("GET", f"/lists/{ID}/todos").json()["data"]
    assert [(it["id"], it["title"]) for it in todos] == [(2, "Milk"), (1, "Ink")]


def test_items_below_two_parents_may_have_the_same_identifier(tmp_path):
    other = ID.replace("1", "2", 8)
    path = tmp_path / "seeds.yaml"
    path.write_text(
        f"lists: [{{id: {ID}, name: Home}}, {{id: {other}, name: Work}}]\n"
        f"todos: [{{listId: {ID}, id: 9, title: Milk}}, {{listId: {other}, id: 9, title: Ink}}]\n"
    )
    ask = asked(path)
    titles = [ask("GET", f"/lists/{it}/todos/9").json().get("title") for it in (ID, other)]
    assert titles == ["Milk", "Ink"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("seeds.yaml", "list: [{name: Home}]", "did you mean 'lists'?"),
        ("seeds.yaml", "lists: [{name: ''}]", r"lists: item 1: name: "),
        ("seeds.yaml", "lists: [7]", "must be an object"),
        (
            "seeds.yaml",
            f"lists: [{{id: {ID}, name: a}}, {{id: {ID}, name: b}}]",
            f"item 2: id '{ID}'",
        ),
        ("seeds.yaml", "lists: 7", "must be a list of items"),
        ("none.yaml", None, "cannot be read"),
    ],
)
def test_seed_data_that_cannot_be_used_is_refused_with_its_place(name, content, message, tmp_path):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(StartupError, match=message.replace("?", r"\?")) as refusal:
        asked(path)
    assert name in str(refusal.value)

"""A client that a generator builds from a document works against the mock of that document, unchanged."""

import os
import subprocess
from pathlib import Path

from tests.cli.conftest import Running
from tests.needs import PYTHON_PROGRAMS, program

DOCUMENT = Path(__file__).parents[1] / "collections" / "inference" / "labelled" / "todo.yaml"

PROGRAM = """
import sys
from todo_client import Client
from todo_client.api.default import (
    change_settings, complete_todo, create_list, create_todo, delete_list, delete_todo,
    get_list, get_settings, get_todo, get_todos, replace_todo,
)
from todo_client.models import GetTodosStatus, NewList, NewTodo, Settings

client = Client(sys.argv[1], raise_on_unexpected_status=True)
home = create_list.sync(client=client, body=NewList(name="Home"))
print(get_list.sync(home.id, client=client).name, home.created_at.tzinfo is not None)
print(create_list.sync(client=client, body=NewList(name="Home")).status)
milk, eggs = (
    create_todo.sync(home.id, client=client, body=NewTodo(title=title)) for title in ("Milk", "Eggs")
)
page = get_todos.sync(home.id, client=client, limit=1, sort="-title")
print([it.title for it in page.data], page.meta.total)
print(replace_todo.sync(home.id, milk.id, client=client, body=NewTodo(title="Cheese", priority=1)).title)
print(complete_todo.sync(home.id, eggs.id, client=client).status)
done = get_todos.sync(home.id, client=client, status=GetTodosStatus.DONE)
print([it.title for it in done.data])
delete_todo.sync_detailed(home.id, milk.id, client=client)
print(get_todo.sync_detailed(home.id, milk.id, client=client).status_code.value)
change_settings.sync(client=client, body=Settings(language="Welsh"))
print(get_settings.sync(client=client).language)
print(delete_list.sync_detailed(home.id, client=client).status_code.value)
print(get_todo.sync(home.id, eggs.id, client=client).message)
"""

EXPECTED = """\
Home True
409
['Milk'] 2
Cheese
done
['Eggs']
404
Welsh
204
The item '11' of /lists/{listId}/todos was deleted.
"""


def test_a_todo_client_works_unchanged(tmp_path: Path):
    generator = program("openapi-python-client")
    settings = tmp_path / "generator.yaml"
    settings.write_text("post_hooks: []\n")
    generate = [generator, "generate", "--path", str(DOCUMENT), "--config", str(settings)]
    subprocess.run(
        [*generate, "--meta", "none", "--output-path", str(tmp_path / "todo_client")],
        check=True,
        capture_output=True,
        timeout=120,
    )
    running = Running(tmp_path, "--document", str(DOCUMENT), "--log", "off")
    try:
        done = subprocess.run(
            [str(PYTHON_PROGRAMS / "python"), "-c", PROGRAM, running.base_url],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            timeout=120,
        )
    finally:
        running.stop()
    assert (done.stdout, done.stderr) == (EXPECTED, "")

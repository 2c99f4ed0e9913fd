"""The page of clients names those that ``make clients`` runs."""

from tests.tools.clients import PAGE, ROWS, load


def test_the_page_has_a_row_for_each_client():
    rows = PAGE.read_text(encoding="utf-8").partition(ROWS)[2].splitlines()
    found = [(row.split(" | ")[0].removeprefix("| "), row.split(" | ")[2][:-2]) for row in rows]
    assert found == [(client["name"], client["what"]) for client in load()]

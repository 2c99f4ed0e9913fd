"""The generated reference: every page by its file name, and what writes them.

The pages are made from the code and the documents at each build and are not committed: nobody can
forget to update them, and adding an option, a rule or a format touches no page.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.tools.docs import (
    catalogue,
    command_line,
    console_pictures,
    fault_kinds,
    fixture_files,
    limits_table,
    lint_rules,
    machine_output,
    make_targets,
    openapi_documents,
    output_formats,
    python_api,
    target_files,
)

PAGES: Mapping[str, Callable[[], str]] = {
    "commands.md": command_line.commands,
    "environment.md": command_line.environment,
    "exit-codes.md": machine_output.page_of_exit_codes,
    "json-output.md": machine_output.page_of_json_output,
    "resource-api.md": openapi_documents.resource_api,
    "authorization-server.md": openapi_documents.authorization_server,
    "admin-api.md": openapi_documents.admin_api,
    "user-info.md": openapi_documents.user_info,
    "web.md": openapi_documents.web,
    "switches.md": catalogue.switches_page,
    "rules.md": catalogue.rules_page,
    "faults.md": fault_kinds.page_of_faults,
    "limits.md": limits_table.page_of_limits,
    "lint.md": lint_rules.page_of_lint_rules,
    "formats.md": output_formats.page_of_formats,
    "target-files.md": target_files.page_of_target_files,
    "fixtures.md": fixture_files.page_of_fixtures,
    "python.md": python_api.python_page,
    "pytest.md": python_api.pytest_page,
    "console-pictures.md": console_pictures.page_of_pictures,
    "make.md": make_targets.page_of_targets,
}


def write(directory: Path) -> None:
    """Writes every page into `directory`; a page that did not change keeps its date."""
    for name, make in PAGES.items():
        path, text = directory / name, make()
        if not path.exists() or path.read_text() != text:
            path.write_text(text)

"""Lists the formats by their names for ``--format``."""

from collections.abc import Mapping

from understudy.generate.formats import (
    bruno,
    curl,
    har_file,
    http_file,
    jsonl,
    k6,
    postman,
    pytest_module,
)
from understudy.generate.formats.export import ExportFormat

FORMATS: Mapping[str, ExportFormat] = {
    "curl": ExportFormat(
        curl.write, "a shell script that sends and judges", ".sh", has_sequences=True
    ),
    "http": ExportFormat(http_file.write, "for VS Code and JetBrains", ".http", has_sequences=True),
    "har": ExportFormat(har_file.write, "HAR 1.2", ".har"),
    "postman": ExportFormat(
        postman.write, "a collection, v2.1, that judges", ".json", has_sequences=True
    ),
    "bruno": ExportFormat(
        bruno.write, "a collection (directory) that judges", "", has_sequences=True
    ),
    "k6": ExportFormat(
        k6.write, "a script that sends and judges", ".js", has_sequences=True, has_users=True
    ),
    "pytest": ExportFormat(
        pytest_module.write, "a module that sends and judges", ".py", has_sequences=True
    ),
    "jsonl": ExportFormat(jsonl.write, "a JSON object a line", ".jsonl", has_sequences=True),
}

"""Every format by the name that ``--format`` calls it."""

from collections.abc import Mapping

from understudy.generate.formats import (
    bruno,
    csv_rows,
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
    "curl": ExportFormat(curl.write, "a shell script that sends and judges", ".sh"),
    "http": ExportFormat(http_file.write, "for VS Code and JetBrains", ".http"),
    "har": ExportFormat(har_file.write, "HAR 1.2", ".har", has_sequences=False),
    "postman": ExportFormat(postman.write, "a collection, v2.1, that judges", ".json"),
    "bruno": ExportFormat(bruno.write, "a collection (directory) that judges", ""),
    "k6": ExportFormat(k6.write, "a script that sends and judges", ".js"),
    "pytest": ExportFormat(pytest_module.write, "a module that sends and judges", ".py"),
    "jsonl": ExportFormat(jsonl.write, "a JSON object a line", ".jsonl"),
    "csv": ExportFormat(
        csv_rows.write, "rows for a test-management tool", ".csv", has_sequences=False
    ),
}

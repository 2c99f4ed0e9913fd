"""Every format by the name that ``--format`` calls it."""

from collections.abc import Mapping

from understudy.generate.formats import (
    bruno,
    csv_rows,
    curl,
    har,
    http_file,
    jsonl,
    k6,
    postman,
    pytest_module,
)
from understudy.generate.formats.writing import Format

FORMATS: Mapping[str, Format] = {
    "curl": Format(curl.write, "a shell script that sends and judges", ".sh"),
    "http": Format(http_file.write, "for VS Code and JetBrains", ".http"),
    "har": Format(har.write, "HAR 1.2", ".har"),
    "postman": Format(postman.write, "a collection, v2.1, that judges", ".json"),
    "bruno": Format(bruno.write, "a collection (directory) that judges", ""),
    "k6": Format(k6.write, "a script that sends and judges", ".js"),
    "pytest": Format(pytest_module.write, "a module that sends and judges", ".py"),
    "jsonl": Format(jsonl.write, "a JSON object a line", ".jsonl"),
    "csv": Format(csv_rows.write, "rows for a test-management tool", ".csv"),
}

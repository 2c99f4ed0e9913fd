"""The page on target files, from the records that read them."""

from typing import Any

import msgspec
from tests.tools.docs.docstrings import entries, summary
from tests.tools.docs.markdown import page, prose
from tests.tools.docs.structs import keys

from understudy.verify.target import Target


def page_of_target_files() -> str:
    """Returns the page: the keys of the file, then those of each table."""
    parts = [
        "A target file tells `understudy verify` and `understudy generate` which deployment to judge, with"
        " which credentials, and what is permitted. It is TOML; `understudy verify --init --target"
        " staging.toml` asks for the values and writes one. Instead of any text, `env:NAME` reads the"
        " environment variable `NAME`, so that the file contains no secrets. `understudy verify --schema`"
        " prints the JSON Schema of target files, with which editors complete and check them; a file names"
        " it in its first line, `#:schema ./target.schema.json`. `--init` writes both.",
        prose(summary(Target)),
        keys(Target, is_shown=lambda field: not _is_table(field)),
    ]
    told = entries(Target, "Attributes")
    for record, names in _tables().items():
        parts += [f"## {', '.join(f'[{name}]' for name in names)}", prose(summary(record))]
        parts += [f"`[{name}]`: {prose(told[name])}" for name in names if name in told]
        parts.append(keys(record))
    return page("Target files", *parts)


def _tables() -> dict[Any, list[str]]:
    """Returns each record that a table of the file is read into, with the tables' names."""
    tables: dict[Any, list[str]] = {}
    for field in filter(_is_table, msgspec.structs.fields(Target)):
        tables.setdefault(field.type, []).append(field.name)
    return tables


def _is_table(field: msgspec.structs.FieldInfo) -> bool:
    return isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)

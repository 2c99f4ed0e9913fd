import importlib.util
from pathlib import Path

from tests.tools.benchmarks.preparing import compile_modules


def test_modules_of_a_package_are_compiled_where_python_itself_writes_no_bytecode(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.setattr("sys.pycache_prefix", None)
    module = tmp_path / "part" / "module.py"
    module.parent.mkdir()
    module.write_text("VALUE = 1\n")

    compile_modules(tmp_path)

    assert Path(importlib.util.cache_from_source(str(module))).exists()

"""The version of this installation, and the command that adds an extra to it.

On the public index ``understudy`` is another author's program, with the same import name and the same
command. So the distribution has another name, and no message says to install the bare name.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from understudy.errors import MissingExtra

DISTRIBUTION: Final = "understudy-mock"
"""Name of the distribution for pip, pipx and uv; the import name is ``understudy``."""

UNKNOWN_VERSION: Final = "0+unknown"
"""Version of sources that run without an installation."""


def version() -> str:
    """Returns the version of the installed distribution."""
    metadata = import_module("importlib.metadata")  # takes 20 ms, which `--help` does not need
    try:
        return str(metadata.version(DISTRIBUTION))
    except metadata.PackageNotFoundError:
        return UNKNOWN_VERSION


def adding(extra: str) -> str:
    """Returns the command that adds an extra to this installation."""
    return command_for(extra, Path(sys.prefix), _origin())


def command_for(extra: str, environment: Path, origin: dict[str, Any]) -> str:
    """Returns the command that adds an extra to an installation.

    Args:
        extra: Name of the extra in pyproject.toml.
        environment: Directory of the virtual environment.
        origin: Origin of the distribution (PEP 610); empty if it came from an index.
    """
    url = origin.get("url", "")
    if origin.get("dir_info", {}).get("editable"):
        checkout = Path(import_module("urllib.request").url2pathname(urlsplit(url).path))
        if environment.parent == checkout and (checkout / "Makefile").is_file():
            return "make install"
        return f"pip install --editable '{checkout}[{extra}]'"
    wanted = f"'{DISTRIBUTION}[{extra}]{f' @ {url}' if url else ''}'"
    if (environment / "pipx_metadata.json").exists():
        return f"pipx install --force {wanted}"
    if (environment / "uv-receipt.toml").exists():
        return f"uv tool install --force {wanted}"
    return f"pip install {wanted}"


def _origin() -> dict[str, Any]:
    """Returns the origin of the distribution, as the installer recorded it (PEP 610)."""
    metadata = import_module("importlib.metadata")
    try:
        text = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return {}
    origin: dict[str, Any] = json.loads(text or "{}")
    if "vcs_info" in origin:
        origin["url"] = f"{origin['vcs_info']['vcs']}+{origin['url']}"
    return origin


_EXTRAS = {
    "faker": "people",
    "filelock": "verify",
    "hiredis": "fleet",
    "hypothesis": "verify",
    "jsonschema_path": "verify",
    "mcp": "mcp",
    "pillow_heif": "heic",
    "openapi_core": "verify",
    "pydantic": "mcp",
    "redis": "fleet",
    "pytest": "pytest",
    "schemathesis": "verify",
    "trustme": "tls",
    "zxingcpp": "verify",
}
"""Top-level module to the extra of pyproject.toml that installs it."""


def missing_extra(error: ModuleNotFoundError) -> Exception:
    """Returns a ``MissingExtra`` if an extra would install the module, else the error itself."""
    module = (error.name or "").partition(".")[0]
    if module not in _EXTRAS:
        return error
    extra = _EXTRAS[module]
    return MissingExtra(f"{module} is not installed, which this needs; run: {adding(extra)}")

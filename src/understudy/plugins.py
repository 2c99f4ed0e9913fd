"""The plugins: looks up commands, stores, reports, formats, handlers and rules, ours and others'.

Our own parts are in one literal table, as text, so that nothing is imported before it is used, and the
core imports no plugin. Other packages offer parts by entry points, in the groups
``understudy.commands``, ``understudy.stores`` and so on. Reading the entry points of 150 installed
packages takes 0.06 s, as long as `understudy --help`. So they are read only for a name or an operation
that is not ours, and for the catalogue of rules.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final, Literal

from understudy.errors import StartupError

Kind = Literal[
    "commands",
    "stores",
    "reports",
    "formats",
    "handlers",
    "rules",
    "states",
    "entrances",
    "judges",
    "suggested_rules",
    "people",
]
"""The kinds of parts that other packages can offer."""

OURS: Final[Mapping[Kind, Mapping[str, str] | str]] = {
    # Name of a command to a click.Command.
    "commands": {
        "serve": "understudy.cli.mock_commands:serve",
        "verify": "understudy.cli.commands:verify",
        "learn": "understudy.cli.commands:learn",
        "drift": "understudy.cli.commands:drift",
        "record": "understudy.cli.commands:record",
        "generate": "understudy.cli.commands:generate",
        "infer": "understudy.cli.infer:infer",
        "lint": "understudy.cli.lint:lint",
        "rules": "understudy.cli.rules:rules",
        "fixtures": "understudy.cli.mock_commands:fixtures",
        "stub": "understudy.cli.stub:stub",
        "journal": "understudy.cli.journal:journal",
        "explain": "understudy.cli.explain:explain",
        "exercised": "understudy.cli.exercised:exercised",
        "export": "understudy.cli.export:export",
        "open": "understudy.cli.mock_commands:open_",
        "demo": "understudy.cli.mock_commands:demo",
        "exec": "understudy.cli.exec_:exec_",
        "cleanup": "understudy.cli.cleanup:cleanup",
        "worlds": "understudy.cli.worlds:worlds",
        "mcp": "understudy.cli.mcp:mcp",
        "schema": "understudy.cli.schema:schema",
        "plugins": "understudy.cli.listed_plugins:plugins",
    },
    # Scheme of a URL for --state to a function of default world, URL, settings and shared data of the
    # replicas, which returns the worlds and the store (mock.store.persisting.Join).
    "stores": dict.fromkeys(
        ("valkey", "valkeys", "redis", "rediss"), "understudy.fleet.shared_store:joined"
    ),
    # Name for --report to a function that renders a report (reports.content) as a text.
    "reports": "understudy.reports.formats:FORMATS",
    # Name for --format to an ExportFormat.
    "formats": "understudy.generate.formats.export_formats:FORMATS",
    # Any name to a mapping of method and path to a handler.
    "handlers": {},
    # Any name to the Rules of a section; importing its module registers their checks and probes.
    "rules": {},
    # Any name to a function of document and settings, which returns the inferred state of the
    # document or None (mock.app). Only one part: all operations of a document share one state.
    "states": {"collections": "understudy.collections.inferring:inferred_state"},
    # Any name to a function of the fixtures and a key, which returns a wrapper of the mock's
    # applications (mock.app).
    "entrances": {"record": "understudy.record.replaying:entrance"},
    # Any name to a function of target and document, which returns the evaluator of the state that a
    # document of another service suggests (verify.run.StateJudge).
    "judges": {"collections": "understudy.collections.judging:CollectionsJudge"},
    # Any name to the rules of such an evaluator, by their ids.
    "suggested_rules": {"collections": "understudy.collections.rules:INFERRED"},
    # Any name to a function of deployment and target file, which returns the replacer of personal
    # values by pseudonyms (record.personal_values), or None at a mock.
    "people": {"record": "understudy.record.recorder:people_of_reports"},
}
"""Kind and name to the ``module:attribute`` of our part; or kind to that of a mapping of its parts."""


def find(kind: Kind, name: str) -> Any:
    """Imports and returns a part by its name; None if no installed package offers it.

    Raises:
        StartupError: Several packages offer the part, or it cannot be imported.
    """
    ours = _ours(kind)
    if name in ours:
        part = ours[name]
        return _imported(part) if isinstance(part, str) else part
    return _loaded(kind, name) if name in _entry_points(kind) else None


def has(kind: Kind, name: str) -> bool:
    """Tells whether an installed package offers a part of this name, without importing the part."""
    return name in _ours(kind) or name in _entry_points(kind)


def names(kind: Kind) -> tuple[str, ...]:
    """Returns the names of our own parts, in the order of their listing."""
    return tuple(_ours(kind))


def foreign_names(kind: Kind) -> tuple[str, ...]:
    """Returns the names of the parts that other packages offer."""
    return tuple(sorted(_entry_points(kind)))


def brought() -> list[tuple[Kind, str, str, str, str]]:
    """Returns kind, name, package, version and ``module:attribute`` of each part of other packages."""
    return [
        (kind, name, point.dist.name, point.dist.version, point.value)
        for kind in OURS
        for name in foreign_names(kind)
        for point in _entry_points(kind)[name]
    ]


def every(kind: Kind) -> dict[str, Any]:
    """Imports and returns all parts of a kind by their names, ours first.

    Raises:
        StartupError: Several packages offer the same name, or a part cannot be imported.
    """
    ours = {name: find(kind, name) for name in names(kind)}
    return ours | {name: _loaded(kind, name) for name in foreign_names(kind)}


def forget() -> None:
    """Clears the cache of entry points, so that newly installed packages are found."""
    _entry_points.cache_clear()


def _ours(kind: Kind) -> Mapping[str, Any]:
    parts = OURS[kind]
    mapping: Mapping[str, Any] = _imported(parts) if isinstance(parts, str) else parts
    return mapping


def _imported(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


@cache  # a look-up reads the metadata of every installed package
def _entry_points(kind: Kind) -> Mapping[str, Sequence[Any]]:
    """Returns the entry points of a kind by their names."""
    # importlib.metadata takes 50 ms to import, which a run without foreign parts need not wait for.
    from importlib.metadata import entry_points  # noqa: PLC0415 - see above

    found: dict[str, list[Any]] = {}
    for point in entry_points(group=f"understudy.{kind}"):
        found.setdefault(point.name, []).append(point)
    return found


def _loaded(kind: Kind, name: str) -> Any:
    """Imports a part of another package.

    Raises:
        StartupError: Another package or understudy itself offers the same name, or the part cannot be
            imported.
    """
    points = _entry_points(kind)[name]
    packages = [*(["understudy"] if name in _ours(kind) else []), *(it.dist.name for it in points)]
    what = f"the entry point '{name}' of understudy.{kind}"
    if len(packages) > 1:
        msg = f"{' and '.join(packages)} both bring {what}; uninstall or rename one of them."
        raise StartupError(msg)
    try:
        return points[0].load()
    except Exception as error:  # a foreign module may raise anything while it is imported
        msg = (
            f"{packages[0]} {points[0].dist.version} brings {what}, which cannot be imported "
            f"({type(error).__name__}: {error}); correct that package, or uninstall it."
        )
        raise StartupError(msg) from error

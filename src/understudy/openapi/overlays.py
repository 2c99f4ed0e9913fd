"""Applies overlays to a document before it is read (Overlay Specification 1.0 and 1.1)."""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from understudy.errors import StartupError
from understudy.openapi.diagnostics import Diagnostic, loss
from understudy.openapi.references import with_text_keys
from understudy.openapi.yaml_files import read_yaml

_VERSIONS = ("1.0.", "1.1.")


def apply_overlays(root: dict[str, Any], overlays: Sequence[Path]) -> list[Diagnostic]:
    """Applies overlay files to a document in place, in their order.

    Args:
        root: The document's content.
        overlays: The files.

    Returns:
        A loss for each action that changes nothing, as its target matches nothing.

    Raises:
        StartupError: A file is not an overlay; the text names file and action.
    """
    return [unmatched for path in overlays for unmatched in _applied(root, path)]


def _applied(root: dict[str, Any], path: Path) -> list[Diagnostic]:
    unmatched = []
    for number, action in enumerate(_actions(path)):
        place = f"{path}: action {number + 1}"
        matches = _find(action.get("target"), root, place)
        if not matches:
            message = f"{place}: target {action['target']!r} matches nothing."
            unmatched.append(loss("unmatched-overlay-target", "#", message))
        elif action.get("remove") is True:
            _remove(matches, place)
        else:
            value = _value(action, root, place)
            for match in matches:
                _update(match, value, place)
    return unmatched


def _actions(path: Path) -> list[dict[str, Any]]:
    content = with_text_keys(read_yaml(path))
    version = content.get("overlay") if isinstance(content, dict) else None
    if not (isinstance(version, str) and version.startswith(_VERSIONS)):
        msg = f"{path} is not an overlay: it says overlay: {version!r}; understudy reads 1.0.x and 1.1.x."
        raise StartupError(msg)
    actions = content.get("actions")
    if not isinstance(actions, list) or not all(isinstance(action, dict) for action in actions):
        msg = f"{path}: actions must be a list of objects with a target."
        raise StartupError(msg)
    return actions


def _find(target: Any, root: dict[str, Any], place: str) -> list[Any]:
    """Returns the places that a JSONPath expression matches (RFC 9535).

    Raises:
        StartupError: It is no such expression.
    """
    import jsonpath  # noqa: PLC0415 - takes 40 ms, and most runs have no overlay

    try:
        expression = jsonpath.JSONPathEnvironment(strict=True).compile(target)
        return list(expression.finditer(root))
    except (jsonpath.JSONPathError, TypeError, AttributeError) as error:
        msg = f"{place}: target {target!r} is not a JSONPath (RFC 9535): {error}."
        raise StartupError(msg) from error


def _value(action: dict[str, Any], root: dict[str, Any], place: str) -> Any:
    """Returns what an action merges into its targets; ``copy`` is of Overlay 1.1."""
    if "copy" not in action:
        if "update" in action:
            return action["update"]
        msg = f"{place} has neither update nor remove: true."
        raise StartupError(msg)
    sources = _find(action["copy"], root, place)
    if len(sources) != 1:
        msg = f"{place}: copy {action['copy']!r} must match one value, and matches {len(sources)}."
        raise StartupError(msg)
    return sources[0].obj


def _remove(matches: list[Any], place: str) -> None:
    for match in reversed(matches):  # the last first, so that indexes stay
        if match.parent is None:
            msg = f"{place} would remove the whole document."
            raise StartupError(msg)
        key = match.parts[-1]
        holder = match.parent.obj
        if isinstance(holder, list) or key in holder:
            del holder[key]


def _update(match: Any, value: Any, place: str) -> None:
    target = match.obj
    if isinstance(target, dict) and not isinstance(value, dict):
        msg = f"{place}: {match.path} is an object, and update is not."
        raise StartupError(msg)
    if isinstance(target, dict):
        _merge(target, value)
    elif isinstance(target, list):
        target += deepcopy(value if isinstance(value, list) else [value])
    else:
        match.parent.obj[match.parts[-1]] = deepcopy(value)


def _merge(target: dict[str, Any], update: dict[str, Any]) -> None:
    """Merges objects recursively; lists are joined, and anything else is replaced."""
    for name, value in update.items():
        present = target.get(name)
        if isinstance(present, dict) and isinstance(value, dict):
            _merge(present, value)
        elif isinstance(present, list) and isinstance(value, list):
            target[name] = [*present, *deepcopy(value)]
        else:
            target[name] = deepcopy(value)

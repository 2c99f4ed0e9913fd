"""Reads YAML files by the core schema of YAML 1.2: dates and ``no`` stay strings.

JSON is read by a JSON parser, although it is YAML too, as that takes a fiftieth of the time.
"""

import codecs
import json
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import Any, Final, NoReturn

import yaml
from yaml.reader import ReaderError

from understudy.errors import StartupError, unreadable
from understudy.limits import FILE_BYTES, YAML_DEPTH, YAML_VALUES, Limit
from understudy.openapi.pointers import levels_of


def beyond(limit: Limit, path: Path) -> StartupError:
    """Returns the error for a file that exceeds a limit."""
    return StartupError(
        f"{path} is beyond the limit {limit.name}: at most {limit.most:,} {limit.of}."
    )


# The values of a YAML file are built from the events of libyaml's parser, in one pass. PyYAML's own
# composer builds a tree of nodes first, resolves types by YAML 1.1, where ``no`` is False, ``1:30``
# is 90 and a date is an object, and recurses for each level. This reader resolves types by the core
# schema of YAML 1.2 (10.3), limits levels and values, so that neither depth nor aliases of aliases
# exhaust memory, and takes half the time. Of YAML 1.1 it supports the merge key ``<<``, which
# documents use and every other reader of OpenAPI knows.

_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMERIC: Final = frozenset("-+.0123456789")
"""Characters that a number can begin with."""

_INTEGER: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")

_MOST_DIGITS: Final = 250  # less than a float holds (309), and than int() parses (4300)
_LARGEST: Final = 10**300
"""Replaces longer integers; it still fits a float, so that arithmetic with one cannot overflow."""

_HALF: Final = re.compile(rb"\\u[dD][89abAB]|\\u[dD][c-fC-F]")
"""Escapes of surrogates in JSON; a single one is half a character, which UTF-8 cannot encode."""

_TAGS: Final = "tag:yaml.org,2002:"
_TYPES: Final = {type(None): "null", bool: "bool", int: "int", float: "float"}

_NO_KEY: Final = object()
_MERGE: Final = object()
"""The key ``<<``, whose value is merged into the mapping around it."""

_ENDLESS: Final = YAML_VALUES.most + 1
"""Count of an alias within its own anchor: infinite, so the limit is exceeded."""


@dataclass(slots=True, eq=False)
class _Open:
    """A list or mapping whose end has not been read.

    Attributes:
        value: The list or mapping.
        start: Its first event.
        before: The number of values counted before it.
        key: The key whose value is read next; _NO_KEY if a key comes next, and in lists.
        merged: Mappings that ``<<`` merges in, which its own members override; None without ``<<``.
    """

    value: Any
    start: Any
    before: int
    key: Any = _NO_KEY
    merged: list[dict[Any, Any]] | None = None


class YamlValues:
    """Reads the values of one YAML file.

    Args:
        path: The name of the file in messages.
        repeated: Collects a message for each key that occurs twice; None refuses them.
    """

    def __init__(self, path: Path, repeated: list[str] | None) -> None:
        self._path = path
        self._repeated = repeated
        self._anchors: dict[str, tuple[Any, int]] = {}  # the value, and how many values it contains
        self._open: list[_Open] = []
        self._count = 0
        self._documents: list[Any] = []
        self._takes = {
            yaml.ScalarEvent: self._take_scalar,
            yaml.MappingStartEvent: self._begin_mapping,
            yaml.SequenceStartEvent: self._begin_sequence,
            yaml.MappingEndEvent: self._end,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._take_alias,
            yaml.DocumentStartEvent: self._begin_document,
        }

    def read(self, content: bytes) -> Any:
        """Returns the value of the only document in a file; None if the file is empty.

        Raises:
            YAMLError: The content is not YAML.
            StartupError: The content is nested too deeply, or its aliases expand to too many values.
        """
        takes = self._takes
        for event in yaml.parse(content, yaml.CSafeLoader):
            take = takes.get(type(event))
            if take is not None:
                take(event)
        return self._documents[0] if self._documents else None

    def _begin_document(self, event: Any) -> None:
        if self._documents:
            _refuse(event, "it holds a second document; keep one")

    def _take_scalar(self, event: Any) -> None:
        if _is_merge(event) and self._is_at_key():
            value = _MERGE
        elif event.tag is not None:
            value = _tagged(event)
        else:
            # implicit[0] is False for a quoted scalar, which is always a string
            value = _plain(event.value) if event.implicit[0] else event.value
        if event.anchor is not None:
            self._anchors[event.anchor] = value, 1
        self._put(event, value, 1)

    def _take_alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            _refuse(event, f"the alias {event.anchor!r} has no anchor before it")
        self._put(event, *self._anchors[event.anchor])

    def _begin_mapping(self, event: Any) -> None:
        self._begin(event, {}, "map")

    def _begin_sequence(self, event: Any) -> None:
        self._begin(event, [], "seq")

    def _begin(self, event: Any, value: Any, tag: str) -> None:
        if event.tag not in {None, "!", f"{_TAGS}{tag}"}:
            _refuse_tag(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = value, _ENDLESS
        self._open.append(_Open(value, event, self._count))
        if len(self._open) > YAML_DEPTH.most:
            raise beyond(YAML_DEPTH, self._path)

    def _end(self, _event: Any) -> None:
        ended = self._open.pop()
        if ended.merged is not None:
            _merge(ended.value, ended.merged)
        if ended.start.anchor is not None:
            self._anchors[ended.start.anchor] = ended.value, self._count - ended.before + 1
        self._put(ended.start, ended.value, 1)

    def _put(self, event: Any, value: Any, count: int) -> None:
        """Adds a value to the open list or mapping, as an item, key or value."""
        self._count += count
        if self._count > YAML_VALUES.most:
            raise beyond(YAML_VALUES, self._path)
        if not self._open:
            self._documents.append(value)
            return
        within = self._open[-1]
        if type(within.value) is list:
            within.value.append(value)
        elif within.key is _NO_KEY:
            within.key = self._key(event, value, within.value)
        else:
            if within.key is _MERGE:
                within.merged = [*(within.merged or ()), *_mappings(event, value)]
            else:
                within.value[within.key] = value
            within.key = _NO_KEY

    def _is_at_key(self) -> bool:
        """Tells whether the next scalar is the key of a mapping."""
        within = self._open[-1] if self._open else None
        return within is not None and type(within.value) is dict and within.key is _NO_KEY

    def _key(self, event: Any, key: Any, mapping: dict[Any, Any]) -> Any:
        """Returns a key as a string, as in JSON: the key 200 is ``"200"``."""
        if isinstance(key, list | dict):
            _refuse(event, "a list or a mapping is not a key")
        if key is not _MERGE:
            key = intern(str(getattr(event, "value", key)))  # the same few names recur
        if key in mapping:
            self._note_repeated(event, key)
        return key

    def _note_repeated(self, event: Any, key: Any) -> None:
        if self._repeated is None:
            _refuse(event, f"the key {key!r} occurs twice; keep one")
        line = event.start_mark.line + 1
        self._repeated.append(f"line {line}: the key {key!r} occurs twice; the last one counts.")


def _is_merge(event: Any) -> bool:
    """Tells whether a scalar is the merge key, ``<<`` or ``!!merge <<``."""
    is_plain = event.implicit[0] if event.tag is None else event.tag == f"{_TAGS}merge"
    return bool(event.value == "<<" and is_plain)


def _mappings(event: Any, value: Any) -> list[dict[Any, Any]]:
    """Returns the mappings of a merge key, the first of which overrides the others."""
    mappings = value if isinstance(value, list) else [value]
    if not all(isinstance(it, dict) for it in mappings):
        _refuse(event, "what << merges is not a mapping, nor a list of them")
    return mappings


def _merge(mapping: dict[Any, Any], merged: list[dict[Any, Any]]) -> None:
    """Adds the members of other mappings to a mapping, whose own members override them."""
    own = dict(mapping)
    mapping.clear()
    for other in reversed(merged):
        mapping.update(other)
    mapping.update(own)


def _plain(text: str) -> Any:
    """Returns the value of a scalar without quotes (YAML 1.2.2, 10.3.2).

    NaN and infinity stay strings. Decimals may begin with zeros: ``007`` is 7.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    return _fraction(text) if _FLOAT.fullmatch(text) else text


def _integer(text: str) -> int:
    """Returns an integer; one with more digits than a float can hold is replaced by 10**300."""
    if len(text) > _MOST_DIGITS:
        return -_LARGEST if text[0] == "-" else _LARGEST
    return int(text, 0) if text[:2] in {"0o", "0x"} else int(text)


def _fraction(text: str) -> float:
    """Returns a number with a fraction or exponent, limited to the range of floats."""
    return min(max(-sys.float_info.max, float(text)), sys.float_info.max)


def _tagged(event: Any) -> Any:
    """Returns the value of a scalar with a tag."""
    name = event.tag.removeprefix(_TAGS)
    if name in {"str", "!"}:
        return event.value
    if name not in _TYPES.values():
        _refuse_tag(event)
    value = _plain(event.value)
    if name == "float" and type(value) is int:
        return float(value)
    if _TYPES.get(type(value)) != name:
        _refuse(event, f"{event.value!r} is not of type {name}, which its tag says")
    return value


def _refuse_tag(event: Any) -> NoReturn:
    what = f"the tag {event.tag!r} is not of YAML's core schema; leave it out"
    _refuse(event, what)


def _refuse(event: Any, what: str) -> NoReturn:
    raise yaml.MarkedYAMLError(problem=what, problem_mark=event.start_mark)


_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, as its mark begins with that one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order mark to encoding (YAML 1.2.2, 5.2)."""


def read_yaml(path: Path, repeated: list[str] | None = None) -> Any:
    """Reads one YAML or JSON file.

    Args:
        path: The file, in UTF-8 unless a byte order mark says otherwise.
        repeated: Collects a message for each key that occurs twice; None refuses them.

    Returns:
        Dicts, lists, strings, numbers, booleans and None.

    Raises:
        StartupError: The file cannot be read, or is not YAML; the text names file and line.
    """
    return parse_yaml(file_bytes(path), path, repeated)


def file_bytes(path: Path) -> bytes:
    """Returns the content of a document or a fixture.

    Raises:
        StartupError: The file cannot be read, or is too long.
    """
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES.most + 1)
    except OSError as error:
        raise StartupError(unreadable(path, error)) from error
    if len(content) > FILE_BYTES.most:
        raise beyond(FILE_BYTES, path)
    return content


def parse_yaml(content: bytes, path: Path, repeated: list[str] | None = None) -> Any:
    """Parses the content of a YAML or JSON file.

    Args:
        content: The content, in UTF-8 unless a byte order mark says otherwise.
        path: The name of the file in messages.
        repeated: Collects a message for each key that occurs twice; None refuses them.

    Raises:
        StartupError: The content is not YAML; the text names file and line.
    """
    try:
        content = _in_utf_8(content)
        value = _parse(content, path, repeated)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else f"{path}"
        msg = f"{where} is not readable as YAML: {_in_words(error)}."
        raise StartupError(msg) from error
    if levels_of(value, YAML_DEPTH.most) > YAML_DEPTH.most:
        raise beyond(YAML_DEPTH, path)
    return value


_REMEDIES: Final = {
    "cannot start any token": "no value begins with this character; quote the value, and indent with spaces",
    "tab character": "a tab stands where spaces indent; replace it by spaces",
    "expected ',' or": "the list or object of line {line} is not closed before; close it, or write a comma",
    "end of stream": "the quoted text of line {line} has no end; close it with its quote",
    "expected key": "this belongs to no key; indent it as its neighbours, or quote the whole value",
    "mapping values": "a colon stands where no key can end; quote the value, or indent the line as its neighbours",
    "sequence entries": "a list begins in the line of its key; begin it in a line of its own",
    "expected '-'": "this is no item of the list of line {line}; begin it with `- `, or indent it otherwise",
    "expected ':'": "the key of line {line} has no colon; write `key: value`",
    "escape character": "YAML has no such escape; double the backslash, or use single quotes",
    "directive": "a line that begins with % is a directive; quote it",
    "incompatible": "the file asks for another version of YAML; leave out its line %YAML",
    "alphabetic": "a name stands behind * and &; quote the value",
    "node content": "no value begins with this character; quote the value",
    "comment or line break": "only a line break or a comment stands behind | and >; quote the value",
}
"""Part of a parser message to a clearer message with a remedy."""


def _in_words(error: Exception) -> str:
    """Returns a parser error in clearer words, or the parser's own if it is not in the table."""
    if isinstance(error, (ReaderError, UnicodeDecodeError)):  # a binary file
        return "it has characters that no text has; name a text file in UTF-8"
    message = str(getattr(error, "problem", None) or error)
    begun = getattr(error, "context_mark", None)
    remedy = next((text for part, text in _REMEDIES.items() if part in message), message)
    return remedy.replace("{line}", str(begun.line + 1) if begun else "before").rstrip(".")


def _parse(content: bytes, path: Path, repeated: list[str] | None) -> Any:
    if content.lstrip()[:1] in (b"{", b"["):
        # on failure it is YAML flow style, or an error that the YAML reader reports with its line
        with suppress(ValueError, RecursionError):
            return _parse_json(content, repeated)
    return YamlValues(path, repeated).read(content)


def _in_utf_8(content: bytes) -> bytes:
    """Returns a file's content in UTF-8, without a byte order mark."""
    for mark, encoding in _ENCODINGS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding).encode()
    return content


def _parse_json(content: bytes, repeated: list[str] | None) -> Any:
    """Parses JSON, and reports repeated keys.

    Raises:
        ValueError: The content is not JSON, or has a key twice and ``repeated`` is None.
    """
    twice: list[str] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            name = next(name for name in found if names.count(name) > 1)
            twice.append(f"the key {name!r} occurs twice; the last one counts.")
        return found

    read = json.JSONDecoder(
        object_pairs_hook=members,
        parse_constant=_refuse_constant,
        parse_int=_integer,
        parse_float=_fraction,
    ).decode
    value = read(content.decode())
    if _HALF.search(content):
        value = read(json.dumps(value, ensure_ascii=False).encode(errors="replace").decode())
    if twice and repeated is None:
        raise ValueError(twice[0])
    if repeated is not None:
        repeated += twice
    return value


def _refuse_constant(name: str) -> Any:
    msg = f"{name} is not JSON (RFC 8259, 6)"
    raise ValueError(msg)

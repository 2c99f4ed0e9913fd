"""YAML is read as YAML 1.2 has it, and what cannot be read is named."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from yaml import safe_dump

from understudy.errors import StartupError
from understudy.limits import Limit
from understudy.openapi.yaml_files import read_yaml


def read(directory: Path, content: str | bytes) -> Any:
    path = directory / "file.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_yaml(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("Yes", "Yes"),
        ("on", "on"),
        ("2024-05-01", "2024-05-01"),
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("<<", "<<"),
        ("=", "="),
        ("1.2.3", "1.2.3"),
        ("0o17", 15),
        ("0xff", 255),
        ("017", 17),
        ("-5", -5),
        ("+5", 5),
        ("0", 0),
        ("1.50", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("'7'", "7"),
    ],
)
def test_a_plain_scalar_is_what_yaml_1_2_says(tmp_path: Path, text: str, value: object) -> None:
    found = read(tmp_path, f"key: {text}")["key"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{<<: *a, y: 3}", {"x": 1, "y": 3}),
        ("{y: 3, <<: *a}", {"x": 1, "y": 3}),
        ("{<<: [*b, *a]}", {"x": 9, "z": 0, "y": 2}),
        ("{<<: *a, <<: *b}", {"x": 1, "y": 2, "z": 0}),
        ("{<<: {x: 5}}", {"x": 5}),
        ("{<<: []}", {}),
        ("{!!merge <<: *a}", {"x": 1, "y": 2}),
        ("{'<<': *a}", {"<<": {"x": 1, "y": 2}}),
        ("[<<]", ["<<"]),
    ],
)
def test_a_merge_key_takes_the_members_of_other_mappings(tmp_path: Path, text, value) -> None:
    anchors = "a: &a {x: 1, y: 2}\nb: &b {x: 9, z: 0}\n"
    found = read(tmp_path, f"{anchors}found: {text}\nagain: *a")
    assert found["found"] == value
    assert found["again"] == {"x": 1, "y": 2}


def test_a_mapping_with_a_merge_key_can_be_merged_itself(tmp_path: Path) -> None:
    found = read(tmp_path, "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b, x: 3}")
    assert found["c"] == {"x": 3, "y": 2}


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(codec="ascii", exclude_categories=["Nd"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
)


@given(value=_JSON)
@settings(max_examples=50)
def test_what_a_dumper_quotes_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    assert read(tmp_path_factory.getbasetemp(), safe_dump(value)) == value


def test_a_key_that_stands_there_twice_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match=r"file\.yaml:3:1 .*the key 'a' occurs twice"):
        read(tmp_path, "a: 1\nb: 2\na: 3\n")


def test_a_syntax_error_is_named_by_line_and_column(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match=r"file\.yaml:3:2 is not readable as YAML"):
        read(tmp_path, "a: 1\nb: [1, 2\nc: 3\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", "3:2 .*the list or object of line 2 is not closed before"),
        ("a: 'x\nb: 1\n", "3:1 .*the quoted text of line 1 has no end; close it"),
        ("a: @b\n", "1:4 .*no value begins with this character; quote the value"),
        ("a:\n\tb: 1\n", "2:1 .*indent with spaces"),
        ("a: b: c\n", "1:5 .*a colon stands where no key can end; quote the value"),
        ("a: 'it's'\n", "1:8 .*quote the whole value"),
        ("a: 1\nb\n", "3:1 .*the key of line 2 has no colon"),
        ("- a\nb: 1\n", "2:1 .*no item of the list of line 1; begin it with `- `"),
        ('a: "\\q"\n', "1:5 .*double the backslash"),
        ("a: *\n", "1:5 .*a name stands behind"),
        ("%no\na: 1\n", "1:4 .*a line that begins with % is a directive"),
    ],
)
def test_a_syntax_error_is_said_with_its_place_and_what_to_do(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(StartupError, match=rf"file\.yaml:{says}"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "content",
    [b"a: \xff\xfe", b"a: \x00", b"? [a]\n: 1"],
    ids=["not UTF-8", "a zero byte", "a list as key"],
)
def test_what_is_no_content_for_us_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(StartupError, match=r"file\.yaml"):
        read(tmp_path, content)


def test_a_missing_file_is_named_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match=r"missing\.yaml cannot be read: No such file"):
        read_yaml(tmp_path / "missing.yaml")


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match="is a directory; name a file"):
        read_yaml(tmp_path)


def billion_laughs(levels: int) -> bytes:
    """Returns a few lines that stand for 9 to the power of so many values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("content", "limit"),
    [
        (b"[" * 50_000, "yaml-depth"),
        (b"a: " + b"{a: " * 50_000, "yaml-depth"),
        (b"- " * 50_000 + b"a", "yaml-depth"),
        (billion_laughs(11), "yaml-values"),
    ],
    ids=["open brackets", "open braces", "lists in a line", "aliases of aliases"],
)
def test_what_would_overflow_or_grow_by_powers_is_refused(
    tmp_path: Path, content: bytes, limit: str
) -> None:
    with pytest.raises(StartupError, match=rf"file\.yaml is beyond the limit {limit}"):
        read(tmp_path, content)


def test_a_flat_list_of_too_many_values_is_refused(tmp_path: Path, monkeypatch) -> None:
    few = Limit("yaml-values", 10_000, "values")
    monkeypatch.setattr("understudy.openapi.yaml_files.YAML_VALUES", few)
    with pytest.raises(StartupError, match="yaml-values"):
        read(tmp_path, b"[" + b"a," * 150_000 + b"a]")


def test_a_few_aliases_stand_for_what_their_anchor_holds(tmp_path: Path) -> None:
    assert read(tmp_path, "a: &a [1, 2]\nb: *a\n") == {"a": [1, 2], "b": [1, 2]}


def test_an_alias_stands_for_the_latest_of_its_anchors(tmp_path: Path) -> None:
    assert read(tmp_path, "a: &a 1\nb: *a\nc: &a 2\nd: *a\n") == {"a": 1, "b": 1, "c": 2, "d": 2}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!str 7", "7"),
        ("! 7", "7"),  # YAML 1.2.2, 6.9.1
        ("!!int '7'", 7),
        ("!!float 7", 7.0),
        ("!!bool 'true'", True),
        ("!!null ''", None),
        ("!!seq [!!map {}]", [{}]),
    ],
)
def test_a_tag_of_the_core_schema_names_the_type(tmp_path: Path, text: str, value: object) -> None:
    found = read(tmp_path, f"key: {text}")["key"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: !!binary aGVsbG8=", "1:4 .*tag:yaml.org,2002:binary' is not of YAML's core schema"),
        ("a: !thing [1]", "1:4 .*'!thing' is not of YAML's core schema"),
        ("a: !!seq {}", "1:4 .*2002:seq' is not of YAML's core schema"),
        ("a: !!int many", "1:4 .*'many' is not of type int"),
        ("a: *b", "1:4 .*the alias 'b' has no anchor before it"),
        ("a: 1\n--- \nb: 2", "2:1 .*a second document"),
        ("a: &a [*a, *a]", "beyond the limit yaml-values"),
        ("a: &a {<<: *a}", "beyond the limit yaml-values"),
        ("a: {<<: 7}", "1:9 .*what << merges is not a mapping, nor a list of them"),
        ("a: {<<: [{}, 7]}", "1:9 .*what << merges is not a mapping"),
    ],
)
def test_what_means_nothing_to_us_is_refused_with_its_place(
    tmp_path: Path, text: str, what: str
) -> None:
    with pytest.raises(StartupError, match=what):
        read(tmp_path, text)


def test_each_key_that_occurs_twice_is_noted_where_the_last_counts(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("a: 1\na: 2\nb: {c: 3, c: 4}\na: 5\n")
    notes: list[str] = []
    assert read_yaml(path, notes) == {"a": 5, "b": {"c": 4}}
    assert [note.partition(":")[0] for note in notes] == ["line 2", "line 3", "line 4"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", ["a: é\r\nb: [no]\r\n", '{"a": "é",\r\n "b": ["no"]}'])
def test_a_byte_order_mark_names_the_encoding(tmp_path: Path, encoding: str, text: str) -> None:
    assert read(tmp_path, text.encode(encoding)) == {"a": "é", "b": ["no"]}


def test_json_is_not_read_by_the_yaml_reader(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("understudy.openapi.yaml_files.yaml", None)
    text = ' {"a": [1, 1.5, true, null, "no"], "b": 123456789012345678901234567890}'
    assert read(tmp_path, text) == {
        "a": [1, 1.5, True, None, "no"],
        "b": 123456789012345678901234567890,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 1, b: no}", {"a": 1, "b": "no"}),
        ('{"a": 1, # why\n}', {"a": 1}),
        ('{"a": NaN}', {"a": "NaN"}),
    ],
)
def test_yaml_in_braces_is_read_as_yaml(tmp_path: Path, text: str, value: object) -> None:
    assert read(tmp_path, text) == value


def test_a_key_that_stands_twice_in_json_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match=r"file\.yaml:2:2 .*the key 'a' occurs twice"):
        read(tmp_path, '{"a": 1,\n "a": 2}')


def test_json_of_too_many_levels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match="yaml-depth"):
        read(tmp_path, '{"a":' * 150 + "1" + "}" * 150)


def test_a_key_is_the_text_that_is_written(tmp_path: Path) -> None:
    text = "{200: a, 0x1: b, null: c, true: {1.50: d}, &k 7: e}"
    assert read(tmp_path, text) == {
        "200": "a",
        "0x1": "b",
        "null": "c",
        "true": {"1.50": "d"},
        "7": "e",
    }
    with pytest.raises(StartupError, match="the key '200' occurs twice"):
        read(tmp_path, "{200: a, '200': b}")

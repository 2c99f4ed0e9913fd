"""One reader of multipart forms, for the mock, the judge and the recorder."""

import tracemalloc

import pytest

from understudy.exchange.multipart import (
    FormPart,
    MultipartError,
    boundary_of,
    parts_of,
    read,
    written,
)

TYPE = "multipart/form-data; boundary=x"
HEAD = b"--x\r\nContent-Disposition: form-data; "


@pytest.mark.parametrize(
    ("content_type", "boundary"),
    [
        (TYPE, b"x"),
        ('multipart/form-data; charset=utf-8; boundary="a b"', b"a b"),
        ("Multipart/Form-Data; Boundary=x", b"x"),
        ("multipart/mixed; boundary=x", b""),
        ("multipart/form-data", b""),
        ("", b""),
    ],
)
def test_the_boundary_is_that_of_a_form(content_type, boundary):
    assert boundary_of(content_type) == boundary


def test_what_was_written_is_read():
    part = FormPart("data", b"\x89PNG\r\n--not-x\r\n", "me.png")
    assert parts_of(written(part, "image/png", "x"), TYPE) == [part]


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (HEAD + b"name=a\r\n\r\n1\r\n--x--\r\n", [FormPart("a", b"1")]),
        (HEAD + b'name="a"; filename=""\r\n\r\n\r\n--x--', [FormPart("a", b"", "")]),
        (b"preamble\r\n" + HEAD + b'name="a"\r\n\r\n1\r\n--x--\r\nepilogue', [FormPart("a", b"1")]),
        (b"", []),
        (b"no form", []),
        (HEAD + b'name="a"\r\n\r\ncut', []),
    ],
)
def test_odd_and_broken_forms_have_the_parts_that_can_be_read(body, parts):
    assert parts_of(body, TYPE) == parts


def test_a_form_that_is_cut_is_said_to_be():
    with pytest.raises(MultipartError, match="ends before its last boundary"):
        read(HEAD + b'name="a"\r\n\r\ncut', b"x")


def test_a_large_file_is_read_in_little_more_memory_than_its_own():
    """Each further copy of ten megabytes keeps the event loop from others for milliseconds."""
    content = written(FormPart("a", bytes(4_000_000), "a.bin"), "x/y", "b")
    tracemalloc.start()
    try:
        assert len(read(content, b"b")[0].content) == 4_000_000
        assert tracemalloc.get_traced_memory()[1] < 2 * len(content)
    finally:
        tracemalloc.stop()

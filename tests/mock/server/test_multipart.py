"""Uploads as real clients send them, and as none should."""

import pytest

from understudy.errors import BadRequest
from understudy.limits import BODY_BYTES
from understudy.mock.server.bodies import multipart_pairs

PATH = "/v1/notes/1/picture"
PICTURE = b"\x89PNG\r\n\x1a\n\x00\xff"


def part(content: bytes, disposition: bytes, more: bytes = b"") -> bytes:
    head = b"Content-Disposition: form-data; " + disposition
    return b"--x\r\n" + head + more + b"\r\n\r\n" + content + b"\r\n"


def upload(notes, body: bytes, content_type: str = "multipart/form-data; boundary=x"):
    return notes.post(PATH, content=body, headers={"content-type": content_type})


def refusal(response, status: int = 400) -> str:
    assert response.status_code == status, response.text
    assert set(response.json()) == {"error", "code"}
    text: str = response.json()["error"]
    return text


@pytest.mark.parametrize(
    ("disposition", "more"),
    [
        (b'name="data"; filename="a.png"', b"\r\nContent-Type: image/png"),
        (b"name=data; filename=a.png", b""),
        (b'name="data"; filename="a.png"', b"\r\nContent-Type: application/octet-stream;"),
        (b'name="data"; filename=""', b""),
        (b'name="data"', b""),
        (b"name=data;", b"\r\nContent-Type: application/octet-stream;"),
        (b"name=\"data\"; filename*=utf-8''a.png; filename=a", b""),
        (b'filename="\xff\xfe.png"; name="data"', b""),
    ],
)
def test_a_file_is_its_bytes_however_its_part_is_described(
    notes, disposition: bytes, more: bytes
) -> None:
    response = upload(notes, part(PICTURE, disposition, more) + b"--x--\r\n")
    assert response.json() == {"data": PICTURE.hex()}


@pytest.mark.parametrize("end", [b"--x--", b"--x--\r\n", b"--x--\r\nepilogue"])
def test_a_body_may_end_in_any_way_that_rfc_2046_has(notes, end: bytes) -> None:
    response = upload(notes, part(PICTURE, b"name=data; filename=a") + end)
    assert response.json() == {"data": PICTURE.hex()}


def test_an_empty_line_before_the_last_boundary_belongs_to_the_file(notes) -> None:
    response = upload(notes, part(PICTURE + b"\r\n", b"name=data; filename=a") + b"--x--\r\n")
    assert response.json() == {"data": (PICTURE + b"\r\n").hex()}


def test_a_boundary_of_plus_signs_is_a_boundary(notes) -> None:
    body = (part(PICTURE, b"name=data; filename=a") + b"--x--\r\n").replace(b"--x", b"--+++")
    response = upload(notes, body, "multipart/form-data; boundary=+++")
    assert response.json() == {"data": PICTURE.hex()}


def test_the_type_of_a_multipart_body_may_be_written_in_any_case(notes) -> None:
    body = part(PICTURE, b"name=data; filename=a") + b"--x--\r\n"
    response = upload(notes, body, 'Multipart/Form-Data ; boundary="x"')
    assert response.json() == {"data": PICTURE.hex()}


def test_fields_beside_the_file_are_read_as_the_document_types_them(notes) -> None:
    data = {"stars": "4", "caption": "é", "tags": ["a", "b"], "unknown": "c"}
    response = notes.post(PATH, files={"data": PICTURE}, data=data)
    found = {"data": PICTURE.hex(), "stars": 4, "caption": "é", "tags": ["a", "b"]}
    assert response.json() == {**found, "unknown": "c"}


def test_a_file_in_a_field_for_text_is_read_as_text(notes) -> None:
    response = notes.post(PATH, files={"data": PICTURE, "caption": ("a.txt", b"words")})
    assert response.json()["caption"] == "words"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"--x--\r\n", '"data" is a required property'),
        (b"", '"data" is a required property'),
        (part(b"a", b"name=more") + b"--x--", '"data" is a required property'),
        (part(b"a", b"name=data") * 2 + b"--x--", "data: given more than once"),
        (part(b"\xff", b"name=caption") + b"--x--", "caption: is not UTF-8 text"),
        (part(b"\xff", b"name=tags") + b"--x--", "tags: is not UTF-8 text"),
        (part(b"x", b"name=stars") + part(b"a", b"name=data") + b"--x--", "stars"),
        (part(b"a", b"x=y") + b"--x--", "multipart"),
        (b"nothing of the kind --x--", "multipart"),
        (b"--y\r\n\r\n--x--", "multipart"),
        (part(b"a", b"name=data")[:-8], "ends before its last boundary"),
    ],
    ids=range(11),
)
def test_an_upload_that_is_not_as_documented_is_named(notes, body: bytes, words: str) -> None:
    assert words in refusal(upload(notes, body))


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary="])
def test_a_body_without_a_boundary_is_refused(notes, content_type: str) -> None:
    assert "has no boundary" in refusal(upload(notes, b"--x--", content_type))


def test_of_a_repeated_field_that_the_document_does_not_know_the_first_counts(notes) -> None:
    response = notes.post(PATH, files={"data": PICTURE}, data={"more": ["1", "2"]})
    assert response.json()["more"] == "1"


def test_an_alias_stands_for_the_member_that_the_document_names(serve) -> None:
    aliases = {("POST", "/notes/{id}/picture"): ("image", "data")}
    service = serve(api={"aliases": aliases})
    assert service.post(PATH, files={"image": PICTURE}).json() == {"data": PICTURE.hex()}
    both = {"image": PICTURE, "data": PICTURE}
    assert "data: given more than once" in refusal(service.post(PATH, files=both))


def test_a_body_beyond_the_limit_is_413(notes) -> None:
    response = notes.post(PATH, files={"data": b"a" * BODY_BYTES.most})
    assert "At most 11,534,336 bytes of a body" in refusal(response, 413)


def test_what_stands_before_the_first_boundary_is_ignored(notes):
    body = part(PICTURE, b'name="data"; filename="a.png"') + b"--x--\r\n"
    assert upload(notes, b"a preamble\r\n" + body).json() == {"data": PICTURE.hex()}


def test_the_same_bytes_under_another_boundary_are_another_form() -> None:
    body = part(b"--y\r\n", b'name="data"') + b"--x--"
    for _ in range(3):
        assert multipart_pairs(body, {b"boundary": b"x"}) == [("data", b"--y\r\n")]
        with pytest.raises(BadRequest, match="last boundary"):
            multipart_pairs(body, {b"boundary": b"y"})

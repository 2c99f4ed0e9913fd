"""Whatever bytes come in, what goes out is an answer or a clear refusal."""

import httpx
from hypothesis import given
from hypothesis import strategies as st

_TARGETS = st.sampled_from(
    [
        ("GET", "/v1/notes"),
        ("POST", "/v1/notes"),
        ("GET", "/v1/notes/1"),
        ("POST", "/v1/notes/1/picture"),
        ("POST", "/v1/forms"),
        ("GET", "/v1/shelf"),
        ("GET", "/v1/shelf/own"),
        ("GET", "/v1/reports"),
        ("GET", "/v1/typed"),
    ]
)
_TYPES = st.sampled_from(
    [
        b"application/json",
        b"application/x-www-form-urlencoded",
        b"multipart/form-data; boundary=x",
        b"multipart/form-data",
        b'multipart/form-data; boundary="',
    ]
)
_HEADERS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *(b"accept", b"authorization", b"content-type", b"cookie", b"host", b"origin"),
                *(b"content-encoding", b"x-depth", b"x-mock-choose", b"x-key"),
            ]
        ),
        st.binary(max_size=30) | _TYPES,
    ),
    max_size=5,
)
_QUERIES = st.binary(max_size=40) | st.lists(
    st.tuples(
        st.sampled_from([b"size", b"tag", b"ids", b"filter", b"scope[0]", b"scope[", b"ratio"]),
        st.binary(max_size=9),
    )
).map(lambda pairs: b"&".join(name + b"=" + value for name, value in pairs))


def answered(response: httpx.Response) -> None:
    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        assert set(response.json()) in ({"error", "code"}, {"title", "status", "detail"})


@given(target=_TARGETS, query=_QUERIES, headers=_HEADERS, body=st.binary(max_size=60))
def test_no_request_whatever_is_the_mocks_failure(notes, target, query, headers, body) -> None:
    sent = (*headers, (b"content-length", str(len(body)).encode()))
    answered(notes.bare(*target, query, sent, body))


@given(path=st.text(max_size=30), method=st.sampled_from(["GET", "POST", "HEAD", "X", ""]))
def test_no_path_whatever_is_the_mocks_failure(notes, path: str, method: str) -> None:
    answered(notes.bare(method, f"/{path}"))


_PARTS = st.lists(
    st.sampled_from([b"--x", b"--x--", b"\r\n", b"\r\n\r\n", b"\n", b": ", b";", b'"', b"\xff"])
    | st.sampled_from([b"Content-Disposition: form-data; ", b"name=data", b'filename="a"'])
    | st.sampled_from([b"Content-Type: ", b"Content-Transfer-Encoding: ", b"base64", b"x"]),
    max_size=20,
).map(b"".join)


@given(body=_PARTS)
def test_no_multipart_body_whatever_is_the_mocks_failure(notes, body: bytes) -> None:
    headers = {"content-type": "multipart/form-data; boundary=x"}
    answered(notes.post("/v1/notes/1/picture", content=body, headers=headers))


_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-9, 9) | st.text("aé"),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["text", "parts", "a"]), inner),
    max_leaves=10,
)


@given(value=_ANY_JSON)
def test_no_json_whatever_is_the_mocks_failure(notes, value: object) -> None:
    answered(notes.post("/v1/notes", json=value))

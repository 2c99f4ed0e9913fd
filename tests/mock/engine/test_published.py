"""The document in force is published beside what it describes."""

from understudy.mock.service.published import PATH, publish, with_published
from understudy.openapi.loader import load


def test_a_document_publishes_itself_whether_or_not_it_says_so(serve, tmp_path) -> None:
    written = serve().document
    document = with_published(written)
    handlers = {("GET", PATH): publish(document, "/v1")}
    response = serve(api={"document": document, "handlers": handlers}).get("/v1/openapi")
    assert response.json() == {**document.raw, "servers": [{"url": "http://mock.test/v1"}]}
    assert PATH not in written.raw["paths"]
    copy = tmp_path / "copy.json"
    copy.write_bytes(response.content)
    assert load(copy).base_path == "/v1"


def test_a_document_that_describes_its_own_place_is_left_as_it_is(serve) -> None:
    document = serve("openapi: 3.1.0\npaths: {/openapi: {get: {}}}", api={"handlers": {}}).document
    assert with_published(document) is document

"""The bundled documents as a real deployment is judged by them."""

from pathlib import Path

from understudy.openapi.loader import document_of
from understudy.verify.shapes import with_status_classes


def opened(**responses):
    """Returns the responses of an operation that declares these, opened to classes."""
    paths = {"/goods": {"get": {"responses": responses}}}
    info = {"title": "Shop", "version": "1"}
    document = document_of({"openapi": "3.0.3", "info": info, "paths": paths}, Path("shop.yaml"))
    return with_status_classes(document).raw["paths"]["/goods"]["get"]["responses"]


def test_an_assumed_status_stands_for_its_class():
    created = {"description": "Created.", "x-status": "assumed"}
    assert opened(**{"201": created})["2XX"] == created


def test_a_refusal_may_have_any_status_in_the_first_declared_shape():
    shapes = {"404": {"description": "Not found."}, "401": {"description": "Unauthorized."}}
    assert opened(**shapes)["default"] == shapes["401"]


def test_an_operation_that_declares_no_refusal_may_be_refused_too():
    assert opened(**{"200": {"description": "All."}})["default"] == {
        "description": "A refusal, or a failure."
    }

"""A recorded value keeps its schema, so that a replay satisfies the document if the service did."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from understudy.api.bundled_target import TARGET
from understudy.openapi.loader import Node, document_of
from understudy.openapi.schemas import schemas_of
from understudy.openapi.validators import SchemaValidator
from understudy.record.allow_list import AllowList, Dropped
from understudy.record.pseudonyms import Pseudonyms

CASES: list[tuple[dict[str, Any], Any]] = [
    ({"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"}, "ABC-1234"),
    ({"type": "string", "maxLength": 4}, "Olaf"),
    ({"type": "string", "format": "ipv4"}, "10.0.0.7"),
    ({"type": "integer", "minimum": 1, "maximum": 5}, 4),
    ({"type": "number", "exclusiveMaximum": 0}, -2.5),
    ({"type": "integer", "multipleOf": 25}, 75),
    ({"type": "integer", "enum": [100, 200]}, 200),
    ({"required": ["name"]}, {"name": "Olaf"}),
    ({"additionalProperties": {"type": "string", "maxLength": 4}, "minProperties": 1}, {"o": "p"}),
    ({"additionalProperties": True, "propertyNames": {"pattern": "^[a-z]{2}$"}}, {"fi": 7}),
    ({"anyOf": [{"type": "string", "maxLength": 2}, {"type": "string", "minLength": 40}]}, "ab"),
]


@pytest.fixture
def allowed():
    """Returns the allow list of a document with a schema, the schema, and its validator."""

    def allowed(schema: dict[str, Any]) -> tuple[AllowList, Node, SchemaValidator]:
        info, schemas = {"title": "a", "version": "1"}, {"schemas": {"A": schema}}
        content = {"openapi": "3.1.0", "info": info, "paths": {}, "components": schemas}
        document = document_of(content, Path("api.yaml"))
        pseudonyms = Pseudonyms(b"k" * 32, TARGET, datetime(2026, 3, 1, tzinfo=UTC))
        node = Node("#/components/schemas/A", schema)
        validator = schemas_of(document).validator(node)
        return AllowList(document, pseudonyms, Dropped()), node, validator

    return allowed


@pytest.mark.parametrize(("schema", "value"), CASES)
def test_a_recorded_value_satisfies_the_schema_that_it_satisfied(allowed, schema, value) -> None:
    of, node, validator = allowed(schema)
    kept = of.value(value, node, "GET /a")
    assert validator.is_valid(kept), kept
    assert of.value(value, node, "GET /a") == kept
    assert schema.get("enum") or kept != value


def test_a_code_that_is_no_secret_of_a_flow_keeps_its_pattern(allowed) -> None:
    of, node, validator = allowed({"type": "string", "pattern": "^[A-Z]{3}$"})
    assert validator.is_valid(of.value("EUR", node, "GET /a", "body.price.code"))
    assert of.value("USD", None, "GET /a", "body.price.code").startswith("***")


def test_the_names_in_a_map_are_pseudonyms(allowed) -> None:
    of, node, _ = allowed({"additionalProperties": {"type": "boolean"}})
    (name,) = of.value({"olaf@example.org": True}, node, "GET /a")
    assert "olaf" not in name
    assert name.endswith("@example.com")


def test_an_identifier_in_a_path_is_the_one_that_was_drawn_for_the_body(allowed) -> None:
    of, node, _ = allowed({"type": "string", "pattern": "^item_[a-z0-9]{8}$"})
    drawn = of.value("item_0a1b2c3d", node, "GET /a", "body.id")
    assert of.text("item_0a1b2c3d", None, "itemId") == drawn

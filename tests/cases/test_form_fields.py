"""Fields that a form does not declare, as cases of generate."""

import re
from itertools import islice

import pytest

from understudy.cases.plans import Planner
from understudy.cases.selection import KINDS, cases
from understudy.cases.test_data import TestData
from understudy.openapi.loader import load

CLOSED = """
openapi: 3.1.0
info: {title: Closed, version: '1'}
paths:
  /upload:
    post:
      operationId: upload
      requestBody:
        required: true
        content:
          KIND:
            schema:
              type: object
              required: [file]
              properties: {file: {type: string, format: binary}}
              additionalProperties: MORE
      responses: {'200': {description: fine}}
"""


@pytest.mark.parametrize("kind", ["multipart/form-data", "application/x-www-form-urlencoded"])
@pytest.mark.parametrize(("more", "expected"), [("false", {"open"}), ("true", {"valid"})])
def test_an_unknown_field_is_valid_where_the_schema_takes_it(tmp_path, kind, more, expected):
    path = tmp_path / "closed.yaml"
    path.write_text(CLOSED.replace("KIND", kind).replace("MORE", more))
    planner = Planner(load(path), "resource", TestData())
    made = islice(cases(planner.plan(planner.operations[0]), 0, KINDS), 400)
    unknown = re.compile("(form|multipart): an (empty )?unknown (field|part)")
    assert {case.kind for case in made if unknown.match(case.description)} == expected

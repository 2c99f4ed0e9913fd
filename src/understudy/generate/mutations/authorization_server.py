"""What the interface's prose says of the authorization server: authorize, token and token-info."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from understudy.generate.mutations import authorize, token_endpoint
from understudy.generate.mutations.changes import Apply
from understudy.generate.mutations.mutation import Mutation
from understudy.generate.mutations.operation_context import OperationContext
from understudy.generate.test_data import TestData
from understudy.interface.operations import AUTHORIZE, TOKEN, TOKEN_INFO


class Prose(NamedTuple):
    """What the interface says of one operation of the authorization server.

    Attributes:
        base: Puts known values into the plain request.
        scene: Members of the scene that the document does not say.
        oddities: Yields further turns.
    """

    base: Apply
    scene: Mapping[str, Any]
    oddities: Callable[[OperationContext], Iterator[Mutation]]


def prose(key: str, known: TestData) -> Prose | None:
    """Returns what the interface says of an operation, or None where it is not the interface's."""
    if key == AUTHORIZE:
        scene, oddities = authorize.scene_of(known), authorize.oddities_of(known)
        return Prose(partial(authorize.base, known), scene, oddities)
    if key == TOKEN:
        scene, oddities = token_endpoint.token_scene(known), token_endpoint.grants(known)
        return Prose(partial(token_endpoint.token_base, known), scene, oddities)
    if key == TOKEN_INFO:
        scene, oddities = token_endpoint.token_info_scene(known), token_endpoint.validations
        return Prose(partial(token_endpoint.token_info_base, known), scene, oddities)
    return None

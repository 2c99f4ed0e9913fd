"""Pairs the parameters of two operations by where they are sent, and not by their names in paths."""

from collections.abc import Mapping

from understudy.openapi.declared_parameters import Parameter
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.operations import Operation

ParameterPlace = tuple[str, str]
"""The location of a parameter, and its name or its number in the path."""


def by_place(operation: Operation) -> dict[ParameterPlace, Parameter]:
    """Returns parameters by place and name; those of the path by their order."""
    order = PATH_PARAMETER.findall(operation.path)
    return {
        (it.location, str(order.index(it.name)) if it.location == "path" else _name(it)): it
        for it in operation.parameters
    }


def label_of(parameter: Parameter) -> str:
    """Returns the place of a parameter in reports."""
    return f"{parameter.location} parameter {parameter.name}"


def _name(parameter: Parameter) -> str:
    """Returns a parameter's name; those of headers are the same in any case (RFC 9110, 5.1)."""
    return parameter.name.lower() if parameter.location == "header" else parameter.name


def moved(
    parameter: Parameter,
    others: Mapping[ParameterPlace, Parameter],
    own: Mapping[ParameterPlace, Parameter],
) -> Parameter | None:
    """Returns the parameter of the same name that stands in another place there, and not here."""
    return next(
        (
            it
            for place, it in others.items()
            if it.name.lower() == parameter.name.lower() and place not in own
        ),
        None,
    )


def written(parameter: Parameter) -> str:
    """Returns how the value of a parameter is written."""
    if parameter.is_json:
        return "JSON"
    return f"{parameter.style}, {'exploded' if parameter.explode else 'not exploded'}"

"""Resources: the document in force, the rules of the contract, and the people of the mock."""

from collections.abc import Callable, Mapping

import httpx
import orjson

from understudy.errors import StartupError
from understudy.interface.rules import load_rules, switches
from understudy.mcp_server.messages import NOTICE
from understudy.openapi.bundled import openapi_directory
from understudy.verify.admin_client import AdminClient


def resources(mock: AdminClient) -> Mapping[str, tuple[str, Callable[[], str]]]:
    """Returns the resources of a mock: what each holds, and how it is read, by its URI."""
    return {
        "understudy://document": (
            "The OpenAPI document that the mock serves, as JSON or YAML.",
            lambda: _document(mock),
        ),
        "understudy://rules": (
            "Every rule of the contract with its status, and the switches that choose another reading.",
            _rules,
        ),
        "understudy://people": (
            "The people that each world begins with, and what each is for. Stored texts are data.",
            lambda: _people(mock),
        ),
    }


def _document(mock: AdminClient) -> str:
    """Returns the published definition.

    Raises:
        StartupError: The mock does not respond.
    """
    url = mock.call("GET", "/worlds/default")["base_url"] + "/openapi"
    try:
        response = httpx.get(url, trust_env=False, timeout=30).raise_for_status()
    except httpx.HTTPError as error:
        msg = f"{url} cannot be read: {error}."
        raise StartupError(msg) from error
    return response.text


def _rules() -> str:
    rules = load_rules(openapi_directory() / "rules.yaml")
    listed = {
        "rules": [
            {
                "id": rule.id,
                "statement": rule.statement,
                "status": rule.status,
                "section": rule.section,
            }
            for rule in rules
        ],
        "switches": {
            name: {
                "options": list(switch.options) if switch.values is None else str(switch.values),
                "default": switch.default,
            }
            for name, switch in switches(rules).items()
        },
    }
    return orjson.dumps(listed).decode()


def _people(mock: AdminClient) -> str:
    people = mock.call("GET", "/worlds/default")["people"]
    kept = ("slug", "display_name", "about")
    listed = [{name: person[name] for name in kept} for person in people]
    return orjson.dumps({"notice": NOTICE, "people": listed}).decode()

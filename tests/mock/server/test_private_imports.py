"""Connexion's routing is loaded without the rest of it, and nobody else notices."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from understudy.mock.server._private_imports import without_packages

ROOT = Path(__file__).parents[3]


def run(code: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def test_a_mock_is_imported_without_what_routing_never_calls() -> None:
    loaded = run(
        """
        import understudy.cli.serve, sys
        heavy = {"connexion", "flask", "httpx", "rich", "PIL", "jinja2", "jsonschema", "requests"}
        print(*sorted((heavy | {"werkzeug"}) & sys.modules.keys()))
        """
    )
    assert loaded.split() == []


def test_the_state_of_other_services_is_imported_for_their_documents_alone() -> None:
    assert run(
        """
        import sys
        from pathlib import Path
        from understudy.mock.app import Mock
        from understudy.mock.settings import Settings

        def is_imported():
            return "understudy.collections.inference" in sys.modules

        Mock(Settings())
        print(is_imported())
        Mock(Settings(document=Path("tests/mock/petstore.yaml")))
        print(is_imported())
        """
    ).split() == ["False", "True"]


def test_who_imports_connexion_before_and_after_has_all_of_it() -> None:
    assert run(
        """
        import sys, connexion
        before = dict(sys.modules)
        import understudy.mock.server._connexion
        assert connexion is sys.modules["connexion"]
        assert all(sys.modules[name] is module for name, module in before.items())
        for name in [name for name in sys.modules if name.startswith("connexion")]:
            del sys.modules[name]
        import connexion
        connexion.AsyncApp("after").add_api(
            {"openapi": "3.0.3", "info": {"title": "a", "version": "1"}, "paths": {}}
        )
        print(connexion.middleware.routing.RoutingMiddleware.__module__)
        """
    ).split() == ["connexion.middleware.routing"]


def test_nobody_else_gets_a_package_that_is_absent_for_connexion() -> None:
    assert run(
        """
        import sys
        import understudy.cli.serve
        from understudy.mock.server._private_imports import _Absent
        for module in list(sys.modules.values()):
            for name, value in vars(module).items():
                assert not isinstance(value, _Absent), (module, name)
        import jinja2, jsonschema, requests, werkzeug
        jsonschema.validate(1, {"type": "integer"})
        print(jinja2.Template("{{ 1 }}").render(), requests.Request, werkzeug.Request)
        """
    ).startswith("1 <class 'requests.models.Request'> <class 'werkzeug.wrappers.request.Request'>")


def test_a_package_that_is_not_there_is_named() -> None:
    with pytest.raises(ModuleNotFoundError, match="nowhere"), without_packages("nowhere"):
        pass

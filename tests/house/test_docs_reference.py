"""The generated reference leaves nothing out, and the site builds without a dead link."""

import re
import subprocess
import sys
from importlib.util import find_spec

import click
import pytest
import yaml
from tests.house.documentation import ROOT
from tests.needs import missing
from tests.tools.docs.console_pictures import VIEWS, page_of_pictures
from tests.tools.docs.exit_codes import MEANINGS, USES
from tests.tools.docs.pages import PAGES

from understudy import plugins
from understudy.cli import main
from understudy.cli.exit_codes import ExitCode
from understudy.generate.formats.export_formats import FORMATS as CASE_FORMATS
from understudy.interface.rules import load_rules, switches
from understudy.reports.formats import FORMATS as REPORT_FORMATS
from understudy.verify.target import load_target

RULES = load_rules(ROOT / "openapi" / "rules.yaml")
METHODS = {"get", "put", "post", "patch", "delete"}


def operation_ids(name: str) -> list[str]:
    document = yaml.safe_load((ROOT / "openapi" / name).read_text())
    items = document["paths"].values()
    return [op["operationId"] for item in items for key, op in item.items() if key in METHODS]


@pytest.mark.parametrize("name", main.list_commands(click.Context(main)))
def test_every_command_and_option_stands_in_it(name):
    section = PAGES["commands.md"]().partition(f"\n## understudy {name}\n")[2].partition("\n## ")[0]
    command = main.get_command(click.Context(main), name)
    assert command is not None
    options = [it.opts[0] for it in command.params if isinstance(it, click.Option)]
    assert [option for option in options if f"`{option}" not in section] == []
    assert section


@pytest.mark.parametrize(
    ("page", "document"),
    [
        ("resource-api.md", "service.yaml"),
        ("authorization-server.md", "authorization.yaml"),
        ("admin-api.md", "admin.yaml"),
        ("web.md", "web.yaml"),
        ("user-info.md", "user-info.yaml"),
    ],
)
def test_every_operation_stands_in_it(page, document):
    headings = re.findall(r"^### (\w+)$", PAGES[page](), re.M)
    assert [name for name in operation_ids(document) if name not in headings] == []


def test_pictures_of_the_console_are_shown_where_they_were_taken(tmp_path):
    assert "No pictures were there" in page_of_pictures(tmp_path)
    for name in VIEWS:
        (tmp_path / f"{name}-desk-light.png").touch()
    text = page_of_pictures(tmp_path)
    assert [
        name for name in VIEWS if f"(../../build/console/{name}-desk-light.png)" not in text
    ] == []


def test_every_rule_stands_in_it():
    text = PAGES["rules.md"]()
    assert [rule.id for rule in RULES if f"| `{rule.id}` |" not in text] == []


def test_every_switch_stands_in_it_with_its_default_in_bold():
    text = PAGES["switches.md"]()
    for name, switch in switches(RULES).items():
        section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert re.findall(r"^- \*\*`(.+?)`\*\*", section, re.M) == [switch.default]
        assert len(re.findall("^- ", section, re.M)) == len(switch.options)


def test_the_target_files_that_it_shows_are_read_as_they_stand(tmp_path):
    shown = re.findall(r"```toml\n# (\S+)\n(.*?)```", PAGES["target-files.md"](), re.S)
    assert [name for name, _ in shown] == ["staging.toml", "jetties.toml", "jetties-login.toml"]
    for name, text in shown:
        path = tmp_path / name
        path.write_text(text)
        variables = dict.fromkeys(re.findall(r"env:(\w+)", text), "secret")
        assert load_target(path, variables).base_url.startswith("https://"), name


def test_every_format_stands_in_it():
    text = PAGES["formats.md"]()
    assert [name for name in [*CASE_FORMATS, *REPORT_FORMATS] if f"| `{name}` |" not in text] == []


def test_every_person_token_and_application_stands_in_it():
    text = PAGES["fixtures.md"]()
    tokens = yaml.safe_load((ROOT / "fixtures" / "tokens.yaml").read_text())
    files = [
        *(ROOT / "fixtures").glob("people/*.yaml"),
        *(ROOT / "fixtures").glob("applic*/*.yaml"),
    ]
    names = [*(token["token"] for token in tokens), *(path.stem for path in files)]
    assert [name for name in names if f"| `{name}` |" not in text] == []


def test_the_site_builds_without_a_warning(tmp_path):
    if find_spec("sphinx") is None:
        missing("Sphinx")
    build = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--builder", "html"]
    done = subprocess.run(
        [*build, "--doctree-dir", str(tmp_path / "doctrees"), "docs", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "understudy verify" in (tmp_path / "site" / "reference" / "commands.html").read_text()
    links = re.findall(r"\]\((\S+?)\):", (tmp_path / "site" / "llms.txt").read_text())
    assert links
    assert [link for link in links if not (tmp_path / "site" / link).is_file()] == []


def test_every_target_of_the_makefile_stands_in_it():
    targets = re.findall(r"^([a-z-]+):.*## (.*)$", (ROOT / "Makefile").read_text(), re.M)
    text = PAGES["make.md"]()
    assert [
        (name, told) for name, told in targets if f"| `make {name}` | {told} |" not in text
    ] == []
    assert targets


def test_every_exit_code_has_a_meaning_and_stands_on_its_page():
    text = PAGES["exit-codes.md"]()
    assert set(MEANINGS) == set(ExitCode)
    assert [code for code in ExitCode if f"| `{int(code)}` | {MEANINGS[code]} |" not in text] == []
    assert [name for name in USES if f"| `{name}` |" not in text] == []
    assert set(USES) <= set(plugins.names("commands"))

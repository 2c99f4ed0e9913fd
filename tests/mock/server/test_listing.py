"""The operations of a document as the start page and the first screen of a mock list them."""

from understudy.cli.serve import ROWS, banner
from understudy.mock.app import Mock
from understudy.mock.server import listing
from understudy.mock.settings import Settings

PATH = "  /a{}: {{get: {{responses: {{'200': {{description: a}}}}}}}}"


def test_only_the_commands_that_fit_the_screen_are_made(tmp_path, monkeypatch) -> None:
    path = tmp_path / "api.yaml"
    paths = "\n".join(PATH.format(number) for number in range(300))
    path.write_text(f"openapi: 3.0.3\ninfo: {{title: a, version: '1'}}\npaths:\n{paths}\n")
    mock = Mock(Settings(document=path))
    made = []
    command = listing.curl_command

    def counted(*arguments) -> str:
        made.append(arguments)
        return command(*arguments)

    monkeypatch.setattr(listing, "curl_command", counted)
    assert "and 289 more" in banner(mock, "http://m", "http://a")
    assert len(made) == ROWS

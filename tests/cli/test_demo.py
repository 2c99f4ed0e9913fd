"""``understudy demo``: a run of verify finds each of the three faults, and none where they are left out."""

from pathlib import Path

from click.testing import CliRunner
from tests.cli.conftest import Running

from understudy.cli import main

RULES = "bearer-scheme-any-case,bearer-header,qr-default-size,profile-unknown-404"


class Demo(Running):
    """The demo in a process of its own."""

    command = ("demo",)


def judged(tmp_path: Path, *options: str) -> tuple[int, str]:
    """Returns how verify ends at the staging, and what it prints."""
    target = tmp_path / "staging.toml"
    demo = Demo(tmp_path, "--staging-port", "0", "--target", str(target), *options)
    try:
        done = CliRunner().invoke(main, ["verify", "--target", str(target), "--rules", RULES])
    finally:
        demo.stop()
    return done.exit_code, done.output


def test_verify_names_the_three_causes(tmp_path: Path):
    code, said = judged(tmp_path)
    assert code == 1, said
    headings = (
        "`bearer` in lower case is refused.",
        "A QR code is 80 pixels wide and high where no size is asked for.",
        "profile-unknown-404",
    )
    assert [text for text in headings if text not in said] == []
    assert "4 rules are broken, for 3 causes." in said
    assert "1 rule follows: bearer-header" in said


def test_without_the_faults_it_is_green(tmp_path: Path):
    code, said = judged(tmp_path, "--fixed")
    assert (code, "No findings. 4 rules passed" in said) == (0, True), said


def test_a_new_staging_has_the_requests_of_its_hour_unused(tmp_path: Path):
    judged(tmp_path)
    ledger = tmp_path / "staging.ledger"
    assert ledger.read_text() != ""
    (tmp_path / "ready.json").unlink()
    target = str(tmp_path / "staging.toml")
    Demo(tmp_path, "--staging-port", "0", "--target", target, "--fixed").stop()
    assert not ledger.exists()

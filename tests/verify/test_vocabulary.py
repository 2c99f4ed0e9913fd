"""A deployment that uses other words is judged by the same rules."""

import msgspec
import pytest
from tests.interface.test_vocabulary import OTHER_WORDS

from understudy.api.bundled_target import TARGET
from understudy.api.case_source import offline_source, worded
from understudy.api.in_process import mock_deployment
from understudy.api.judging import judge
from understudy.api.options import DeploymentOptions
from understudy.cases import selection
from understudy.verify.findings import Finding
from understudy.verify.reproducing import commands
from understudy.verify.run import RunOptions

RULES = ("password-grant-scopes", "qr-centre-icon", "rate-limit-headers", "avatar-upload-multipart")


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.yaml"
    path.write_text(OTHER_WORDS)
    return path


def test_other_words_break_no_rule_where_the_target_names_them(words):
    target = msgspec.structs.replace(TARGET, vocabulary=str(words))
    outcome = judge(mock_deployment(target), RunOptions(RULES, is_preflighted=False))
    judged = {each.rule.id: each.status for each in outcome.rules}
    assert judged == dict.fromkeys(RULES, "passed")
    everything = Finding(outcome.rules[0].rule, "", "", outcome.exchanges)
    lines = "\n".join(commands(everything, {}))
    assert "gallery%3Aread" in lines
    assert "avatar-profile" not in lines


def test_generated_requests_are_written_in_the_words_of_the_target(words, tmp_path):
    target = tmp_path / "target.toml"
    target.write_text(f'base_url = "{TARGET.base_url}"\nvocabulary = "{words}"\n')
    source = offline_source(DeploymentOptions(target_file=target), {})
    plans = selection.plans(source.planners, ["authorize", "uploadAvatar", "getQrCode"])
    cases = list(worded(selection.generate(plans, 12, 0, frozenset({"valid"})), source.wording))
    text = "".join(f"{case.request.target} {case.request.body!r}" for case in cases)
    assert {"gallery%3Aread" in text, "type=logo" in text, 'name="picture"' in text} == {True}
    assert "avatar-profile" not in text

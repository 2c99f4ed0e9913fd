import re

import pytest
import yaml

from understudy.errors import StartupError
from understudy.interface.rules import choose, load_rules, switches, upholds

STATED = {
    "id": "code-in-query",
    "statement": "The code stands in the query.",
    "section": "Code grant",
    "status": "stated",
    "held_by": "authorization",
}
SWITCH = {
    "name": "avatar-delete-status",
    "options": [
        {"value": "204", "meaning": "no content"},
        {"value": "200", "meaning": "an empty body"},
    ],
    "default": "204",
}
ASSUMED = {
    "id": "delete-status",
    "statement": "Deleting is answered with 204.",
    "section": "Endpoints",
    "status": "assumed",
    "held_by": "mock",
    "choice": "Status 204.",
    "why": "It means no content.",
    "switch": SWITCH,
}


NUMBERS = {"least": 6, "most": 300, "step": 3, "unit": "things"}


@pytest.fixture
def load(tmp_path):
    def load(*rules):
        path = tmp_path / "rules.yaml"
        path.write_text(yaml.safe_dump(list(rules)))
        return load_rules(path)

    return load


@pytest.fixture
def delete_status(load):
    return switches(load(ASSUMED))


def range_with(**changes):
    return switch_with(options=[], range={**NUMBERS, **changes})


def switch_with(**changes):
    return {**ASSUMED, "switch": {**SWITCH, **changes}}


def test_rules_come_in_the_order_of_the_file(load):
    assert [rule.id for rule in load(STATED, ASSUMED)] == ["code-in-query", "delete-status"]


def test_a_switch_has_its_options_with_their_meanings(delete_status):
    switch = delete_status["avatar-delete-status"]
    assert switch.options == {"204": "no content", "200": "an empty body"}


def test_a_stated_rule_may_be_lifted_by_a_switch(load):
    (rule,) = load({**STATED, "switch": SWITCH})
    assert rule.switch.name == "avatar-delete-status"


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ({**STATED, "chioce": "none"}, "unknown field `chioce`; a rule has id, statement"),
        ({**STATED, "status": "guessed"}, "Invalid enum value 'guessed' - at `$.status`"),
        ({**STATED, "id": "Code_In_Query"}, "kebab-case"),
        ({**STATED, "why": "So it is."}, "leaves nothing to choose"),
        ({**ASSUMED, "choice": ""}, "needs both: choice"),
        ({**ASSUMED, "why": ""}, "needs both: choice"),
        (
            switch_with(default="201"),
            "default '201' of 'avatar-delete-status' is not among 204, 200",
        ),
        (switch_with(default=204), "Expected `str`, got `int` - at `$.switch.default`"),
        (switch_with(options=[{"value": "204", "meaning": "alone"}]), "two options or more"),
        (switch_with(options=[{"value": "204", "meaning": "twice"}] * 2), "each once"),
        (switch_with(range=NUMBERS), "has options and a range; give one of them"),
        (range_with(least=9, most=6), "needs two multiples of its step, the smaller first"),
        (range_with(least=7), "needs two multiples of its step"),
        (range_with(step=0), "needs two multiples of its step"),
        (
            range_with(most=90),
            "default '204' of 'avatar-delete-status' is not a number from 6 to 90",
        ),
    ],
)
def test_a_faulty_rule_is_refused_by_name(load, rule, fault):
    with pytest.raises(StartupError, match=re.escape(fault)) as refused:
        load(rule)
    assert f"rules.yaml: rule {rule['id']}: " in str(refused.value)


def test_what_is_no_rule_at_all_is_refused_by_its_place(load):
    with pytest.raises(StartupError, match=r"rule 2: Expected `object`, got `str`"):
        load(STATED, "code-in-query")


def test_an_id_given_twice_is_refused(load):
    with pytest.raises(StartupError, match="rule code-in-query: the id is taken"):
        load(STATED, STATED)


def test_two_switches_of_one_name_are_refused(load):
    with pytest.raises(StartupError, match=r"rules.yaml: rule other: .* is delete-status's"):
        load(ASSUMED, {**ASSUMED, "id": "other"})


def test_a_catalogue_is_a_list(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text("rules: []")
    with pytest.raises(StartupError, match="must be a list of rules"):
        load_rules(path)


def test_choices_are_read_and_the_last_counts(delete_status):
    texts = ["avatar-delete-status=204", " avatar-delete-status = 200 "]
    assert choose(delete_status, texts) == {"avatar-delete-status": "200"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "avatar-delete-state=200",
            "'avatar-delete-state' is not a switch; did you mean 'avatar-delete-status'?",
        ),
        ("", "'' is not a switch; `understudy rules` lists them."),
        (
            "avatar-delete-status=2O4",
            "avatar-delete-status has no option '2O4'; did you mean '204'?",
        ),
        (
            "avatar-delete-status",
            "avatar-delete-status is given no option. There are "
            "avatar-delete-status=204 (no content), avatar-delete-status=200 (an empty body).",
        ),
    ],
)
def test_a_choice_that_nobody_offers_is_refused_with_those_that_are(delete_status, text, fault):
    with pytest.raises(StartupError, match=f"^{re.escape(fault)}$"):
        choose(delete_status, [text])


def test_a_function_is_marked_with_the_rules_it_upholds():
    @upholds("code-in-query", "delete-status")
    def function() -> None:
        """Does nothing."""

    assert vars(function)["upholds"] == ("code-in-query", "delete-status")

"""A cause is named by the rules that an aspect decides, and never by the words of a message."""

import pytest
from tests.verify.exchanges import exchange_of

from understudy.drift.causes import causes
from understudy.drift.differences import Compared, Difference, DocumentEntry
from understudy.drift.judging import NO_JUDGEMENT, BrokenRule, Judgements, RunJudgement
from understudy.exchange.messages import Request, Response
from understudy.verify.catalogue import catalogue

QR_CODE = exchange_of("/qr-code/ada", operation="GET /qr-code/{}")
DIFFERENCE = Difference("media type", "image/webp", "image/png", QR_CODE, QR_CODE)
STATED = catalogue()["qr-default-size"]
ASSUMED = catalogue()["qr-unknown-hash"]


def judged(*breaches, about=True):
    """Returns a judgement of one exchange, whose breaches end with the aspect or do not."""
    broken = {breach.rule.id: breach for breach in breaches}
    cured = {DIFFERENCE.key: broken if about else {}}
    return RunJudgement({QR_CODE.number: broken}, cured, {}, {}, catalogue())


def cause(first, other=NO_JUDGEMENT, entry=None):
    (only,) = causes([DIFFERENCE], [], Judgements(first, first, other), lambda _: entry)
    return only.fault, only.rule


def test_a_rule_is_the_cause_where_the_other_response_would_keep_it():
    breach = BrokenRule(STATED, False, "")
    assert cause(judged(breach)) == ("deployment", STATED.id)
    assert cause(NO_JUDGEMENT, judged(breach)) == ("other", STATED.id)
    assert cause(judged(BrokenRule(ASSUMED, True, ""))) == ("silent", ASSUMED.id)


def test_a_stated_rule_comes_before_what_is_left_open():
    both = judged(BrokenRule(ASSUMED, True, ""), BrokenRule(STATED, False, ""))
    assert cause(both) == ("deployment", STATED.id)


def test_a_rule_that_stays_broken_is_no_cause():
    unexplained = ("unexplained", "media type: image/webp, not image/png")
    assert cause(judged(BrokenRule(STATED, False, ""), about=False)) == unexplained


def test_a_difference_of_the_documents_explains_what_no_stated_rule_does():
    entry = DocumentEntry("getQrCode image/webp", "Their documents name other media types.")
    assert cause(judged(BrokenRule(ASSUMED, True, "")), entry=entry) == ("documents", entry.name)
    assert cause(judged(BrokenRule(STATED, False, "")), entry=entry) == ("deployment", STATED.id)


def test_what_nothing_explains_follows_from_the_rule_that_its_sender_saw_broken_before():
    later = exchange_of("/qr-code/bea", operation="GET /qr-code/{}", number=2)
    elsewhere = exchange_of("/qr-code/bea", operation="GET /qr-code/{}", number=3, source="another")
    following = [Difference("status", "200", "404", each, each) for each in (later, elsewhere)]
    limited = exchange_of("/qr-code/x", operation="GET /qr-code/{}", status=429, number=4)
    spent = Difference("status", "429", "200", limited, QR_CODE)  # the hour's end is no cause
    judgements = Judgements(judged(BrokenRule(STATED, False, "")), NO_JUDGEMENT, NO_JUDGEMENT)
    first, second = causes([DIFFERENCE, *following, spent], [], judgements)
    assert (first.rule, first.differences) == (STATED.id, (DIFFERENCE, following[0]))
    assert (second.fault, second.differences) == ("unexplained", (following[1],))


@pytest.mark.parametrize(("status", "fault"), [(401, "unexplained"), (409, "silent")])
def test_a_token_that_one_side_refuses_is_not_left_open(status, fault):
    listed, refused = (
        exchange_of("/me/avatars", operation="GET /me/avatars", response=Response(it))
        for it in (200, status)
    )
    difference = Difference("status", str(status), "200", refused, listed)
    none = Judgements(NO_JUDGEMENT, NO_JUDGEMENT, NO_JUDGEMENT)
    assert [it.fault for it in causes([difference], [], none)] == [fault]


def test_an_assumption_that_no_aspect_shows_names_what_each_side_does():
    own = judged(BrokenRule(ASSUMED, True, "a picture of nobody"))
    row = Compared(QR_CODE, QR_CODE, QR_CODE)
    (only,) = causes([], [row], Judgements(own, own, NO_JUDGEMENT))
    assert (only.fault, only.rule) == ("silent", ASSUMED.id)
    assert only.readings == ("a picture of nobody", "as assumed")


def test_a_rule_that_verify_found_to_follow_stands_under_its_root():
    rules = [catalogue()[name] for name in ("profile-required-members", "own-profile-is-full")]
    differences = [Difference(aspect, "absent", "a", QR_CODE, QR_CODE) for aspect in "ab"]
    broken = {it.id: BrokenRule(it, False, "") for it in rules}
    cured = {each.key: {it.id: broken[it.id]} for each, it in zip(differences, rules, strict=True)}
    roots = {rules[1].id: rules[0].id}
    own = RunJudgement({QR_CODE.number: broken}, cured, {}, {}, catalogue(), roots=roots)
    (only,) = causes(differences, [], Judgements(own, own, NO_JUDGEMENT))
    assert (only.rule, only.differences) == (rules[0].id, tuple(differences))


def test_what_verify_found_to_be_repeated_is_one_cause_of_one_operation():
    rules = [catalogue()[name] for name in ("profile-required-members", "own-profile-is-full")]
    url = "http://127.0.0.1:1/v3/profiles/ada"
    reads = [
        exchange_of("/profiles/ada", number=number, request=Request("GET", url))
        for number in (1, 2, 3)
    ]
    first, *repeated = reads
    broken = {it.id: BrokenRule(it, False, "") for it in rules}
    differences = [
        Difference(f"rule {rule.id}", "broken", "kept", each, each)
        for rule, each in zip(rules, repeated, strict=True)
    ]
    past = exchange_of("/profiles/ada", number=4, request=Request("GET", f"{url}?past=1"))
    grown = Difference("length since the last read", "+1", "+0", past, past)
    own = RunJudgement(
        {2: broken, 3: broken},
        {it.key: broken for it in differences},
        *({}, {}, catalogue(), [*reads, past]),
        roots={it.id: "repeated-for-url" for it in rules},
    )
    found = causes([*differences, grown], [], Judgements(own, own, NO_JUDGEMENT))
    assert [(it.fault, it.rule) for it in found] == [("deployment", "repeated-for-url")]
    assert {it.after for it in found[0].differences} == {(first,), ()}


@pytest.mark.parametrize("status", [401, 200])  # refused, or taken for no token
def test_what_one_refused_spelling_brings_stands_under_it_alone(status):
    url = "http://127.0.0.1:1/v3/me/profile"
    lower, usual = (
        exchange_of(
            "/me/profile", number=number, status=status, request=Request("GET", url, headers)
        )
        for number, headers in ((1, (("authorization", "bearer a-token"),)), (2, ()))
    )
    rules = [catalogue()[name] for name in ("bearer-scheme-any-case", "own-profile-is-full")]
    differences = [
        Difference(aspect, "401", "200", exchange, QR_CODE)
        for aspect, exchange in (("a", lower), ("b", lower), ("b", usual))
    ]
    broken = {it.id: BrokenRule(it, False, "") for it in rules}
    cured = {
        each.key: {rule.id: broken[rule.id]}
        for each, rule in zip(differences, (rules[0], rules[1], rules[1]), strict=True)
    }
    own_roots = {it.id: it.id for it in rules}
    own = RunJudgement({1: broken, 2: broken}, cured, {}, {}, catalogue(), roots=own_roots)
    found = causes(differences[::-1], [], Judgements(own, own, NO_JUDGEMENT))
    named = {it.rule: len(it.differences) for it in found if it.fault == "deployment"}
    assert named == {rules[0].id: 2, rules[1].id: 1}
    of_scheme = next(it for it in found if it.rule == rules[0].id)
    assert of_scheme.severity == "moderate"  # as in verify


@pytest.mark.parametrize(("kept", "named"), [({STATED.id}, [STATED.id]), (set(), [])])
def test_a_rule_that_does_not_apply_to_the_other_response_is_no_cause(kept, named):
    own = judged(BrokenRule(STATED, False, ""), about=False)
    elsewhere = RunJudgement(
        {}, {}, {}, {}, {}, (), {QR_CODE.number: frozenset(kept), 99: frozenset({STATED.id})}
    )
    row = Compared(QR_CODE, QR_CODE, QR_CODE)
    found = causes([], [row], Judgements(own, own, elsewhere))
    assert [it.rule for it in found] == named


@pytest.mark.parametrize(
    ("broken", "unseen", "named"),
    [
        ({1: "AB"}, {}, "A"),  # by the same response
        ({1: "AB", 2: "B"}, {2: ""}, "B"),  # the rule that more responses break comes first
        ({1: "AB", 2: "A", 3: "B"}, {3: ""}, "A"),  # one that rests on a response of the other rule
        ({1: "AB", 2: "A", 3: "B"}, {3: "B"}, "AB"),  # one that breaks it whatever was seen before
        ({1: "A", 2: "B"}, {2: ""}, "AB"),  # nothing in common
    ],
)
def test_a_rule_that_the_same_responses_break_stands_under_one(broken, unseen, named):
    rules = {"A": STATED, "B": catalogue()["own-profile-is-full"]}

    def breaches(names):
        return {rules[each].id: BrokenRule(rules[each], False, "") for each in names}

    exchanges = [exchange_of("/profiles/ada", number=number) for number in broken]
    own = RunJudgement(
        {number: breaches(names) for number, names in broken.items()},
        *({}, {}, {}, catalogue(), exchanges),
        unseen=lambda numbers, _: {number: breaches(unseen[number]) for number in numbers},
    )
    other = RunJudgement({}, {}, {}, {}, {}, exchanges)
    found = causes([], [], Judgements(own, own, other))
    assert [it.rule for it in found] == [rules[each].id for each in named]


@pytest.mark.parametrize("turned", [{}, {DIFFERENCE.key: frozenset({ASSUMED.id})}])
def test_a_switch_explains_only_what_turns_its_option(turned):
    sides = (
        RunJudgement({}, {}, {}, {1: {ASSUMED.id: it}}, catalogue(), turned=turned)
        for it in ("404", "picture")
    )
    own, other = sides
    name = cause(own, other)[1]
    assert (name == ASSUMED.id) == bool(turned)

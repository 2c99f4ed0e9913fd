"""The pure parts of the run over all mutants: curve, matrix, what nothing trips."""

from tests.proofs.mutants.curve import Trial, as_csv, as_text, by_section, curve, untripped

TRIALS = [
    Trial("a code works twice", False, ("code-once",), (7, 9), {"code-once": 7, "document": 3}),
    Trial("a title is lost", True, ("title", "shape"), (80, 1001), {"title": 80}, (12,)),
    Trial("nobody sees it", True, ("shape",), (None, 400)),
]


def test_the_curve_is_the_median_over_the_seeds_and_their_range():
    lines = curve(trial.sightings for trial in TRIALS)
    assert lines[0] == "caught after 10 requests: 1 of 3 (33%), 1 to 1"
    assert lines[3] == "caught after 100 requests: 1.5 of 3 (50%), 1 to 2"
    assert lines[-1] == "caught after all its requests: 2.5 of 3 (83%), 2 to 3"


def test_the_curve_of_a_peer_ends_with_what_it_may_send():
    lines = curve([(12,), (None,)], 40)
    assert [line.partition(":")[0] for line in lines] == [
        "caught after 10 requests",
        "caught after 25 requests",
        "caught after 40 requests",
    ]
    assert lines[-1].endswith("1 of 2 (50%)")


def test_a_mutant_is_caught_where_every_seed_shows_it():
    assert [trial.is_caught for trial in TRIALS] == [True, True, False]
    assert str(TRIALS[1]) == "m a title is lost: request 80: title; Schemathesis: 12"
    assert "also document" in str(TRIALS[0])
    assert "NOT CAUGHT" in str(TRIALS[2])
    assert "CRASHED" in str(Trial("x", True, ("shape",), crashed="KeyError"))


def test_the_matrix_tells_what_was_meant_from_what_came_beside_it():
    assert as_csv(TRIALS).splitlines() == [
        "mutant,made,caught,schemathesis,code-once,document,shape,title",
        "a code works twice,by hand,7,,7,(3),,",
        "a title is lost,mechanically,80,12,,,-,80",
        "nobody sees it,mechanically,,,,,-,",
    ]
    assert as_text(TRIALS)[-4:] == [
        "                   1234",
        "a code works twice #+",
        "a title is lost      -#",
        "nobody sees it       -",
    ]


def test_a_rule_is_tripped_by_a_mutant_that_breaks_it_and_not_by_the_way():
    assert untripped(TRIALS, {"code-once", "title", "shape", "document"}) == ["document", "shape"]


def test_the_matrix_in_short_counts_what_a_section_owns():
    sections = {"code-once": "Grants", "shape": "Fields", "title": "Fields", "state": "Grants"}
    assert by_section(TRIALS, sections)[2:] == [
        "| Grants | 2 | 1 | 1 | 1 |",
        "| Fields | 2 | 1 | 2 | 1 |",
    ]


def test_a_mutant_that_breaks_an_assumption_alone_is_noted_and_not_caught():
    trial = Trial("it answers 201", False, ("status",), (None,), noted=12)
    assert (trial.is_caught, trial.is_only_noted) == (False, True)
    assert str(trial) == "  it answers 201: only noted, request 12"
    assert not Trial("it is seen", False, ("status",), (4,), noted=12).is_only_noted

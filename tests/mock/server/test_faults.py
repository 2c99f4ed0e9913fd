"""When a fault strikes, as a function of values."""

from random import Random  # noqa: TID251 - hands the drawing its chance

import pytest

from understudy.mock.server.faults import (
    Delay,
    EffectNotApplicable,
    Fault,
    WireResponse,
    apply_effect,
)


def strikes(fault: Fault, count: int, seed: int = 0) -> list[bool]:
    found = []
    for _ in range(count):
        fault, strike = fault.draw(seed)
        found.append(strike is not None)
    return found


def test_the_same_seed_strikes_the_same_requests() -> None:
    fault = Fault("f", share=0.5)
    assert strikes(fault, 50, seed=1) == strikes(fault, 50, seed=1) != strikes(fault, 50, seed=2)


def test_a_fault_strikes_so_many_times_and_then_no_more() -> None:
    assert strikes(Fault("f", times=2), 4) == [True, True, False, False]


def test_a_share_of_none_strikes_none_and_of_all_strikes_all() -> None:
    assert not any(strikes(Fault("f", share=0), 20))
    assert all(strikes(Fault("f", share=1), 20))


def test_delays_are_as_their_kind_has_them() -> None:
    chance = Random(1)
    assert Delay("fixed", milliseconds=250).seconds(chance) == 0.25
    uniform = [Delay("uniform", lower=100, upper=200).seconds(chance) for _ in range(200)]
    assert 0.1 <= min(uniform) < max(uniform) <= 0.2
    tailed = sorted(Delay("lognormal", median=80, sigma=0.5).seconds(chance) for _ in range(501))
    assert 0.07 < tailed[250] < 0.09
    assert tailed[-1] > 3 * tailed[250]
    assert Delay("fixed", milliseconds=1e9).seconds(chance) == 60


NINES = "9" * 5000


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (f"/v1/notes?__fault=missing-field:{NINES}", {}),
        ("/v1/notes", {"Prefer": f"fault=missing-field:{NINES}"}),
    ],
    ids=["query", "Prefer"],
)
def test_a_field_of_thousands_of_digits_is_refused(
    notes, path: str, headers: dict[str, str]
) -> None:
    response = notes.get(path, headers=headers)
    assert response.status_code == 400
    assert "5000 characters" in response.json()["detail"]


def test_a_number_beyond_a_list_is_no_member_of_it() -> None:
    response = WireResponse(200, [], b'[{"a": 1}, [1, 2]]')
    for field in (f"{'9' * 200}.a", "7.a", f"1.{'9' * 200}"):
        with pytest.raises(EffectNotApplicable):
            apply_effect(response, "missing-field", field)

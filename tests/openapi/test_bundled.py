import pytest

from understudy.errors import StartupError
from understudy.openapi import bundled

WITNESSES = ("openapi/service.yaml", "fixtures/tokens.yaml")


def directories():
    return [bundled.openapi_directory(), bundled.fixtures_directory()]


def lay_out(place):
    for name in WITNESSES:
        (place / name).parent.mkdir(parents=True)
        (place / name).touch()


def test_documents_and_fixtures_are_found():
    assert all(place.parent in bundled._PLACES for place in directories())
    assert [place.name for place in directories()] == ["openapi", "fixtures"]


def test_an_installation_carries_its_own(tmp_path, monkeypatch):
    lay_out(tmp_path / "package/bundled")
    monkeypatch.setattr(bundled, "_PLACES", (tmp_path, tmp_path / "package/bundled"))
    inside = tmp_path / "package/bundled"
    assert directories() == [inside / "openapi", inside / "fixtures"]


def test_a_checkout_comes_first(tmp_path, monkeypatch):
    for place in ("checkout", "package/bundled"):
        lay_out(tmp_path / place)
    places = (tmp_path / "checkout", tmp_path / "package/bundled")
    monkeypatch.setattr(bundled, "_PLACES", places)
    assert {place.parent for place in directories()} == {tmp_path / "checkout"}


@pytest.mark.parametrize("find", [bundled.openapi_directory, bundled.fixtures_directory])
def test_where_there_are_none_the_places_are_named(find, tmp_path, monkeypatch):
    monkeypatch.setattr(bundled, "_PLACES", (tmp_path / "a", tmp_path / "b"))
    with pytest.raises(StartupError, match="install understudy again") as refusal:
        find()
    assert f"{tmp_path}/a/" in str(refusal.value)
    assert f"{tmp_path}/b/" in str(refusal.value)

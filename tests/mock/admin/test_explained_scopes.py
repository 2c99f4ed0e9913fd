"""Explanations of the admin API say what a token granted."""

from tests.mock.admin.conftest import Driver


def test_an_explanation_names_the_scopes_of_the_token(driver: Driver) -> None:
    driver.get("/v3/me/profile", token="ada-read-only")
    driver.get("/v3/profiles/ada")
    scopes = [driver.admin("GET", f"/requests/{n}")["explanation"]["scopes"] for n in (1, 2)]
    assert scopes == [["auth", "avatar-profile:read"], []]

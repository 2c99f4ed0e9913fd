"""The documents in force by the admin API."""

from tests.mock.admin.conftest import Driver


def test_the_documents_in_force_are_shown_without_an_entry_in_the_journal(driver: Driver) -> None:
    resource, authorization = driver.admin("GET", "/documents")
    assert resource["base_path"] == "/v3"
    assert "/profiles/{profileIdentifier}" in resource["document"]["paths"]
    assert (resource["site"], authorization["site"]) == ("resource", "authorization")
    assert driver.mock.world.journal.total == 0

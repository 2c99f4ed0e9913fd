"""Whom the profile lookup takes for a profile's owner."""


def test_an_api_key_speaks_for_nobody_and_so_sees_no_hidden_account(ask):
    as_owner = ask("GET", "/v3/profiles/ada", "ada-full").json()["verified_accounts"]
    by_key = ask("GET", "/v3/profiles/ada", "ada-api-key").json()["verified_accounts"]
    assert [account["is_hidden"] for account in as_owner] == [False, False, True]
    assert by_key == as_owner[:2]

"""What is left of a limit is said by the headers whose names were chosen."""

import pytest


@pytest.mark.parametrize("names", ["X-RateLimit", "RateLimit", "X-Rate-Limit"])
@pytest.mark.parametrize(("path", "status"), [("ada", 200), ("nobody-at-all", 404)])
def test_what_is_left_is_said_by_the_chosen_names_alone(ask, names, path, status):
    headers = {"X-Mock-Choose": f"rate-limits=on, rate-limit-header-names={names}"}
    response = ask("GET", f"/v3/profiles/{path}", headers=headers)
    names_sent = {name for name in response.headers if "limit" in name}
    assert response.status_code == status
    assert names_sent == {f"{names.lower()}-{part}" for part in ("limit", "remaining", "reset")}

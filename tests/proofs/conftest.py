"""Settings of the proofs: what they run at length, other tests have measured once."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def unmeasured_proofs(request: pytest.FixtureRequest) -> None:
    """Pauses coverage, which makes a proof twice as dear and tells nothing that its result does not."""
    request.getfixturevalue("unmeasured")

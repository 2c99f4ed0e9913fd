"""The page on faults and preferences, from the mock's own tables."""

from tests.tools.docs.docstrings import entries
from tests.tools.docs.markdown import code, page, prose, table

from understudy.mock.server.faults import EFFECTS
from understudy.mock.server.preferences import NAMES, RequestPreferences


def page_of_faults() -> str:
    """Returns the page: kinds of fault, the members of one, and what a single request can ask for."""
    kinds = (
        (code(name), effect.description, "yes" if effect.needs_field else "")
        for name, effect in EFFECTS.items()
    )
    told = entries(RequestPreferences, "Attributes")
    return page(
        "Faults and preferences",
        "A fault is a failure that you ask for: of a world by `POST /__admin/faults` (see the"
        " [admin API](admin-api.md)), in pytest by `understudy_world.fault(…)`, or of a single request"
        " by `Prefer: fault=NAME`, with the member behind a colon where one is needed"
        " (`fault=missing-field:display_name`). Which requests get it, how often, and with which delay,"
        " stands in the schema [NewFault](admin-api.md#newfault).",
        "## Kinds",
        table(("effect", "what a client sees", "needs a field"), kinds),
        "## Preferences of a single request",
        "In the header `Prefer: NAME=VALUE`, or in the query as `__NAME=VALUE`. `Preference-Applied` in"
        " the response says what was done.",
        table(("preference", "meaning"), ((code(it), prose(told.get(it, ""))) for it in NAMES)),
    )

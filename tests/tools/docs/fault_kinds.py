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
        "A fault is an injected failure. Inject it into a world by `POST /__admin/faults` (see the"
        " [admin API](admin-api.md)), in pytest by `understudy_world.fault(…)`, or into a single request"
        " by `Prefer: fault=NAME`, followed by a colon and a member if the kind needs one"
        " (`fault=missing-field:display_name`). The schema [NewFault](admin-api.md#newfault) describes"
        " which requests get a fault, how often, and with which delay.",
        "## Kinds",
        table(("effect", "what a client sees", "needs a field"), kinds),
        "## Preferences of a single request",
        "Use the header `Prefer: NAME=VALUE`, or `__NAME=VALUE` in the query. `Preference-Applied` in the"
        " response lists what was applied.",
        table(("preference", "meaning"), ((code(it), prose(told.get(it, ""))) for it in NAMES)),
    )

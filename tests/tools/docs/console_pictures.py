"""The page with a picture of each view of the console, if ``make console-shots`` took them."""

from pathlib import Path
from typing import Final, NamedTuple

from tests.tools.docs.markdown import page

TAKEN: Final = Path(__file__).parents[3] / "build" / "console"
"""Where the pictures are; pictures that are made from the code are not committed."""

SHOWN: Final = "desk-light"
"""The end of the names of the pictures that the page shows."""


class ConsoleView(NamedTuple):
    """A view of the console that has a picture.

    Attributes:
        address: Its address below the console's.
        caption: What the picture shows.
    """

    address: str
    caption: str


VIEWS: Final = {
    "first-visit": ConsoleView(
        "#/traffic", "The first visit: what to do, and a button that does it."
    ),
    "traffic": ConsoleView("#/traffic", "Traffic: every request as it ends, with its verdict."),
    "request": ConsoleView(
        "#/traffic/2", "A request: what would mend it, and why it was answered so."
    ),
    "edit": ConsoleView("#/traffic/4/edit", "Edit and send."),
    "people": ConsoleView("#/people", "People: everyone, with the reason to exist."),
    "person": ConsoleView("#/people/ada", "A person: signed in as, hashes, both views."),
    "worlds": ConsoleView(
        "#/worlds", "Worlds and time: clock, history, worlds, snapshots, capsule."
    ),
    "switches": ConsoleView("#/switches", "Switches: faults, limits, readings of the interface."),
    "contract": ConsoleView(
        "#/contract/getProfile", "Contract: what was exercised, by status and identity."
    ),
    "rule": ConsoleView(
        "#/contract?rule=profile-unknown-404", "A rule: its sentence, requests, reports."
    ),
    "reference": ConsoleView(
        "#/reference/updateOwnProfile", "API: the documents, requests to try, edge cases."
    ),
    "sign-ins": ConsoleView(
        "#/sign-ins", "Sign-ins: from the authorization request to the first call."
    ),
}


def page_of_pictures(taken: Path = TAKEN) -> str:
    """Returns the page: a picture of each view, or how to take them.

    Args:
        taken: The directory of the pictures.
    """
    names = [name for name in VIEWS if (taken / f"{name}-{SHOWN}.png").exists()]
    shown = [
        f"## {name}\n\n{VIEWS[name].caption}\n\n"
        f"![{VIEWS[name].caption}](../../build/console/{name}-{SHOWN}.png)"
        for name in names
    ]
    how = (
        "`make console-shots` takes a picture of each view, in light and dark, at the widths of a phone,"
        " a desk and a wall; the next `make docs` shows them here. [The console](../how-to/console.md)"
        " says what each view is for."
    )
    missing = [] if names else ["No pictures were there when this page was made."]
    return page("Pictures of the console", how, *missing, *shown)

"""Decides whether a document has inferred state.

The code that keeps this state is imported only if so, since importing it would take a tenth of the
start of a mock of the bundled document.
"""

from understudy.errors import StartupError
from understudy.interface.recognition import interface_operations
from understudy.mock.server.call import InferredState
from understudy.mock.settings import Settings
from understudy.openapi.loader import Document


def inferred_state(document: Document, settings: Settings) -> InferredState | None:
    """Returns the state that is inferred from a document, or None without one.

    Raises:
        StartupError: The state-model file is invalid, or has no effect.
    """
    is_own = settings.handlers == "auto" and bool(interface_operations(document))
    if is_own or settings.infer == "off":
        for option, value in (
            ("--state-model", settings.state_model),
            ("--seed-data", settings.seed_data),
        ):
            if value is not None:
                reason = "the document is of the bundled service" if is_own else "--infer is off"
                msg = f"{option} {value} is of no use, as {reason}; leave one of them out."
                raise StartupError(msg)
        return None
    from understudy.collections.serving import served  # noqa: PLC0415 - see the module's docstring

    return served(document, settings)

"""Decides whether a document has inferred state.

What keeps that state is imported only where it has: it takes a tenth of the time until a mock of the
bundled document answers.
"""

from understudy.errors import StartupError
from understudy.interface.recognition import interface_operations
from understudy.mock.server.call import InferredState
from understudy.mock.settings import Settings
from understudy.openapi.loader import Document


def inferred_state(document: Document, settings: Settings) -> InferredState | None:
    """Returns the state that is inferred from a document, or None without one.

    Args:
        document: The document in force, as it was read.
        settings: Whether a state is inferred, and what corrects it.

    Raises:
        StartupError: The state model is not as it must be, or is of no use.
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

"""Infers the resources of another service from its document, as a run judges them."""

from pathlib import Path

from understudy.interface.recognition import interface_operations
from understudy.openapi.loader import Document
from understudy.openapi.resources.finder import infer_resources
from understudy.openapi.resources.model import ResourceModel
from understudy.verify.target import Target


def inferred_resources(target: Target, document: Document) -> ResourceModel:
    """Returns what is inferred from the document of another service; nothing from this interface's.

    Raises:
        StartupError: The state-model file of the target is not as it must be.
    """
    if interface_operations(document):
        return ResourceModel()
    state_model = None if target.state_model is None else Path(target.state_model)
    return infer_resources(document, state_model)

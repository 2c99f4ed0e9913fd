"""Reads which security schemes an operation requires (OpenAPI 3.0.3, Security Requirement Object)."""

from understudy.openapi.loader import Document, Node


def security_requirements(
    document: Document, operation: Node
) -> tuple[dict[str, tuple[str, ...]], ...]:
    """Returns the alternatives of an operation, or those of the document where it has none.

    Returns:
        The alternatives, of which one must be met whole: scheme name to scopes. Empty where no
        credential is required.

    Raises:
        StartupError: A requirement is not as OpenAPI has it.
    """
    listed = operation.child("security") or document.root.child("security")
    if listed is None:
        return ()
    alternatives = (
        document.expect(node, dict) for _, node in document.expect(listed, list).children()
    )
    return tuple(
        {
            str(name): tuple(document.expect(scopes, list).value)
            for name, scopes in alternative.children()
        }
        for alternative in alternatives
    )

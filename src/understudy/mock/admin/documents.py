"""Shows the documents that the mock serves, without an entry in the journal."""

from collections.abc import Sequence

from understudy.mock.server.api import Api
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.handlers import Handlers


class DocumentsAdmin:
    """The handler of the documents.

    Args:
        apis: The resource API and the authorization server.
    """

    def __init__(self, apis: Sequence[Api]) -> None:
        self._apis = apis

    @property
    def handlers(self) -> Handlers:
        """Method and path to handler."""
        return {("GET", "/documents"): self.list_documents}

    def list_documents(self, _call: Call) -> HandlerResponse:
        """Responds to ``GET /documents``."""
        sites = ("resource", *("authorization" for _ in self._apis[1:]))
        return HandlerResponse(
            [
                {"site": site, "base_path": api.base_path, "document": api.document.raw}
                for site, api in zip(sites, self._apis, strict=True)
            ]
        )

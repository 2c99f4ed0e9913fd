"""A small service that keeps what its two documents suggest, written without the mock.

A mutant is this service with one method replaced: what it does wrong is in that method alone.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import httpx
import orjson

BASE = "http://127.0.0.1:9000/v1"
DOCUMENTS = Path(__file__).parent / "documents"
NOTES, HARBOURS = DOCUMENTS / "notes.yaml", DOCUMENTS / "harbours.yaml"
OWNER, READER = "token-of-mia", "token-of-mia-to-read"
CREATED = "2026-03-01T09:00:00Z"

Item = dict[str, Any]
Items = dict[str, Item]


@dataclass
class Service:
    """Items by the path of their collection and the caller that owns them.

    Attributes:
        collections: Caller and path to the items by their identifiers.
        singles: Caller and path to a resource that exists once.
        last: The last identifier.
        requests: The method and path of every request.
    """

    collections: dict[tuple[str, str], Items] = field(default_factory=dict)
    singles: dict[tuple[str, str], Item] = field(default_factory=dict)
    last: int = 40
    requests: list[str] = field(default_factory=list)

    def items(self, who: str, path: str) -> Items:
        return self.collections.setdefault((who, path), {})

    def identify(self, path: str) -> Any:
        """Returns the identifier of a new item."""
        self.last += 1
        return self.last if path == "/me/notes" else f"b{self.last}"

    def refusal(self, who: str, path: str, sent: Item) -> int | None:
        """Returns the status by which a creation is refused: of a second title, or below no harbour."""
        if path.endswith("/berths") and not self.has_harbour(who, path):
            return 404
        titles = [it.get("title") for it in self.items(who, path).values()]
        return 409 if "title" in sent and sent["title"] in titles else None

    def create(self, who: str, path: str, sent: Item) -> Item:
        item = {**sent, "id": self.identify(path)}
        if path == "/me/notes":
            item = {"is_pinned": False, **item, "created": CREATED}
        self.items(who, path)[str(item["id"])] = item
        return item

    def listed(self, who: str, path: str, query: dict[str, str]) -> list[Item]:
        items = self.ordered(query, self.filtered(query, list(self.items(who, path).values())))
        offset = int(query.get("offset", "0"))
        return items[offset : offset + int(query.get("limit", "20"))]

    def total(self, who: str, path: str, _page: list[Item]) -> int:
        """Returns the number of items that a list names."""
        return len(self.items(who, path))

    def address(self, path: str, item: Item) -> str:
        """Returns where a new item is."""
        return f"/v1{path}/{item['id']}"

    def filtered(self, query: dict[str, str], items: list[Item]) -> list[Item]:
        pinned, text = query.get("is_pinned"), query.get("q", "")
        items = [it for it in items if pinned in {None, str(it.get("is_pinned")).lower()}]
        return [it for it in items if text in str(it.get("title", ""))]

    def ordered(self, query: dict[str, str], items: list[Item]) -> list[Item]:
        order = query.get("sort", "")
        if not order.endswith("title"):
            return items
        return sorted(items, key=lambda it: str(it["title"]), reverse=order.startswith("-"))

    def read(self, who: str, path: str, identifier: str) -> Item | None:
        return self.items(who, path).get(identifier)

    def replace(self, who: str, path: str, identifier: str, sent: Item) -> Item | None:
        item = self.read(who, path, identifier)
        return None if item is None else self.kept(who, path, item, sent)

    def update(self, who: str, path: str, identifier: str, sent: Item) -> Item | None:
        item = self.read(who, path, identifier)
        if item is None:
            return None
        return self.kept(who, path, item, {**item, **sent})

    def kept(self, who: str, path: str, item: Item, changed: Item) -> Item:
        """Keeps a changed item, with the members that only the service sets as they were."""
        own: Item = {name: item[name] for name in ("id", "created") if name in item}
        self.items(who, path)[str(item["id"])] = {**changed, **own}
        return self.items(who, path)[str(item["id"])]

    def has_harbour(self, who: str, path: str) -> bool:
        return path.split("/")[2] in self.items(who, "/harbours")

    def delete(self, who: str, path: str, identifier: str) -> bool:
        self.collections.pop((who, f"{path}/{identifier}/berths"), None)
        return self.items(who, path).pop(identifier, None) is not None

    def put_single(self, who: str, path: str, sent: Item) -> Item:
        self.singles[who, path] = sent
        return sent

    def single(self, who: str, path: str) -> Item:
        return self.singles.get((who, path), {"language": "en", "signature": "Yours"})

    def tag(self, item: Item) -> str:
        """Returns the entity tag of an item."""
        return f'"{hash(repr(sorted(item.items())))}"'

    def matches(self, expected: str, item: Item) -> bool:
        """Tells whether a change may be made whose If-Match names a state of an item."""
        return expected == self.tag(item)

    def opens(self, method: str) -> bool:
        """Tells whether a token that may only read opens a method."""
        return method == "GET"

    def respond(self, request: httpx.Request) -> httpx.Response:
        path = unquote(request.url.path).removeprefix("/v1")
        self.requests.append(f"{request.method} {path}")
        who = request.headers.get("authorization", "").removeprefix("Bearer ")
        if path.startswith("/me/") and not who:
            return httpx.Response(401)
        if who == READER and not self.opens(request.method):
            return httpx.Response(403)
        who = OWNER if who == READER else who
        sent = orjson.loads(request.content) if request.content else {}
        if path == "/me/settings":
            single = self.put_single(who, path, sent) if sent else self.single(who, path)
            return _json(200, single)
        parts = path.strip("/").split("/")
        is_item = len(parts) % 2 == (1 if parts[0] == "me" else 0)
        if not is_item:
            return self._of_collection(request, who, path, sent)
        above, _, identifier = path.rpartition("/")
        item, expected = self.read(who, above, identifier), request.headers.get("if-match")
        if item is not None and expected is not None and not self.matches(expected, item):
            return httpx.Response(412)
        return self._of_item(request.method, who, above, identifier, sent)

    def _of_collection(
        self, request: httpx.Request, who: str, path: str, sent: Item
    ) -> httpx.Response:
        if request.method == "POST":
            refusal = self.refusal(who, path, sent)
            if refusal is not None:
                return _json(refusal, {})
            item = self.create(who, path, sent)
            response = _json(201, _wrapped(path, item))
            response.headers["location"] = self.address(path, item)
            return response
        query = {name: texts[-1] for name, texts in parse_qs(request.url.query.decode()).items()}
        page = self.listed(who, path, query)
        if path == "/me/notes":
            return _json(200, {"data": page, "total": self.total(who, path, page)})
        return _json(200, {"berths": page} if path.endswith("/berths") else page)

    def _of_item(
        self, method: str, who: str, path: str, identifier: str, sent: Item
    ) -> httpx.Response:
        if method == "DELETE":
            return httpx.Response(204 if self.delete(who, path, identifier) else 404)
        item = {
            "GET": lambda: self.read(who, path, identifier),
            "PUT": lambda: self.replace(who, path, identifier, sent),
            "PATCH": lambda: self.update(who, path, identifier, sent),
        }[method]()
        if item is None:
            return httpx.Response(404)
        response = _json(200, _wrapped(path, item))
        response.headers["etag"] = self.tag(item)
        return response


def _wrapped(path: str, item: Item) -> Item:
    return {"berth": item} if path.endswith("/berths") else item


def _json(status: int, content: Any) -> httpx.Response:
    headers = {"content-type": "application/json"}
    return httpx.Response(status, headers=headers, content=orjson.dumps(content))

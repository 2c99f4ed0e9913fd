"""What the six services share: requests that their document refuses are refused, others reach a method.

A service is sound as it stands, and has its bugs where it is told to; each bug was taken from the kind of
report that users of real services write, and not from what verify checks.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import httpx
import jsonschema_rs
import yaml

DOCUMENTS: Final = Path(__file__).parent / "documents"
_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_LOCAL: Final = "#/"

Item = dict[str, Any]


class Call(NamedTuple):
    """A request that the document allows.

    Attributes:
        values: Path and query parameters by name, as the document types them, defaults included.
        given: Names of the query parameters that the request has.
        body: The parsed body; None without one.
        who: The account that the token is of; empty without a token.
    """

    values: Mapping[str, Any]
    given: frozenset[str]
    body: Any
    who: str


class Refused(Exception):
    """A request is refused, with a status and a reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Service:
    """A small service that has a document.

    Attributes:
        name: The name of its document.
        accounts: Token to the account that it is of.
        allows_anonymous: Operations that a bug opened to everybody.
    """

    name: ClassVar[str]
    accounts: ClassVar[Mapping[str, str]] = {}
    open_by_mistake: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, *, has_bugs: bool) -> None:
        self.has_bugs = has_bugs
        self.items: dict[Any, Item] = {}
        self.last = 40
        self.requests = 0
        self._document = yaml.safe_load(self.document().read_text())

    @classmethod
    def document(cls) -> Path:
        """Returns the file of its document."""
        return DOCUMENTS / f"{cls.name}.yaml"

    def respond(self, request: httpx.Request) -> httpx.Response:
        """Responds to a request; an error of a method becomes a 500."""
        self.requests += 1
        try:
            return self._respond(request)
        except Refused as refusal:
            return httpx.Response(refusal.status, json={"error": str(refusal)})
        except Exception as error:
            return httpx.Response(500, json={"error": f"{type(error).__name__}: {error}"})

    def number(self) -> int:
        """Returns the number of the next item."""
        self.last += 1
        return self.last

    def found(self, key: Any) -> Item:
        """Returns an item.

        Raises:
            Refused: There is none.
        """
        if key not in self.items:
            raise Refused(404, "There is no such item.")
        return self.items[key]

    def unreadable(self, reason: str) -> Refused:
        """Returns how a body is refused that is not JSON."""
        return Refused(400, f"The body is not JSON: {reason}")

    def _respond(self, request: httpx.Request) -> httpx.Response:
        raw = request.url.raw_path.decode("ascii").partition("?")[0]
        matching = list(self._matching(raw))
        if not matching:
            raise Refused(404, "There is no such path.")
        path, texts = matching[0]
        operation = path.get(request.method.lower())
        if not isinstance(operation, dict):
            allowed = ", ".join(name.upper() for name in path if name != "parameters")
            return httpx.Response(405, headers={"allow": allowed}, json={"error": "method"})
        who = self._caller(request, operation)
        values = dict(self._values(request, path, operation, texts))
        given = frozenset(request.url.params.keys())
        call = Call(values, given, self._body(request, operation), who)
        method: Callable[[Call], tuple[int, Any]] = getattr(self, operation["operationId"])
        status, body = method(call)
        return httpx.Response(status) if body is None else httpx.Response(status, json=body)

    def _matching(self, raw: str) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
        for template, path in self._document["paths"].items():
            pattern = _PARAMETER.sub(lambda it: f"(?P<{it[1]}>[^/]+)", template)
            found = re.fullmatch(pattern, raw)
            if found is not None:
                yield path, found.groupdict()

    def _caller(self, request: httpx.Request, operation: Mapping[str, Any]) -> str:
        needed = operation.get("security", self._document.get("security"))
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        who = self.accounts.get(token, "") if scheme.lower() == "bearer" else ""
        is_open = self.has_bugs and operation["operationId"] in self.open_by_mistake
        if needed and not who and not is_open:
            raise Refused(401, "A valid token is needed.")
        return who

    def _values(
        self,
        request: httpx.Request,
        path: Mapping[str, Any],
        operation: Mapping[str, Any],
        texts: Mapping[str, str],
    ) -> Iterator[tuple[str, Any]]:
        declared = [*path.get("parameters", ()), *operation.get("parameters", ())]
        for parameter in map(self._resolved, declared):
            name, schema = parameter["name"], parameter["schema"]
            if parameter["in"] == "path":
                given = [_decoded(texts[name])]
            else:
                given = request.url.params.get_list(name)
            if len(given) > 1:
                raise Refused(400, f"{name} is given twice.")
            if given:
                yield name, self._typed(name, given[0], schema)
            elif "default" in schema:
                yield name, schema["default"]

    def _typed(self, name: str, text: str, schema: Mapping[str, Any]) -> Any:
        value: Any = text
        if schema["type"] == "integer":
            if not re.fullmatch(r"-?[0-9]{1,400}", text):
                raise Refused(400, f"{name} is not an integer.")
            value = int(text)
        self._expect_valid(value, schema, name)
        return value

    def _body(self, request: httpx.Request, operation: Mapping[str, Any]) -> Any:
        if "requestBody" not in operation:
            return None
        content = self._resolved(operation["requestBody"])["content"]
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type not in content:
            raise Refused(400, "The content type is not application/json.")
        try:
            body = json.loads(request.content.decode(), parse_constant=_no_constant)
            json.dumps(body, allow_nan=False).encode()  # neither 1e400 nor half a surrogate pair
        except (ValueError, RecursionError) as error:
            raise self.unreadable(str(error)) from error
        self._expect_valid(body, self._for_requests(content[media_type]["schema"]), "the body")
        return body

    def _for_requests(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a schema that does not ask for what only the service sets."""
        whole = dict(self._resolved(schema))
        members = whole.get("properties", {})
        own = {name for name, member in members.items() if member.get("readOnly")}
        required = [name for name in whole.pop("required", ()) if name not in own]
        return {**whole, "required": required} if required else whole

    def _expect_valid(self, value: Any, schema: Mapping[str, Any], name: str) -> None:
        validator = jsonschema_rs.Draft4Validator(dict(schema))
        try:
            error = next(validator.iter_errors(value), None)
        except ValueError as too_deep:  # the validator follows some hundred levels only
            raise Refused(400, f"{name}: {too_deep}") from too_deep
        if error is not None and not self.lets_pass(value):
            where = ".".join(map(str, error.instance_path)) or name
            raise Refused(400, f"{where}: {error.message:.200}")

    def lets_pass(self, _value: Any) -> bool:
        """Tells whether an invalid value is taken all the same, by a bug."""
        return False

    def _resolved(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        reference = node.get("$ref")
        if reference is None:
            return node
        found: Any = self._document
        for step in reference.removeprefix(_LOCAL).split("/"):
            found = found[step]
        return self._resolved(found)


def _no_constant(name: str) -> None:
    """Refuses NaN and Infinity, which no JSON has."""
    raise ValueError(name)


def _decoded(text: str) -> str:
    raw = httpx.URL(f"http://x/{text}").path.removeprefix("/")
    if "\ufffd" in raw:
        raise Refused(400, "The path is not UTF-8.")
    return raw

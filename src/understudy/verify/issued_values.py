"""Finds the values that a response issues and a later request needs: codes, tokens, cookies, tickets.

They are valid in one run only, so a script that reproduces a finding reads them from new responses.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html.parser import HTMLParser
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote, quote_plus, unquote

from understudy.exchange.messages import Exchange, Request
from understudy.interface.operations import RESOURCE
from understudy.verify.value_texts import NEARLY, nearly

Source = Literal["member", "redirect", "cookie", "field", "field_value_first", "item"]
"""The part of a response that has a value; of a hidden field, ``value`` may stand before ``name``.

An ``item`` is the path of an item of another service, whose identifier a member has.
"""

SHORTEST: Final = 8
"""Characters of the shortest text that is regarded as issued, unless its name says so."""

_PLAIN: Final = re.compile(r"[\w.~+/=-]{8,}", re.ASCII)
"""A hidden field that a shell can read from a page and send as it is."""

_VARIABLES: Final = {"code": "CODE", "access_token": "TOKEN", "image_id": "IMAGE"}
"""Members of responses that later requests need, and their variables' names."""

_SPELLINGS: Final = (str, quote_plus, partial(quote, safe=""))
"""The encodings of a value in a request: none, of a form or a query, and of a path."""

_COOKIE: Final = re.compile(r"([^=;\s]+)=([^;\s]+)")


class IssuedValue(NamedTuple):
    """A value that a response issues and a later request needs.

    Attributes:
        value: The value.
        key: Its name in the response.
        source: The part of the response that has it.
        variable: The variable that replaces it.
        start: For an item, the path before its identifier, with variables for the items above.
        position: For an item, how many members of that name precede the one with its identifier.
        form: For a near copy, how to make it from the value of the variable ``start`` (``NEARLY``).
    """

    value: str
    key: str
    source: Source
    variable: str
    start: str = ""
    position: int = 0
    form: str = ""

    @property
    def shell_pattern(self) -> str:
        """A basic regular expression (POSIX) whose only group is the value, in one line."""
        key = re.escape(self.key)
        patterns: dict[Source, str] = {
            "member": rf'"{key}" *: *"\([^"]*\)"',
            "redirect": rf"[?&#]{key}=\([^&[:space:]]*\)",
            "cookie": rf"[Ss]et-[Cc]ookie: *{key}=\([^;[:space:]]*\)",
            "field": rf'name="{key}"[^>]*value="\([^"]*\)"',
            "field_value_first": rf'value="\([^"]*\)"[^>]*name="{key}"',
            "item": rf'"{key}" *: *"\{{0,1\}}\([^",}}]*\)',
        }
        return patterns[self.source]

    @property
    def python(self) -> str:
        """A Python expression that reads the value from ``response``."""
        key = re.escape(self.key)
        expressions: dict[Source, str] = {
            "member": f'response.json()["{self.key}"]',
            "redirect": f're.search(r"[?&#]{key}=([^&]*)", response.headers["location"])[1]',
            "cookie": f'response.cookies["{self.key}"]',
            "field": f"""re.search(r'name="{key}"[^>]*value="([^"]*)"', response.text)[1]""",
            "field_value_first": (
                f"""re.search(r'value="([^"]*)"[^>]*name="{key}"', response.text)[1]"""
            ),
            "item": (
                f'os.path.expandvars("{self.start}") + re.findall('
                rf"""r'"{key}"\s*:\s*"?([^",}}\s]*)', response.text)[{self.position}]"""
            ),
        }
        return expressions[self.source]


def issued_values(steps: Sequence[Exchange]) -> dict[int, list[IssuedValue]]:
    """Returns the values that each step issues and a later step needs, by the step's index."""
    issued: dict[int, list[IssuedValue]] = {}
    for place, item in created_items(steps):
        issued.setdefault(place, []).append(item)
    seen: set[str] = set()
    for place, step in enumerate(steps):
        for source, key, value in values_in(step):
            is_sent = any(mentions(each.request, value) for each in steps[: place + 1])
            is_needed = any(mentions(each.request, value) for each in steps[place + 1 :])
            if value in seen or is_sent or not is_needed:
                continue
            seen.add(value)
            name = _VARIABLES.get(key) or re.sub(r"\W", "_", key).upper()
            found = IssuedValue(value, key, source, f"{name}_{place + 1}")
            issued.setdefault(place, []).append(found)
            later = [each.request for each in steps[place + 1 :]]
            sent = {text for it in later for text in (it.query.get("token"), it.form.get("code"))}
            for form, text in nearly(value) if key in SECRETS else ():
                if text in sent:
                    name = f"{found.variable}_{form.upper()}"
                    issued[place].append(
                        IssuedValue(text, key, "member", name, found.variable, form=form)
                    )
    return issued


SECRETS: Final = frozenset({"access_token", "code"})
"""The issued values of which probes also send near copies."""


def created_items(steps: Sequence[Exchange]) -> Iterator[tuple[int, IssuedValue]]:
    """Yields the paths of items of another service that one step creates and a later one uses.

    Yields:
        The step's index, and the path as an issued value. In the path of a nested item, the path of
        its parent is replaced by the parent's variable.
    """
    known: list[IssuedValue] = []
    for place, step in enumerate(steps):
        if step.request.method != "POST" or step.operation in RESOURCE or step.site != "resource":
            continue
        members = dict(_members(step.body)) if step.response.is_success else {}
        path = next(filter(None, (_item_path(it.path, members) for it in steps[place + 1 :])), None)
        if path is None or any(it.path.startswith(path) for it in steps[:place]):
            continue
        start, _, text = path.rpartition("/")
        key, position = members[unquote(text)]
        for above in known:
            start = start.replace(above.value, f"${above.variable}")
        item = IssuedValue(path, key, "item", f"ITEM_{place + 1}", f"{start}/", position)
        known.append(item)
        yield place, item


def issued_anew(before: IssuedValue, exchange: Exchange, known: Mapping[str, str]) -> str | None:
    """Returns the value that a new response issues instead of an earlier one; None without one.

    Args:
        before: The value of the earlier response.
        exchange: The new exchange.
        known: The new values of earlier steps, by their variables.
    """
    if before.form:
        base = known.get(before.start)
        return None if base is None else NEARLY[before.form].make(base)
    if before.source != "item":
        issued = values_in(exchange)
        return next((value for *name, value in issued if name == [before.source, before.key]), None)
    numbered = {place: text for text, place in _members(exchange.body)}
    text = numbered.get((before.key, before.position))
    start = before.start
    for variable, value in known.items():
        start = start.replace(f"${variable}", value)
    return None if text is None else start + quote(text, safe="")


def _item_path(path: str, members: Mapping[str, tuple[str, int]]) -> str | None:
    """Returns a path up to its last segment that is the value of a member; None without one."""
    segments = path.split("/")
    for number in range(len(segments), 1, -1):
        if unquote(segments[number - 1]) in members:
            return "/".join(segments[:number])
    return None


def _members(body: Any, seen: Counter[str] | None = None) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yields the text of each scalar member at any depth, its name, and how many precede it."""
    counts: Counter[str] = Counter() if seen is None else seen
    if isinstance(body, list):
        for value in body:
            yield from _members(value, counts)
    elif isinstance(body, dict):
        for name, value in body.items():
            counts[name] += 1
            if isinstance(value, str | int) and not isinstance(value, bool):
                yield str(value), (name, counts[name] - 1)
            yield from _members(value, counts)


def values_in(exchange: Exchange) -> Iterator[tuple[Source, str, str]]:
    """Yields every value that a response can issue: its source, name and text."""
    for name, text in exchange.redirect_parameters.items():
        if name in _VARIABLES or len(text) >= SHORTEST:
            yield "redirect", name, text
    for name in _VARIABLES:
        value = exchange.json_object.get(name)
        if isinstance(value, str):
            yield "member", name, value
    if exchange.site == "authorization":
        yield from _browser_values(exchange)


def _browser_values(exchange: Exchange) -> Iterator[tuple[Source, str, str]]:
    """Yields the values that a browser sends back: cookies, and the hidden fields of a page."""
    for header, text in exchange.response.headers:
        match = _COOKIE.match(text) if header == "set-cookie" else None
        if match and len(match[2]) >= SHORTEST:
            yield "cookie", match[1], match[2]
    if exchange.response.media_type == "text/html":
        for form in forms_in(exchange):
            for name, value in form.fields.items():
                if form.kinds[name] == "hidden" and _PLAIN.fullmatch(value):
                    yield "field_value_first" if name in form.value_first else "field", name, value


def mentions(request: Request, value: str) -> bool:
    """Tells whether a request sends a value, in any of its encodings."""
    headers = (request.header("authorization"), request.header("cookie"))
    texts = (request.url, *headers, request.body.decode("utf-8", "replace"))
    return any(spell(value) in text for spell in _SPELLINGS for text in texts)


def rewritten(request: Request, values: Mapping[str, str]) -> Request:
    """Returns a request with texts replaced in its URL, headers and body, in every encoding."""
    spelt = [(spell(old), spell(new)) for old, new in values.items() for spell in _SPELLINGS]

    def text(whole: str) -> str:
        for before, after in spelt:
            whole = whole.replace(before, after)
        return whole

    body = request.body
    for before, after in spelt:
        body = body.replace(before.encode(), after.encode())
    headers = tuple(
        (name, str(len(body)) if name == "content-length" else text(header))
        for name, header in request.headers
    )
    return replace(request, url=text(request.url), headers=headers, body=body)


@dataclass
class Form:
    """A form of a page: action, method, fields, and buttons as name, value and text.

    Attributes:
        action: URL that the form is sent to.
        method: The request method.
        fields: Names of the fields to their values.
        kinds: Names of the fields to their types.
        buttons: Name, value and text of each button.
        value_first: Names of the fields whose tag has its value before its name.
    """

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)
    value_first: set[str] = field(default_factory=set)

    def has_password(self) -> bool:
        """Returns True if it has a password field."""
        return "password" in self.kinds.values()


class _Forms(HTMLParser):
    """Collects the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._button: tuple[str, str] | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: text or "" for name, text in attrs}
        if tag == "form":
            self.forms.append(
                Form(attributes.get("action", ""), attributes.get("method", "get").upper())
            )
        elif tag == "input" and self.forms and attributes.get("type") == "submit":
            value = attributes.get("value", "")
            self.forms[-1].buttons.append((attributes.get("name", ""), value, value))
        elif tag == "input" and self.forms and attributes.get("name"):
            kind = attributes.get("type", "text")
            if kind not in {"checkbox", "radio"} or "checked" in attributes:
                self.forms[-1].fields[attributes["name"]] = attributes.get("value", "")
            self.forms[-1].kinds[attributes["name"]] = kind
            order = [name for name in attributes if name in {"name", "value"}]
            if order[0] == "value":
                self.forms[-1].value_first.add(attributes["name"])
        elif tag == "button":
            self._button, self._text = (attributes.get("name", ""), attributes.get("value", "")), ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "button" and self._button and self.forms:
            self.forms[-1].buttons.append((*self._button, f"{self._button[1]} {self._text}"))
            self._button = None


def forms_in(page: Exchange) -> list[Form]:
    """Returns the forms of a page."""
    parser = _Forms()
    parser.feed(page.response.body.decode("utf-8", "replace"))
    return parser.forms

"""The six services, each with its bugs and without; the bugs are those of people's reports."""

import sqlite3
import traceback
from contextlib import closing
from typing import Any, ClassVar

from tests.proofs.field.frame import Call, Item, Refused, Service


class Tickets(Service):
    """Lists that are filtered, sorted and paged."""

    name: ClassVar[str] = "tickets"

    def list_tickets(self, call: Call) -> tuple[int, Any]:
        items = list(self.items.values())
        status, order = call.values.get("status"), call.values.get("sort", "")
        if status is not None and not self.has_bugs:  # filter is ignored
            items = [it for it in items if it["status"] == status]
        if order:  # and the order has one direction
            is_descending = order.startswith("-") and not self.has_bugs
            items = sorted(items, key=lambda it: str(it["title"]), reverse=is_descending)
        start = call.values["offset"]
        if self.has_bugs and start > 0:  # a later page begins with the last item of the one before
            start -= 1
        return 200, items[start : start + call.values["limit"]]

    def create_ticket(self, call: Call) -> tuple[int, Any]:
        ticket = {"status": "open", "priority": 3, **call.body, "id": self.number()}
        self.items[ticket["id"]] = ticket
        return 201, ticket

    def read_ticket(self, call: Call) -> tuple[int, Any]:
        self._expect_storable(call.values["id"])
        return 200, self.found(call.values["id"])

    def change_ticket(self, call: Call) -> tuple[int, Any]:
        self._expect_storable(call.values["id"])
        ticket = self.found(call.values["id"])
        kept = {} if self.has_bugs else ticket  # PATCH forgets what it does not name
        changed = {"status": "open", "priority": 3, "title": ticket["title"], **kept, **call.body}
        self.items[ticket["id"]] = {**changed, "id": ticket["id"]}
        return 200, self.items[ticket["id"]]

    def delete_ticket(self, call: Call) -> tuple[int, Any]:
        self._expect_storable(call.values["id"])
        del self.items[self.found(call.values["id"])["id"]]
        return 204, None

    def _expect_storable(self, identifier: int) -> None:
        """Finds that no item has an identifier beyond the store's integers; with bugs, it crashes."""
        if identifier < 2**63:
            return
        if self.has_bugs:
            msg = "Python int too large to convert to SQLite INTEGER"
            raise OverflowError(msg)
        raise Refused(404, "There is no such item.")


class Orders(Service):
    """Items with members that only the service sets."""

    name: ClassVar[str] = "orders"

    def list_orders(self, call: Call) -> tuple[int, Any]:
        orders, start = list(self.items.values()), int(call.values.get("cursor", "0"))
        limit = 1000 if self.has_bugs else call.values["limit"]  # limit is ignored
        page: Item = {"orders": orders[start : start + limit]}
        if start + limit < len(orders):
            page["next_cursor"] = str(start + limit)
        return 200, page

    def place_order(self, call: Call) -> tuple[int, Any]:
        identifier = f"o-{self.number()}"
        currency = "SEK" if self.has_bugs else "EUR"  # not the default of the document
        own = {"orderId": identifier, "state": "placed"}
        taken = {"state": call.body["state"]} if self.has_bugs and "state" in call.body else {}
        self.items[identifier] = {"currency": currency, **call.body, **own, **taken}
        return 201, self.items[identifier]

    def read_order(self, call: Call) -> tuple[int, Any]:
        return 200, self.found(call.values["orderId"])

    def replace_order(self, call: Call) -> tuple[int, Any]:
        order = self.found(call.values["orderId"])
        own = {name: order[name] for name in ("orderId", "state")}
        self.items[order["orderId"]] = {"currency": "EUR", **call.body, **own}
        return 200, self.items[order["orderId"]]

    def cancel_order(self, call: Call) -> tuple[int, Any]:
        order = self.found(call.values["orderId"])
        if not self.has_bugs:  # which says 204, and keeps it
            del self.items[order["orderId"]]
        return 204, None

    def lets_pass(self, value: Any) -> bool:
        """With bugs, takes one more than the maximum."""
        is_order = self.has_bugs and isinstance(value, dict)
        return is_order and value.get("quantity") == 101

    def unreadable(self, reason: str) -> Refused:
        """With bugs, shows where in the program the body could not be read."""
        if not self.has_bugs:
            return super().unreadable(reason)
        stack = "".join(traceback.format_stack(limit=3))
        return Refused(400, f"Traceback (most recent call last):\n{stack}ValueError: {reason}")


class Notebooks(Service):
    """Items of two accounts, which must not see one another's."""

    name: ClassVar[str] = "notebooks"
    accounts: ClassVar = {"token-of-mia": "mia", "token-of-tom": "tom"}
    open_by_mistake: ClassVar[frozenset[str]] = frozenset({"replace_notebook"})

    def __init__(self, *, has_bugs: bool) -> None:
        super().__init__(has_bugs=has_bugs)
        self.owners: dict[int, str] = {}

    def list_notebooks(self, call: Call) -> tuple[int, Any]:
        return 200, [it for key, it in self.items.items() if self.owners[key] == call.who]

    def create_notebook(self, call: Call) -> tuple[int, Any]:
        notebook = {**call.body, "id": self.number()}
        self.items[notebook["id"]] = notebook
        self.owners[notebook["id"]] = call.who
        return 201, notebook

    def read_notebook(self, call: Call) -> tuple[int, Any]:
        return 200, self._reachable(call)  # whosever it is, with bugs

    def replace_notebook(self, call: Call) -> tuple[int, Any]:
        notebook = self.found(call.values["notebook"]) if not call.who else self._own(call)
        self.items[notebook["id"]] = {**call.body, "id": notebook["id"]}
        return 200, self.items[notebook["id"]]

    def delete_notebook(self, call: Call) -> tuple[int, Any]:
        del self.items[self._reachable(call)["id"]]  # whosever it is, with bugs
        return 204, None

    def _reachable(self, call: Call) -> Item:
        return self.found(call.values["notebook"]) if self.has_bugs else self._own(call)

    def _own(self, call: Call) -> Item:
        notebook = self.found(call.values["notebook"])
        if self.owners[notebook["id"]] != call.who:
            raise Refused(404, "There is no such item.")
        return notebook


class Bookings(Service):
    """Items below items."""

    name: ClassVar[str] = "bookings"

    def __init__(self, *, has_bugs: bool) -> None:
        super().__init__(has_bugs=has_bugs)
        self.bookings: dict[tuple[int, int], Item] = {}

    def list_rooms(self, _: Call) -> tuple[int, Any]:
        return 200, list(self.items.values())

    def create_room(self, call: Call) -> tuple[int, Any]:
        room = {**call.body, "id": self.number()}
        self.items[room["id"]] = room
        return 201, room

    def read_room(self, call: Call) -> tuple[int, Any]:
        return 200, self.found(call.values["roomId"])

    def delete_room(self, call: Call) -> tuple[int, Any]:
        room = self.found(call.values["roomId"])["id"]
        del self.items[room]
        if not self.has_bugs:  # the bookings of a room that is gone are still read
            self.bookings = {key: it for key, it in self.bookings.items() if key[0] != room}
        return 204, None

    def list_bookings(self, call: Call) -> tuple[int, Any]:
        room = self.found(call.values["roomId"])["id"]
        listed = [it for (of, _), it in self.bookings.items() if of == room]
        return 200, listed[:-1] if self.has_bugs else listed  # the newest is not listed

    def book(self, call: Call) -> tuple[int, Any]:
        room = self.found(call.values["roomId"])["id"]
        self._expect_guest(call.body)
        booking = {**call.body, "id": self.number()}
        self.bookings[room, booking["id"]] = booking
        return 201, booking

    def read_booking(self, call: Call) -> tuple[int, Any]:
        return 200, self._booking(call)

    def replace_booking(self, call: Call) -> tuple[int, Any]:
        booking = self._booking(call)
        self._expect_guest(call.body)
        changed = {**call.body, "id": booking["id"]}
        if not self.has_bugs:  # which answers with the change, and does not store it
            self.bookings[call.values["roomId"], booking["id"]] = changed
        return 200, changed

    def _booking(self, call: Call) -> Item:
        key = call.values["roomId"], call.values["bookingId"]
        if key not in self.bookings:
            raise Refused(404, "There is no such booking.")
        return self.bookings[key]

    def _expect_guest(self, body: Item) -> None:
        """With bugs, takes the first letter of a guest for granted."""
        if self.has_bugs:
            body["guest"][0].upper()

    def lets_pass(self, value: Any) -> bool:
        """With bugs, looks a day up without having checked it."""
        if self.has_bugs and isinstance(value, dict) and isinstance(value.get("day"), str):
            {"monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5}[value["day"]]
        return False


_BOOKS = [
    (f"97800000000{n}7", f"Book {n}", None if n % 5 else "A story", ("en", "de", "sv")[n % 3])
    for n in range(1, 31)
]


class Books(Service):
    """A catalogue in a database, which is searched."""

    name: ClassVar[str] = "books"

    def find_books(self, call: Call) -> tuple[int, Any]:
        text, language = call.values.get("q", ""), call.values.get("language")
        if self.has_bugs:  # what is searched for becomes a part of the query
            rows = self._rows(f"SELECT * FROM books WHERE title LIKE '%{text}%'")
        else:
            rows = self._rows("SELECT * FROM books WHERE instr(title, ?)", text)
        books = [self._book(row) for row in rows]
        if language is not None:
            books = [it for it in books if it["language"] == language]
        size = call.values["per_page"]
        pages = [books[n : n + size] for n in range(0, len(books), size)] or [[]]
        number = call.values["page"] - 1
        if number >= len(pages) and not self.has_bugs:
            return 200, {"total": len(books), "books": []}
        return 200, {"total": len(books), "books": pages[number]}  # crashes beyond the last page

    def read_book(self, call: Call) -> tuple[int, Any]:
        rows = self._rows("SELECT * FROM books WHERE isbn = ?", call.values["isbn"])
        if not rows:
            raise Refused(404, "There is no such book.")
        return 200, self._book(rows[0])

    def review_book(self, call: Call) -> tuple[int, Any]:
        self.read_book(call)
        if self.has_bugs and "text" in call.body and not call.body["text"].isascii():
            call.body["text"].encode("ascii")  # a database that was not made for all texts
        return 201, call.body

    def _book(self, row: tuple[Any, ...]) -> Item:
        book = dict(zip(("isbn", "title", "subtitle", "language"), row, strict=True))
        if (
            self.has_bugs and book["subtitle"] is None
        ):  # a required member is left out if it is null
            del book["subtitle"]
        return book

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        """Asks a database of its own, as nothing is written and nobody would close a lasting one."""
        with closing(sqlite3.connect(":memory:")) as base:
            base.execute("CREATE TABLE books (isbn TEXT, title TEXT, subtitle TEXT, language TEXT)")
            base.executemany("INSERT INTO books VALUES (?, ?, ?, ?)", _BOOKS)
            return base.execute(query, values).fetchall()


class Gardens(Service):
    """Bounds, defaults, unique names and pages; the beds are those of two accounts."""

    name: ClassVar[str] = "gardens"
    accounts: ClassVar = {"token-of-mia": "mia", "token-of-tom": "tom"}

    def __init__(self, *, has_bugs: bool) -> None:
        super().__init__(has_bugs=has_bugs)
        self.plants: dict[int, Item] = {}
        self.owners: dict[int, str] = {}

    def list_beds(self, call: Call) -> tuple[int, Any]:
        beds = [
            it for key, it in self.items.items() if self.has_bugs or self.owners[key] == call.who
        ]
        limit = call.values["limit"]
        if self.has_bugs and "limit" not in call.given:  # another default than the document's
            limit = 3
        start = (call.values["page"] - 1) * limit
        pages = len(beds) // limit + (0 if self.has_bugs else len(beds) % limit > 0)
        return 200, {"beds": beds[start : start + limit], "total": len(beds), "pages": pages}

    def create_bed(self, call: Call) -> tuple[int, Any]:
        names = {self.items[it]["name"] for it in self.items if self.owners[it] == call.who}
        if call.body["name"] in names and not self.has_bugs:  # which takes a name twice
            raise Refused(409, "There is a bed of that name.")
        if self.has_bugs and call.body["length"] >= 30:  # the maximum is refused
            raise Refused(400, "length is too large")
        bed = {"rank": 1, **call.body, "id": self.number()}
        self.items[bed["id"]] = bed
        self.owners[bed["id"]] = call.who
        return 201, bed

    def read_bed(self, call: Call) -> tuple[int, Any]:
        return 200, self._own(call)

    def delete_bed(self, call: Call) -> tuple[int, Any]:
        del self.items[self._own(call)["id"]]
        return 204, None

    def _own(self, call: Call) -> Item:
        bed = self.found(call.values["bedId"])
        if self.owners[bed["id"]] != call.who:
            raise Refused(404, "There is no such item.")
        return bed

    def list_plants(self, call: Call) -> tuple[int, Any]:
        season = call.values["season"]
        if self.has_bugs and "season" not in call.given:  # all, and not those of the default
            return 200, list(self.plants.values())
        return 200, [it for it in self.plants.values() if it["season"] == season]

    def add_plant(self, call: Call) -> tuple[int, Any]:
        if self.has_bugs and len(call.body["kind"]) >= 40:  # the longest is refused
            raise Refused(400, "kind is too long")
        plant = {**call.body, "id": self.number()}
        if self.has_bugs and "remark" in plant:  # a column that is too short
            plant["remark"] = plant["remark"][:255]
        self.plants[plant["id"]] = plant
        return 201, plant

    def read_plant(self, call: Call) -> tuple[int, Any]:
        return 200, self._plant(call)

    def remove_plant(self, call: Call) -> tuple[int, Any]:
        del self.plants[self._plant(call)["id"]]
        return 204, None

    def _plant(self, call: Call) -> Item:
        if call.values["plantId"] not in self.plants:
            raise Refused(404, "There is no such plant.")
        return self.plants[call.values["plantId"]]

    def lets_pass(self, value: Any) -> bool:
        """With bugs, takes members that a closed schema does not name."""
        is_bed = isinstance(value, dict) and {"name", "length"} <= value.keys()
        return (
            self.has_bugs
            and is_bed
            and value.keys() > {"name", "length", "note"} - {"note"}
            and any(it not in {"name", "length", "note"} for it in value)
            and isinstance(value["length"], int)
            and isinstance(value["name"], str)
        )


SERVICES = (Tickets, Orders, Notebooks, Bookings, Books, Gardens)

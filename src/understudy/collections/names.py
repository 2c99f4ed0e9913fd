"""Compares names regardless of style, as ``petId`` and ``pet_id``, and knows usual names of paging."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_IRREGULAR: Final = {
    "people": "person",
    "children": "child",
    "men": "man",
    "women": "woman",
    "mice": "mouse",
    "news": "news",
    "series": "series",
    "data": "data",
    "status": "status",
    "media": "media",
    "address": "address",
    "business": "business",
    "access": "access",
    "settings": "setting",
    "indices": "index",
    "matrices": "matrix",
    "analyses": "analysis",
    "bus": "bus",
}

_ENDINGS: Final = (
    *(("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("zes", "ze")),
    *(("uses", "us"), ("ss", "ss"), ("s", "")),
)
"""Endings of plurals and of their singulars, the longest first."""

LIMITS: Final = frozenset(
    (
        "limit perpage pagesize size count top first take max maxresults maxitems pagelimit"
        " itemsperpage numresults rows maxrows hitsperpage"
    ).split()
)
"""Canonical names of parameters for the page size; the sets below are for other parts of paging."""
OFFSETS: Final = frozenset(
    {"offset", "skip", "startindex", "start", "startat", "from", "skipcount"}
)
PAGES: Final = frozenset(
    {"page", "pagenumber", "pageno", "pageindex", "p", "pagenum", "currentpage"}
)
CURSORS: Final = frozenset(
    (
        "cursor after pagetoken nexttoken startingafter continuationtoken marker nextcursor"
        " pagecursor nextpagetoken continuation endcursor"
    ).split()
)
PAGING: Final = LIMITS | OFFSETS | PAGES | CURSORS | {"before"}
NEXTS: Final = frozenset({"next", "nexturl", "nextlink", "nextpage", "nextpageurl"})
"""Canonical names of members with the URL, number or cursor of the next page."""
TOTALS: Final = frozenset(
    (
        "total totalcount totalitems totalelements totalresults totalrecords totalsize"
        " resultcount numfound recordcount totalhits itemstotal totalitemcount totalentries"
        " totalrows"
    ).split()
)
PAGE_COUNTS: Final = frozenset(
    {"pages", "totalpages", "pagecount", "numpages", "lastpage", "pagestotal"}
)
MORES: Final = frozenset({"hasmore", "hasnext", "more", "hasnextpage"})


def words(name: str) -> tuple[str, ...]:
    """Returns the words of a name in lower case: ``petID`` and ``pet-id`` are ``pet``, ``id``."""
    return tuple(word.lower() for word in _WORDS.findall(name))


@lru_cache(maxsize=16_384)  # large documents repeat few names
def canonical(name: str) -> str:
    """Returns a name without case and separators, so that different styles compare equal."""
    return "".join(words(name)) or name.casefold()


def singular(name: str) -> str:
    """Returns the canonical form of a name with its last word in the singular."""
    parts = words(name)
    return "".join((*parts[:-1], _singular_word(parts[-1]))) if parts else canonical(name)


def is_plural(name: str) -> bool:
    """Tells whether a name looks like a plural."""
    return singular(name) != canonical(name)


def _singular_word(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for plural, ending in _ENDINGS:
        if word.endswith(plural) and len(word) > len(plural) + 1:
            return word[: len(word) - len(plural)] + ending
    return word


Moment = Literal["created", "updated"]

_MOMENTS: Final[Mapping[Moment, frozenset[str]]] = {
    "created": frozenset(
        ("created", "createdat", "createdon", "datecreated", "creationdate", "createdtime")
    ),
    "updated": frozenset(
        (
            "updated updatedat updatedon modified modifiedat lastmodified lastupdated dateupdated"
            " datemodified updatedtime lastupdatedat"
        ).split()
    ),
}
_OF_TIMES: Final = ("date", "time", "timestamp")


def moment_named(name: str) -> Moment | None:
    """Returns ``created`` or ``updated`` for a name that means the time of that event, or None."""
    plain = canonical(name)
    stems = {plain, *map(plain.removesuffix, _OF_TIMES)}
    return next((moment for moment, names in _MOMENTS.items() if stems & names), None)


_STATUSES: Final = ("status", "state", "phase", "stage", "lifecycle")
"""Last words of members with the status of an item."""


def is_no_status(name: str) -> bool:
    """Tells whether a member's name does not mean a status; a sort key that puts those first."""
    return not canonical(name).endswith(_STATUSES)


_STAGES: Final = (
    ("queued", "pending", "submitted", "accepted", "scheduled", "waiting", "notstarted", "created"),
    ("running", "processing", "inprogress", "started", "executing"),
    ("succeeded", "completed", "complete", "done", "finished", "success", "successful", "ready"),
)
"""Canonical names of the states of a job: waiting, running, succeeded."""


def stages(values: Sequence[Any]) -> tuple[str, ...]:
    """Returns the states of a job among the values of an enum, in order; empty if it has none."""
    texts = {canonical(it): it for it in reversed(values) if isinstance(it, str)}
    found = [next((texts[name] for name in names if name in texts), None) for names in _STAGES]
    is_job = found[-1] is not None and len(set(found) - {None}) > 1
    return tuple(it for it in found if it is not None) if is_job else ()


_OUTCOMES: Final = {
    "begin": ("begun", "started", "running", "inprogress"),
    "complete": ("done", "finished"),
    "disable": ("inactive",),
    "enable": ("active",),
    "finish": ("done", "completed"),
    "lock": ("locked",),
    "open": ("open", "opened"),
    "pay": ("paid",),
    "reopen": ("open", "reopened"),
    "resume": ("active", "running", "resumed", "inprogress"),
    "run": ("running",),
    "send": ("sent",),
    "ship": ("shipped",),
    "start": ("running", "inprogress", "active"),
    "unarchive": ("active", "unarchived"),
    "unpublish": ("draft", "unpublished"),
    "withdraw": ("withdrawn",),
}
"""Verb to canonical names of the resulting state, beyond the past form of the verb."""


def outcomes(verb: str) -> Sequence[str]:
    """Returns canonical names of the state that results from an action, the likeliest first."""
    word = canonical(verb)
    if not word:
        return ()
    last = word[-1]
    past = [f"{word}d"] if last == "e" else [f"{word}ed", f"{word}{last}ed"]
    if last == "y":
        past.insert(0, f"{word[:-1]}ied")
    return (*past, *_OUTCOMES.get(word, ()), word)


_RENEWING: Final = frozenset(
    {"rotate", "regenerate", "renew", "refresh", "reissue", "reset", "roll", "cycle"}
)
_SECRETS: Final = ("secret", "token", "key", "password", "credential")


def renews(verb: str) -> bool:
    """Tells whether an action gives an item a new secret: ``rotate``, ``reset-password``."""
    first, *others = words(verb) or ("",)
    return first in _RENEWING and (not others or is_secret(others[-1]))


def is_secret(name: str) -> bool:
    """Tells whether a member is named like a secret, as ``clientSecret`` is."""
    return canonical(name).endswith(_SECRETS)

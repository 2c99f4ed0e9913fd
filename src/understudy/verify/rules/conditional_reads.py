"""Conditional requests: permitted 304 responses, and entity tags (RFC 9110, 8.8 and 13.1)."""

from http import HTTPStatus
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import OWN_PROFILE, UPDATE_PROFILE
from understudy.verify.account_history import changes_in, update
from understudy.verify.causes import latest_attempts, same_request_before
from understudy.verify.checks import (
    CONDITIONAL,
    CheckResult,
    check,
    expect,
    found,
    is_get,
    proven,
    tells,
)
from understudy.verify.history import History, avatars_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.equivalent_requests import MADE_UP_TAG, response_meaning

SINCE: Final = "if-modified-since"
LONG_AGO: Final = "Thu, 01 Jan 1970 00:00:00 GMT"
"""A date before every modification, so that the server must send the content."""


names_a_tag = tells(
    "the request is conditional on a tag or a date",
    lambda it, _: bool(it.request.header("if-none-match") or it.request.header(SINCE)),
)


@check(
    CONDITIONAL,
    when=[is_get, names_a_tag, found(same_request_before, "the client has read the same before")],
)
def not_modified_is_for_current_content(exchange: Exchange, history: History) -> CheckResult:
    """304 is sent only to a client that has the current response, not another's or an old one."""
    before = proven(same_request_before(exchange, history))
    is_held = any(
        before.response.header(held)
        and before.response.header(held) in exchange.request.header(name)
        for held, name in (("etag", "if-none-match"), ("last-modified", SINCE))
    )
    edits = [
        edit
        for edit in history.of(UPDATE_PROFILE)
        if edit.number > before.number and edit.identity.account == exchange.identity.account
    ]
    is_old = exchange.operation == OWN_PROFILE and any(
        before.json_object.get(name) != value
        for edit in edits[:1]
        if edit.response.is_success
        for name, value in changes_in(edit).items()
    )
    is_right = exchange.status != HTTPStatus.NOT_MODIFIED or (is_held and not is_old)
    steps = (before, *latest_attempts(before, history))
    return expect(is_right, "the content, which the client does not have", "status 304", *steps)


@check(
    CONDITIONAL,
    when=[
        tells(
            "the request names a tag that no response has",
            lambda it, _: it.request.header("if-none-match") == MADE_UP_TAG,
        )
    ],
)
def made_up_tag_gets_content(exchange: Exchange, _history: History) -> CheckResult:
    """A request with a made-up tag gets the content, not 304; of operations and of pictures."""
    is_right = exchange.status != HTTPStatus.NOT_MODIFIED
    return expect(is_right, "the content, as its tag is made up", "status 304")


has_tag = tells(
    "the response has an entity tag",
    lambda it, _: it.response.is_success and bool(it.response.header("etag")),
)


@check(CONDITIONAL, when=[is_get, has_tag])
def tag_identifies_one_content(exchange: Exchange, history: History) -> CheckResult:
    """Responses for one URL with the same tag have the same content (RFC 9110, 8.8.1)."""
    tag, url = exchange.response.header("etag"), exchange.request.url
    other = next(
        (
            before
            for before in history.near(exchange.operation)
            if (before.request.url, before.response.header("etag")) == (url, tag)
            and has_tag(before, history)
            and before.request.method == "GET"
            and response_meaning(before) != response_meaning(exchange)
        ),
        None,
    )
    steps = (other, *latest_attempts(other, history)) if other is not None else ()
    return expect(other is None, "one content for each tag", f"another for {tag}", *steps)


@probe("conditional-reads", needs=("owner", "other", "writes", "slug"))
def reads_with_the_tag_of_another(client: ProbeClient) -> Parts:
    """Reads with another client's tag, a made-up tag, a date, and a tag from before an edit."""
    before: dict[str, str] = {}
    lookup = f"/profiles/{client.known.slug}"
    for path, other in (("/me/profile", "other"), ("/me/avatars", "other"), (lookup, "anonymous")):
        before[path] = client.recall(path, "owner").response.header("etag")
        tag = client.recall(path, other).response.header("etag") if before[path] else ""
        headers = {"if-none-match": tag or MADE_UP_TAG}
        yield client.get(path, "owner", headers=headers)
    pictures = avatars_in(client.recall("/me/avatars", "owner", is_lasting=True))
    for url in (str(it.get("image_url", "")) for it in pictures[:1]):
        yield client.send("HEAD", url, headers={"if-none-match": MADE_UP_TAG})
    yield client.get("/me/profile", "owner", headers={SINCE: LONG_AGO})
    if any(before.values()):
        update(client, company="Understudy & after")
        for path, tag in before.items():
            yield client.get(path, "owner", headers={"if-none-match": tag}) if tag else None
            client.get(path, "owner")

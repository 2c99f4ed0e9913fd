"""The prose rules of the resource API's operations: known values, their meaning, and mutations."""

import hashlib
from collections.abc import Iterator

from understudy.cases import drafts
from understudy.cases.drafts import Draft, DraftChange
from understudy.cases.model import CaseKind, variable
from understudy.cases.mutations import (
    REFUSED,
    InterfaceProse,
    Mutation,
    OperationContext,
    ValueSemantics,
    kind_of,
    rule,
)
from understudy.cases.protocol import BEARER_HEADER, BEARER_PART, with_authorization
from understudy.cases.test_data import TestData, digest
from understudy.interface.operations import (
    ASSOCIATED_EMAIL,
    AVATAR_CHANGES,
    DELETE_AVATAR,
    LIST_AVATARS,
    LOOKUP,
    ME,
    OWN_PROFILE,
    QR_CODE,
    READS,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPLOAD_AVATAR,
)
from understudy.openapi.parameter_writing import encoded


def _identifier_mutations(
    context: OperationContext, part: str, name: str, data: TestData
) -> Iterator[Mutation]:
    """Yields the mutations of a profile identifier.

    Args:
        context: The context of the lookup or the QR code.
        part: The part of the path parameter, as in ``path hash``.
        name: The name of the path parameter.
        data: The people and avatars that the cases use.
    """
    semantics = context.semantics[part]
    source = semantics.because.removeprefix("rule ")
    for what, text in _known(data).items():
        on = context.on(part, "hash", source, rule("profile-by-hash-or-slug"))
        mutation = on.accepted(f"{name}: {what}", _identified_by(name, text))
        yield mutation._replace(is_option=True)
    for what, text in _left_open(data).items():
        on = context.on(part, "hash", source, "the interface names no notation")
        kind: CaseKind = "valid" if semantics.kind == "valid" else "open"
        yield on.made(kind, f"{name}: {what}", _identified_by(name, text))
    for what, text in _unknown(data).items():
        on = context.on(part, "hash", source, semantics.because)
        kind = kind_of(semantics.kind == "valid")
        mutation = on.made(kind, f"{name}: {what}", _identified_by(name, text))
        yield mutation._replace(statuses=semantics.statuses)
    yield from _restricted(context, part, name, data)


def _identified_by(name: str, text: str) -> DraftChange:
    return drafts.place(name, encoded(text))


def _known(data: TestData) -> dict[str, str]:
    second = "the hash of a second e-mail of that person"
    identifiers = {
        "the hash of the e-mail": data.email_hash,
        "the slug": data.slug,
        second: data.second_hash,
    }
    return {what: text for what, text in identifiers.items() if text}


def _left_open(data: TestData) -> dict[str, str]:
    return {
        "the hash in capitals": data.email_hash.upper(),
        "the slug in capitals": data.slug.upper(),
        "the hash with spaces around it": f" {data.email_hash} ",
        "the slug with a space behind it": f"{data.slug} ",
    }


def _unknown(data: TestData) -> dict[str, str]:
    email, own_hash = data.email.strip(), data.email_hash
    return {
        "the hash with 0x before it": f"0x{own_hash}",
        "the hash without its last digit": own_hash[:-1],
        "the hash with a digit too many": f"{own_hash}0",
        "the hash with a letter that is not a digit": f"{own_hash[:-1]}g",
        "the MD5 of the e-mail": _md5(email.lower()),
        "the hash of the e-mail before trimming": digest(f" {email.lower()} "),
        "the hash of the e-mail in capitals": digest(email.upper()),
        "the hash of the hash": digest(own_hash),
        "the hash of nothing": digest(""),
        "the e-mail itself": email,
        "a slug that looks like a hash": "deadbeef" * 8,
        "a slug that looks like an MD5": "deadbeef" * 4,
        "64 zeros": "0" * 64,
        "the slug with .json behind it": f"{data.slug}.json",
        "the slug with a letter of another script": "\u0430" + data.slug[1:],
        "a wildcard": "*",
    }


def _restricted(
    context: OperationContext, part: str, name: str, data: TestData
) -> Iterator[Mutation]:
    """Yields lookups of profiles that exist but are private or disabled."""
    private, disabled = data.private_slug, data.disabled_slug
    lookups = [
        ("a private profile", private, "", "403"),
        ("a private profile, with its owner's token", private, "PRIVATE_TOKEN", ""),
        ("a private profile, with another person's token", private, "TOKEN", "403"),
        ("a private profile, with an API key", private, "API_KEY", "403"),
        ("a disabled profile", disabled, "", "404"),
        ("a disabled profile, with another person's token", disabled, "TOKEN", "404"),
    ]
    is_lookup = context.semantics[part].kind == "invalid"
    for what, slug, token, status in lookups:
        if not slug or (token and not is_lookup):
            continue
        source = "qr-unknown-hash"
        if is_lookup:
            source = "profile-private" if slug == private else "profile-unknown-404"
        mutation = context.on(part, "visibility", source).made(
            kind_of(not (is_lookup and status)),
            f"{name}: {what}",
            _as(token, _identified_by(name, slug)),
        )
        yield mutation._replace(
            is_alone=True, statuses=(status,) if mutation.kind == "invalid" else ()
        )


def _as(token: str, apply: DraftChange) -> DraftChange:
    if not token:
        return apply
    return lambda draft: apply(draft).with_headers(BEARER_HEADER, f"Bearer {variable(token)}")


def _email_hash_mutations(
    context: OperationContext, part: str, data: TestData
) -> Iterator[Mutation]:
    """Yields the mutations of the hash of an e-mail address.

    Args:
        context: The operation context.
        part: The part that has the hash, as in ``query email_hash``.
        data: The people and avatars that the cases use.
    """
    where, _, name = part.partition(" ")
    semantics = context.semantics[part]
    source = semantics.because.removeprefix("rule ")

    def of(what: str, text: str, *, is_own: bool) -> Mutation:
        put = drafts.member((name,), text) if where == "body" else drafts.query(name, text)
        on = context.on(part, "hash", source, semantics.because)
        if is_own or semantics.kind == "valid":
            return on.accepted(f"{name}: {what}", put)._replace(is_option=is_own)
        refused = on.refused(f"{name}: {what}", put)
        return refused._replace(statuses=semantics.statuses or REFUSED)

    yield of("the hash of the caller's e-mail", data.email_hash, is_own=True)
    if data.second_hash:
        yield of("the hash of a second e-mail of the caller", data.second_hash, is_own=True)
    if data.other_hash:
        yield of("the hash of another person's e-mail", data.other_hash, is_own=False)
    yield of("a hash of no account", digest("understudy"), is_own=False)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


EMAIL_HASH_PARTS = {
    LIST_AVATARS: "query selected_email_hash",
    UPLOAD_AVATAR: "query selected_email_hash",
    SET_AVATAR: "body email_hash",
    ASSOCIATED_EMAIL: "query email_hash",
}
"""Operation to the part that has the hash of an e-mail address."""

QR_TEXT = 250
"""Longest text, in bytes, that fits any QR code, even percent-encoded (ISO/IEC 18004, 7.4)."""

NOT_FOUND = ("404",)
FORBIDDEN = ("403",)

_EXTRA = ValueSemantics("valid", rule("unknown-query-parameters-accepted"))


def prose(
    key: str, path_names: tuple[str, ...], data: TestData, avatar_id: str
) -> InterfaceProse | None:
    """Returns the prose rules of a resource API operation; None for other operations.

    Args:
        key: The operation, by its name in ``interface.operations``.
        path_names: Names of the path parameters in the document.
        data: The people and avatars that the cases use.
        avatar_id: The avatar that the cases change, or the variable for it.
    """
    if key not in {LOOKUP, QR_CODE, *ME}:
        return None
    name = path_names[0] if path_names else ""
    part = f"path {name}"
    semantics = {"query *": _EXTRA, **_semantics(key, part, data, avatar_id)}

    def with_known_values(draft: Draft) -> Draft:
        draft = _with_known_values(key, draft, name, data)
        if key in AVATAR_CHANGES:
            draft = draft.with_place(name, encoded(avatar_id))
        is_open = key in {LOOKUP, QR_CODE}
        return draft.with_headers(BEARER_HEADER) if is_open else draft

    def mutations(context: OperationContext) -> Iterator[Mutation]:
        if key in {LOOKUP, QR_CODE}:
            yield from _identifier_mutations(context, part, name, data)
        if key in EMAIL_HASH_PARTS:
            yield from _email_hash_mutations(context, EMAIL_HASH_PARTS[key], data)
        if key in AVATAR_CHANGES:
            yield from _image_ids(context, part, name, data)
        yield from _tokens(context, key)

    return InterfaceProse(with_known_values, {"semantics": semantics}, mutations)


def _semantics(key: str, part: str, data: TestData, avatar_id: str) -> dict[str, ValueSemantics]:
    hashes = frozenset({data.email_hash, data.second_hash} - {""})
    identifiers, own_or_none = hashes | {data.slug}, hashes | {""}
    foreign = ValueSemantics("invalid", rule("unknown-selected-email-hash"), FORBIDDEN, own_or_none)
    unknown_avatar = ValueSemantics(
        "invalid", rule("avatar-unknown-404"), NOT_FOUND, frozenset({data.image_id, avatar_id})
    )
    foreign_email = ValueSemantics("invalid", rule("avatar-email-unknown-hash"), FORBIDDEN, hashes)
    anything = ValueSemantics("valid", rule("associated-email"))
    utm = ValueSemantics("valid", rule("qr-utm-parameters"), longest=QR_TEXT)
    by_key: dict[str, dict[str, ValueSemantics]] = {
        LOOKUP: {
            part: ValueSemantics("invalid", rule("profile-unknown-404"), NOT_FOUND, identifiers)
        },
        QR_CODE: {
            part: ValueSemantics("valid", rule("qr-unknown-hash"), longest=QR_TEXT),
            "query utm_medium": utm,
            "query utm_campaign": utm,
        },
        LIST_AVATARS: {"query selected_email_hash": foreign},
        UPLOAD_AVATAR: {"query selected_email_hash": foreign},
        DELETE_AVATAR: {part: unknown_avatar},
        UPDATE_AVATAR: {part: unknown_avatar},
        SET_AVATAR: {part: unknown_avatar, "body email_hash": foreign_email},
        ASSOCIATED_EMAIL: {"query email_hash": anything},
    }
    return by_key.get(key, {})


def _with_known_values(key: str, draft: Draft, name: str, data: TestData) -> Draft:
    if key in {LOOKUP, QR_CODE}:
        return draft.with_place(name, encoded(data.slug))
    if key == SET_AVATAR:
        return draft.with_json(("email_hash",), data.email_hash)
    if key == ASSOCIATED_EMAIL:
        return draft.with_query("email_hash", data.email_hash)
    return draft


def _image_ids(
    context: OperationContext, part: str, name: str, data: TestData
) -> Iterator[Mutation]:
    semantics = context.semantics[part]
    source = "avatar-unknown-404"
    for what, text in {
        "an avatar that was never there": "deadbeef" * 4,
        "the avatar without its last digit": data.image_id[:-1],
        "the avatar with a digit too many": f"{data.image_id}0",
        "the hash of the e-mail": data.email_hash,
        "a number": "1",
        "the word undefined": "undefined",
    }.items():
        yield (
            context.on(part, "hash", source, semantics.because)
            .refused(f"{name}: {what}", drafts.place(name, encoded(text)))
            ._replace(statuses=NOT_FOUND)
        )
    yield context.on(part, "hash", source, "the interface names no notation").left_open(
        f"{name}: the avatar in capitals", drafts.place(name, data.image_id.upper())
    )


def _with_token(
    context: OperationContext, what: str, name: str, rule_id: str, status: str
) -> Mutation:
    kind = kind_of(not status)
    on = context.on(BEARER_PART, "authorization", rule_id)
    mutation = on.made(
        kind, f"Authorization: {what}", with_authorization(f"Bearer {variable(name)}")
    )
    return mutation._replace(statuses=(status,)) if status else mutation


TokenRow = tuple[str, str, str, str]
"""Description of a token, its variable, the rule, and the status of the refusal; empty: accepted."""


def _token_rows(key: str) -> Iterator[TokenRow]:
    """Yields the tokens that are sent to an operation, with their expected outcomes."""
    scoped = "a token with the scope auth alone"
    if key == QR_CODE:
        source = "qr-no-authentication"
        yield "a token, though none is read", "TOKEN", source, ""
        yield "an expired token", "EXPIRED_TOKEN", source, ""
        return
    source = "invalid-token-refused" if key == LOOKUP else "me-needs-oauth-token"
    yield "an expired token", "EXPIRED_TOKEN", source, "401"
    if key == LOOKUP:
        yield "an API key", "API_KEY", "profile-lookup-open", ""
        yield scoped, "AUTH_TOKEN", "profile-lookup-open", ""
        return
    if key == OWN_PROFILE:
        of = "the token of an account whose profile is"
        yield f"{of} disabled", "DISABLED_TOKEN", "own-profile-disabled-404", "404"
        yield f"{of} private", "PRIVATE_TOKEN", "own-profile-is-full", ""
    yield "an API key", "API_KEY", "me-needs-oauth-token", "401"
    if key in AVATAR_CHANGES:
        yield "another person's token", "OTHER_TOKEN", "foreign-avatars-invisible", "404"
    yield scoped, "AUTH_TOKEN", "scope-per-operation", "403"
    may_read = "" if key in READS else "403"
    yield "a token that may only read", "READ_TOKEN", "scope-per-operation", may_read


def _tokens(context: OperationContext, key: str) -> Iterator[Mutation]:
    yield from (_with_token(context, *row) for row in _token_rows(key))
    if key == QR_CODE:
        yield context.on(BEARER_PART, "authorization", "qr-no-authentication").accepted(
            "Authorization: a token that was never issued",
            with_authorization("Bearer understudy-unknown"),
        )

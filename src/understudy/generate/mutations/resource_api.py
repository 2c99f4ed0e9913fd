"""The interface's prose of the resource API's operations: known values, their meaning, mutations."""

from collections.abc import Iterator

from understudy.generate.cases import variable
from understudy.generate.drafts import Draft
from understudy.generate.mutations import draft_changes, profile_identifiers
from understudy.generate.mutations.bearer_tokens import HEADER, PART, sending
from understudy.generate.mutations.mutation import Mutation, rule
from understudy.generate.mutations.operation_context import (
    InterfaceProse,
    OperationContext,
    ValueSemantics,
)
from understudy.generate.test_data import TestData
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

EMAIL_HASH_PARTS = {
    LIST_AVATARS: "query selected_email_hash",
    UPLOAD_AVATAR: "query selected_email_hash",
    SET_AVATAR: "body email_hash",
    ASSOCIATED_EMAIL: "query email_hash",
}
"""Operation to the part that is the hash of an e-mail address."""

QR_TEXT = 250
"""Bytes of a text that fit any QR code, even percent-encoded (ISO/IEC 18004, 7.4)."""

NOT_FOUND = ("404",)
FORBIDDEN = ("403",)

_EXTRA = ValueSemantics("valid", rule("unknown-query-parameters-accepted"))


def prose(
    key: str, path_names: tuple[str, ...], data: TestData, avatar_id: str
) -> InterfaceProse | None:
    """Returns what the interface says of an operation, or None for other operations.

    Args:
        key: The operation, as ``interface.operations`` names it.
        path_names: Names of the path parameters in the document in force.
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
        return draft.with_headers(HEADER) if is_open else draft

    def mutations(context: OperationContext) -> Iterator[Mutation]:
        if key in {LOOKUP, QR_CODE}:
            yield from profile_identifiers.mutations(context, part, name, data)
        if key in EMAIL_HASH_PARTS:
            yield from profile_identifiers.email_hash_mutations(
                context, EMAIL_HASH_PARTS[key], data
            )
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
        yield context.refused(
            part,
            "hash",
            f"{name}: {what}",
            source,
            semantics.because,
            draft_changes.place(name, encoded(text)),
        )._replace(statuses=NOT_FOUND)
    yield context.left_open(
        part,
        "hash",
        f"{name}: the avatar in capitals",
        source,
        "the interface names no notation",
        draft_changes.place(name, data.image_id.upper()),
    )


def _tokens(context: OperationContext, key: str) -> Iterator[Mutation]:
    def with_token(what: str, name: str, rule_id: str, statuses: tuple[str, ...]) -> Mutation:
        description = f"Authorization: {what}"
        apply = sending(f"Bearer {variable(name)}")
        if not statuses:
            return context.accepted(
                PART, "authorization", description, rule_id, rule(rule_id), apply
            )
        mutation = context.refused(
            PART, "authorization", description, rule_id, rule(rule_id), apply
        )
        return mutation._replace(statuses=statuses)

    if key == QR_CODE:
        yield with_token("a token, though none is read", "TOKEN", "qr-no-authentication", ())
        yield with_token("an expired token", "EXPIRED_TOKEN", "qr-no-authentication", ())
        yield context.accepted(
            PART,
            "authorization",
            "Authorization: a token that was never issued",
            "qr-no-authentication",
            rule("qr-no-authentication"),
            sending("Bearer understudy-unknown"),
        )
        return
    unauthorized = ("401",)
    yield with_token(
        "an expired token",
        "EXPIRED_TOKEN",
        "invalid-token-refused" if key == LOOKUP else "me-needs-oauth-token",
        unauthorized,
    )
    if key == LOOKUP:
        yield with_token("an API key", "API_KEY", "profile-lookup-open", ())
        yield with_token(
            "a token with the scope auth alone", "AUTH_TOKEN", "profile-lookup-open", ()
        )
        return
    if key == OWN_PROFILE:
        disabled = "own-profile-disabled-404"
        yield with_token(
            "the token of an account whose profile is disabled",
            "DISABLED_TOKEN",
            disabled,
            NOT_FOUND,
        )
        yield with_token(
            "the token of an account whose profile is private",
            "PRIVATE_TOKEN",
            "own-profile-is-full",
            (),
        )
    yield with_token("an API key", "API_KEY", "me-needs-oauth-token", unauthorized)
    if key in AVATAR_CHANGES:
        yield with_token(
            "another person's token", "OTHER_TOKEN", "foreign-avatars-invisible", NOT_FOUND
        )
    yield with_token(
        "a token with the scope auth alone", "AUTH_TOKEN", "scope-per-operation", FORBIDDEN
    )
    may_read: tuple[str, ...] = () if key in READS else FORBIDDEN
    yield with_token("a token that may only read", "READ_TOKEN", "scope-per-operation", may_read)

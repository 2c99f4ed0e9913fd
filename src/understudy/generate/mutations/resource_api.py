"""What the interface's prose says of the resource API, by method and path: base values and oddities."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from understudy.generate.cases import variable
from understudy.generate.drafts import Draft, encoded
from understudy.generate.mutations import changes, identifiers
from understudy.generate.mutations.changes import Apply
from understudy.generate.mutations.credentials import HEADER, SLOT, sending
from understudy.generate.mutations.mutation import Mutation, rule
from understudy.generate.mutations.operation_context import OperationContext, ValueSemantics
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

EMAIL_SLOTS = {
    LIST_AVATARS: "query selected_email_hash",
    UPLOAD_AVATAR: "query selected_email_hash",
    SET_AVATAR: "body email_hash",
    ASSOCIATED_EMAIL: "query email_hash",
}
"""Where an operation takes the hash of an e-mail address."""

QR_TEXT = 250
"""Bytes of a text that surely fit a QR code, percent-encoded and all (ISO/IEC 18004, 7.4)."""

NOT_FOUND = ("404",)
FORBIDDEN = ("403",)

_EXTRA = ValueSemantics("valid", rule("unknown-query-parameters-accepted"))


class Prose(NamedTuple):
    """What the interface says of one operation.

    Attributes:
        base: Puts known values into the plain request.
        meanings: Slot to what other values than the known ones mean.
        oddities: Yields further turns.
    """

    base: Apply
    meanings: Mapping[str, ValueSemantics]
    oddities: Callable[[OperationContext], Iterator[Mutation]]


def prose(key: str, path_names: tuple[str, ...], known: TestData) -> Prose | None:
    """Returns what the interface says of an operation, or None where it is not the interface's.

    Args:
        key: The operation, as ``interface.operations`` names it.
        path_names: What the document in force calls the parameters of the path.
        known: What cases are about.
    """
    if key not in {LOOKUP, QR_CODE, *ME}:
        return None
    name = path_names[0] if path_names else ""
    slot = f"path {name}"
    meanings = {"query *": _EXTRA, **_meanings(key, slot, known)}

    def base(draft: Draft) -> Draft:
        draft = _base(key, draft, name, known)
        is_open = key in {LOOKUP, QR_CODE}
        return draft.with_headers(HEADER) if is_open else draft

    def oddities(scene: OperationContext) -> Iterator[Mutation]:
        if key in {LOOKUP, QR_CODE}:
            yield from identifiers.turns(scene, slot, name, known)
        if key in EMAIL_SLOTS:
            yield from identifiers.email_turns(scene, EMAIL_SLOTS[key], known)
        if key in AVATAR_CHANGES:
            yield from _image_ids(scene, slot, name, known)
        yield from _tokens(scene, key)

    return Prose(base, meanings, oddities)


def _meanings(key: str, slot: str, known: TestData) -> dict[str, ValueSemantics]:
    hashes = frozenset({known.email_hash, known.second_hash} - {""})
    found, chosen = hashes | {known.slug}, hashes | {""}
    foreign = ValueSemantics("invalid", rule("unknown-selected-email-hash"), FORBIDDEN, chosen)
    unknown_avatar = ValueSemantics(
        "invalid", rule("avatar-unknown-404"), NOT_FOUND, frozenset({known.image_id})
    )
    foreign_email = ValueSemantics("invalid", rule("avatar-email-unknown-hash"), FORBIDDEN, hashes)
    anything = ValueSemantics("valid", rule("associated-email"))
    utm = ValueSemantics("valid", rule("qr-utm-parameters"), longest=QR_TEXT)
    by_key: dict[str, dict[str, ValueSemantics]] = {
        LOOKUP: {slot: ValueSemantics("invalid", rule("profile-unknown-404"), NOT_FOUND, found)},
        QR_CODE: {
            slot: ValueSemantics("valid", rule("qr-unknown-hash"), longest=QR_TEXT),
            "query utm_medium": utm,
            "query utm_campaign": utm,
        },
        LIST_AVATARS: {"query selected_email_hash": foreign},
        UPLOAD_AVATAR: {"query selected_email_hash": foreign},
        DELETE_AVATAR: {slot: unknown_avatar},
        UPDATE_AVATAR: {slot: unknown_avatar},
        SET_AVATAR: {slot: unknown_avatar, "body email_hash": foreign_email},
        ASSOCIATED_EMAIL: {"query email_hash": anything},
    }
    return by_key.get(key, {})


def _base(key: str, draft: Draft, name: str, known: TestData) -> Draft:
    if key in {LOOKUP, QR_CODE}:
        return draft.with_place(name, encoded(known.slug))
    if key in AVATAR_CHANGES:
        draft = draft.with_place(name, encoded(known.image_id))
    if key == SET_AVATAR:
        return draft.with_json(("email_hash",), known.email_hash)
    if key == ASSOCIATED_EMAIL:
        return draft.with_query("email_hash", known.email_hash)
    return draft


def _image_ids(
    scene: OperationContext, slot: str, name: str, known: TestData
) -> Iterator[Mutation]:
    meaning = scene.meanings[slot]
    source = "avatar-unknown-404"
    for what, text in {
        "an avatar that was never there": "deadbeef" * 4,
        "the avatar without its last digit": known.image_id[:-1],
        "the avatar with a digit too many": f"{known.image_id}0",
        "the hash of the e-mail": known.email_hash,
        "a number": "1",
        "the word undefined": "undefined",
    }.items():
        yield scene.refused(
            slot,
            "hash",
            f"{name}: {what}",
            source,
            meaning.because,
            changes.place(name, encoded(text)),
        )._replace(statuses=NOT_FOUND)
    yield scene.left_open(
        slot,
        "hash",
        f"{name}: the avatar in capitals",
        source,
        "the interface names no notation",
        changes.place(name, known.image_id.upper()),
    )


def _tokens(scene: OperationContext, key: str) -> Iterator[Mutation]:
    def with_token(what: str, name: str, rule_id: str, statuses: tuple[str, ...]) -> Mutation:
        said = f"Authorization: {what}"
        apply = sending(f"Bearer {variable(name)}")
        if not statuses:
            return scene.accepted_turn(SLOT, "authorization", said, rule_id, rule(rule_id), apply)
        turn = scene.refused(SLOT, "authorization", said, rule_id, rule(rule_id), apply)
        return turn._replace(statuses=statuses)

    if key == QR_CODE:
        free: tuple[str, ...] = ()
        yield with_token("a token, though none is read", "token", "qr-no-authentication", free)
        yield with_token("an expired token", "expired_token", "qr-no-authentication", free)
        yield scene.accepted_turn(
            SLOT,
            "authorization",
            "Authorization: a token that nobody issued",
            "qr-no-authentication",
            rule("qr-no-authentication"),
            sending("Bearer understudy-unknown"),
        )
        return
    unauthorized = ("401",)
    yield with_token(
        "an expired token",
        "expired_token",
        "invalid-token-refused" if key == LOOKUP else "me-needs-oauth-token",
        unauthorized,
    )
    if key == LOOKUP:
        yield with_token("an API key", "api_key", "profile-lookup-open", ())
        yield with_token(
            "a token with the scope auth alone", "auth_token", "profile-lookup-open", ()
        )
        return
    if key == OWN_PROFILE:
        disabled = "own-profile-disabled-404"
        yield with_token(
            "the token of somebody whose profile is disabled", "disabled_token", disabled, NOT_FOUND
        )
        yield with_token(
            "the token of somebody whose profile is private",
            "private_token",
            "own-profile-is-full",
            (),
        )
    yield with_token("an API key", "api_key", "me-needs-oauth-token", unauthorized)
    if key in AVATAR_CHANGES:
        yield with_token(
            "another person's token", "other_token", "foreign-avatars-invisible", NOT_FOUND
        )
    yield with_token(
        "a token with the scope auth alone", "auth_token", "scope-per-operation", FORBIDDEN
    )
    may_read: tuple[str, ...] = () if key in READS else FORBIDDEN
    yield with_token("a token that may only read", "read_token", "scope-per-operation", may_read)

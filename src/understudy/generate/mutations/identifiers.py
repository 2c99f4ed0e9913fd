"""Turns of what names a person: hashes of e-mail addresses, slugs, and what looks like either."""

import hashlib
from collections.abc import Iterator

from understudy.generate.cases import variable
from understudy.generate.drafts import encoded
from understudy.generate.mutations import changes
from understudy.generate.mutations.changes import Apply
from understudy.generate.mutations.credentials import HEADER
from understudy.generate.mutations.mutation import REFUSED, Mutation, rule
from understudy.generate.mutations.operation_context import OperationContext
from understudy.generate.test_data import TestData, digest


def turns(scene: OperationContext, slot: str, name: str, known: TestData) -> Iterator[Mutation]:
    """Yields the turns of what names a profile.

    Args:
        scene: The lookup, or the QR code.
        slot: Of the path parameter.
        name: Of the path parameter.
        known: Whom they are about.
    """
    meaning = scene.meanings[slot]
    source = meaning.because.removeprefix("rule ")
    for what, text in _known(known).items():
        args = (slot, "hash", f"{name}: {what}", source, rule("profile-by-hash-or-slug"))
        yield scene.accepted_turn(*args, _looked_up(name, text))._replace(is_option=True)
    for what, text in _doubtful(known).items():
        args = (slot, "hash", f"{name}: {what}", source, "the interface names no notation")
        make = scene.accepted_turn if meaning.kind == "valid" else scene.left_open
        yield make(*args, _looked_up(name, text))
    for what, text in _unknown(known).items():
        args = (slot, "hash", f"{name}: {what}", source, meaning.because)
        make = scene.accepted_turn if meaning.kind == "valid" else scene.refused
        yield make(*args, _looked_up(name, text))._replace(statuses=meaning.statuses)
    yield from _closed(scene, slot, name, known)


def _looked_up(name: str, text: str) -> Apply:
    return changes.place(name, encoded(text))


def _known(known: TestData) -> dict[str, str]:
    second = "the hash of a second e-mail of that person"
    found = {
        "the hash of the e-mail": known.email_hash,
        "the slug": known.slug,
        second: known.second_hash,
    }
    return {what: text for what, text in found.items() if text}


def _doubtful(known: TestData) -> dict[str, str]:
    return {
        "the hash in capitals": known.email_hash.upper(),
        "the slug in capitals": known.slug.upper(),
        "the hash with spaces around it": f" {known.email_hash} ",
        "the slug with a space behind it": f"{known.slug} ",
    }


def _unknown(known: TestData) -> dict[str, str]:
    email, found = known.email.strip(), known.email_hash
    return {
        "the hash with 0x before it": f"0x{found}",
        "the hash without its last digit": found[:-1],
        "the hash with a digit too many": f"{found}0",
        "the hash with a letter that is no digit": f"{found[:-1]}g",
        "the MD5 of the e-mail": _md5(email.lower()),
        "the hash of the e-mail before trimming": digest(f" {email.lower()} "),
        "the hash of the e-mail in capitals": digest(email.upper()),
        "the hash of the hash": digest(found),
        "the hash of nothing": digest(""),
        "the e-mail itself": email,
        "a slug that looks like a hash": "deadbeef" * 8,
        "a slug that looks like an MD5": "deadbeef" * 4,
        "64 zeros": "0" * 64,
        "the slug with .json behind it": f"{known.slug}.json",
        "the slug with a letter of another script": "\u0430" + known.slug[1:],
        "a wildcard": "*",
    }


def _closed(scene: OperationContext, slot: str, name: str, known: TestData) -> Iterator[Mutation]:
    """Yields the lookups of profiles that are there, and not for everybody."""
    private, disabled = known.private_slug, known.disabled_slug
    looked_up = [
        ("a private profile", private, "", "403"),
        ("a private profile, with its owner's token", private, "private_token", ""),
        ("a private profile, with another person's token", private, "token", "403"),
        ("a private profile, with an API key", private, "api_key", "403"),
        ("a disabled profile", disabled, "", "404"),
        ("a disabled profile, with another person's token", disabled, "token", "404"),
    ]
    is_lookup = scene.meanings[slot].kind == "invalid"
    for what, slug, token, status in looked_up:
        if not slug or (token and not is_lookup):
            continue
        source = "qr-unknown-hash"
        if is_lookup:
            source = "profile-private" if slug == private else "profile-unknown-404"
        make = scene.refused if is_lookup and status else scene.accepted_turn
        args = (slot, "visibility", f"{name}: {what}", source, rule(source))
        turn = make(*args, _as(token, _looked_up(name, slug)))
        yield turn._replace(is_alone=True, statuses=(status,) if turn.kind == "invalid" else ())


def _as(token: str, apply: Apply) -> Apply:
    if not token:
        return apply
    return lambda draft: apply(draft).with_headers(HEADER, f"Bearer {variable(token)}")


def email_turns(scene: OperationContext, slot: str, known: TestData) -> Iterator[Mutation]:
    """Yields the turns of the hash of an e-mail address that an operation takes.

    Args:
        scene: The operation.
        slot: Of the hash.
        known: Whom they are about.
    """
    where, _, name = slot.partition(" ")
    meaning = scene.meanings[slot]
    source = meaning.because.removeprefix("rule ")

    def of(what: str, text: str, *, is_own: bool) -> Mutation:
        put = changes.member((name,), text) if where == "body" else changes.query(name, text)
        args = (slot, "hash", f"{name}: {what}", source, meaning.because, put)
        if is_own or meaning.kind == "valid":
            return scene.accepted_turn(*args)._replace(is_option=is_own)
        return scene.refused(*args)._replace(statuses=meaning.statuses or REFUSED)

    yield of("the hash of the caller's e-mail", known.email_hash, is_own=True)
    if known.second_hash:
        yield of("the hash of a second e-mail of the caller", known.second_hash, is_own=True)
    if known.other_hash:
        yield of("the hash of another person's e-mail", known.other_hash, is_own=False)
    yield of("a hash that nobody has", digest("understudy"), is_own=False)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()

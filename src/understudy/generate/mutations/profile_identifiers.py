"""Mutations of profile identifiers: hashes of e-mail addresses, slugs, and texts that look like them."""

import hashlib
from collections.abc import Iterator

from understudy.generate.cases import variable
from understudy.generate.mutations import draft_changes
from understudy.generate.mutations.bearer_tokens import HEADER
from understudy.generate.mutations.draft_changes import DraftChange
from understudy.generate.mutations.mutation import REFUSED, Mutation, rule
from understudy.generate.mutations.operation_context import OperationContext
from understudy.generate.test_data import TestData, digest
from understudy.openapi.parameter_writing import encoded


def mutations(
    context: OperationContext, part: str, name: str, data: TestData
) -> Iterator[Mutation]:
    """Yields the mutations of a profile identifier.

    Args:
        context: The context of the lookup or the QR code.
        part: The part that is the path parameter.
        name: The name of the path parameter.
        data: The people and avatars that the cases use.
    """
    semantics = context.semantics[part]
    source = semantics.because.removeprefix("rule ")
    for what, text in _known(data).items():
        args = (part, "hash", f"{name}: {what}", source, rule("profile-by-hash-or-slug"))
        yield context.accepted(*args, _identified_by(name, text))._replace(is_option=True)
    for what, text in _left_open(data).items():
        args = (part, "hash", f"{name}: {what}", source, "the interface names no notation")
        make = context.accepted if semantics.kind == "valid" else context.left_open
        yield make(*args, _identified_by(name, text))
    for what, text in _unknown(data).items():
        args = (part, "hash", f"{name}: {what}", source, semantics.because)
        make = context.accepted if semantics.kind == "valid" else context.refused
        yield make(*args, _identified_by(name, text))._replace(statuses=semantics.statuses)
    yield from _restricted(context, part, name, data)


def _identified_by(name: str, text: str) -> DraftChange:
    return draft_changes.place(name, encoded(text))


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
        make = context.refused if is_lookup and status else context.accepted
        args = (part, "visibility", f"{name}: {what}", source, rule(source))
        mutation = make(*args, _as(token, _identified_by(name, slug)))
        yield mutation._replace(
            is_alone=True, statuses=(status,) if mutation.kind == "invalid" else ()
        )


def _as(token: str, apply: DraftChange) -> DraftChange:
    if not token:
        return apply
    return lambda draft: apply(draft).with_headers(HEADER, f"Bearer {variable(token)}")


def email_hash_mutations(
    context: OperationContext, part: str, data: TestData
) -> Iterator[Mutation]:
    """Yields the mutations of the hash of an e-mail address.

    Args:
        context: The operation context.
        part: The part that is the hash.
        data: The people and avatars that the cases use.
    """
    where, _, name = part.partition(" ")
    semantics = context.semantics[part]
    source = semantics.because.removeprefix("rule ")

    def of(what: str, text: str, *, is_own: bool) -> Mutation:
        put = (
            draft_changes.member((name,), text)
            if where == "body"
            else draft_changes.query(name, text)
        )
        args = (part, "hash", f"{name}: {what}", source, semantics.because, put)
        if is_own or semantics.kind == "valid":
            return context.accepted(*args)._replace(is_option=is_own)
        return context.refused(*args)._replace(statuses=semantics.statuses or REFUSED)

    yield of("the hash of the caller's e-mail", data.email_hash, is_own=True)
    if data.second_hash:
        yield of("the hash of a second e-mail of the caller", data.second_hash, is_own=True)
    if data.other_hash:
        yield of("the hash of another person's e-mail", data.other_hash, is_own=False)
    yield of("a hash of no account", digest("understudy"), is_own=False)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()

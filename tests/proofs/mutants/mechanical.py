"""Mutants made from the documents: drop a member, change a type, leak a field, another status.

They are not tailored to the checks: each schema and each operation gives its own, all alike.
"""

from typing import Any

import httpx
from tests.proofs.mutants.edge import (
    LIST,
    MUTANTS,
    OWN,
    TOKEN,
    Change,
    Mutant,
    Send,
    answer,
    asking,
    at,
    editing,
    is_avatar,
    is_profile,
    said,
    who,
)

from understudy.interface.recognition import REQUIRED
from understudy.verify.shapes import AUTHENTICATED_ONLY, OPTIONAL, bundled

MEMBER_RULES = {
    "languages": "language-members",
    "links": "link-members",
    "interests": "interest-members",
    "gallery": "gallery-image-members",
    "verified_accounts": "verified-account-members",
}
NESTED = {
    "languages": ("code", "name", "is_primary", "order"),
    "links": ("label", "url"),
    "interests": ("id", "name"),
    "gallery": ("url",),
    "verified_accounts": ("service_type", "service_label", "service_icon", "url", "is_hidden"),
}
WRONG: dict[str, Any] = {"string": 7, "integer": "7", "boolean": "yes", "array": {}, "object": []}


def add(name: str, rules: tuple[str, ...], change: Change) -> None:
    MUTANTS.append(Mutant(name, rules, lambda: change, is_mechanical=True))


def schema_of(name: str, document: str = "service.yaml") -> dict[str, Any]:
    found: dict[str, Any] = bundled(document).raw["components"]["schemas"][name]
    return found


def _type_of(schema: dict[str, Any]) -> str:
    return "object" if "$ref" in schema else str(schema.get("type"))


def without(name: str) -> Any:
    return lambda body: {key: value for key, value in body.items() if key != name}


def with_member(name: str, value: Any) -> Any:
    return lambda body: {**body, name: value} if name in body else body


def _profiles() -> None:
    properties = schema_of("Profile")["properties"]
    for name in REQUIRED:
        lost = ("profile-required-members",)
        add(f"profile without {name}", lost, editing(is_profile, without(name)))
        wrong = WRONG[_type_of(properties[name])]
        add(
            f"profile with {name} as {wrong!r}", lost, editing(is_profile, with_member(name, wrong))
        )
    for name in OPTIONAL:
        wrong = WRONG[_type_of(properties[name])]
        rule = ("profile-optional-types", "last-edit-utc", "registration-date-shapes")
        add(
            f"profile with {name} as {wrong!r}", rule, editing(is_profile, with_member(name, wrong))
        )
        empty = ("optional-fields-omitted",)
        add(f"profile with {name} empty", empty, editing(is_profile, with_member(name, "")))
    for name in AUTHENTICATED_ONLY:
        add(f"{name} leaks to the public", ("authenticated-only-fields",), _leaking(name))
        hidden = ("authenticated-only-fields", "own-profile-is-full")
        add(f"{name} is kept from API keys", hidden, _kept_from_keys(name))
        add(f"{name} is kept from the own profile", ("own-profile-is-full",), _kept_from_own(name))


def _leaking(name: str) -> Change:
    def change(request: httpx.Request, send: Send) -> httpx.Response:
        response = send(request)
        if at(request, "GET", "/profiles/") and not who(request) and response.status_code == 200:
            full = said(send(asking(request, token="ada-full")))
            body = said(response)
            return answer(response, body={**body, name: full[name]} if name in full else body)
        return response

    return change


def _kept_from_keys(name: str) -> Change:
    return editing(lambda r: is_profile(r) and who(r) == "ada-api-key", without(name))


def _kept_from_own(name: str) -> Change:
    return editing(lambda r: at(r, "GET", OWN), without(name))


def _nested() -> None:
    for holder, members in NESTED.items():
        for member in members:
            lost = editing(is_profile, _each(holder, member))
            add(f"{holder} without {member}", (MEMBER_RULES[holder],), lost)
    wallets = editing(is_profile, _in_payments("crypto_wallets", "address"))
    add("crypto_wallets without address", ("crypto-wallet-members",), wallets)
    links = editing(is_profile, _in_payments("links", "label"))
    add("payment links without label", ("link-members",), links)
    payments = editing(is_profile, lambda b: {**b, "payments": {"a": 1}} if "payments" in b else b)
    add("payments without links and wallets", ("payments-members",), payments)
    for name in schema_of("ContactInfo")["properties"]:
        change = editing(is_profile, _contact(name))
        add(f"contact_info with {name} as a number", ("contact-info-strings",), change)


def _each(holder: str, member: str) -> Any:
    def edit(body: Any) -> Any:
        items = body.get(holder)
        if not isinstance(items, list):
            return body
        return {**body, holder: [{k: v for k, v in i.items() if k != member} for i in items]}

    return edit


def _in_payments(holder: str, member: str) -> Any:
    edit = _each(holder, member)
    return lambda body: {**body, "payments": edit(body["payments"])} if "payments" in body else body


def _contact(name: str) -> Any:
    def edit(body: Any) -> Any:
        contact = body.get("contact_info")
        return {**body, "contact_info": {**contact, name: 7}} if contact else body

    return edit


def _avatars() -> None:
    schema = schema_of("Avatar")
    for name, member in schema["properties"].items():
        wrong = WRONG["string" if "$ref" in member else str(member["type"])]
        rules = ("avatar-members", "avatar-upload-returns-avatar")
        add(f"listed avatars with {name} as {wrong!r}", rules, _listed(with_member(name, wrong)))
        uploaded = editing(lambda r: at(r, "POST", LIST), with_member(name, wrong))
        add(f"an uploaded avatar with {name} as {wrong!r}", rules, uploaded)
    for name in schema["required"]:
        lost = ("avatar-members", "avatar-upload-returns-avatar")
        add(f"listed avatars without {name}", lost, _listed(without(name)))
        uploaded = editing(lambda r: at(r, "POST", LIST), without(name))
        add(f"an uploaded avatar without {name}", lost, uploaded)
        patched = editing(lambda r: is_avatar(r, "PATCH"), without(name))
        add(f"a patched avatar without {name}", (*lost, "rating-values"), patched)
    add(
        "listed avatars do not say selected",
        ("avatar-selected-for-email",),
        _listed(without("selected")),
    )
    add("ratings in lower case", ("rating-values",), _listed(_lower))
    add("dates of avatars with an offset", ("updated-date-utc",), _listed(_offset))
    flipped = editing(
        lambda r: at(r, "GET", "/me/associated-email"),
        lambda b: {"associated": not b["associated"]},
    )
    add("associated the other way round", ("associated-email",), flipped)
    named = editing(
        lambda r: at(r, "GET", "/me/associated-email"), lambda _: {"is_associated": True}
    )
    add("associated by another name", ("associated-response-members",), named)


def _listed(edit: Any) -> Change:
    return editing(lambda r: at(r, "GET", LIST), lambda body: [edit(item) for item in body])


def _lower(avatar: Any) -> Any:
    return {**avatar, "rating": avatar["rating"].lower()}


def _offset(avatar: Any) -> Any:
    return {**avatar, "updated_date": avatar["updated_date"].replace("Z", "+00:00")}


def _tokens() -> None:
    for name in schema_of("Token", "authorization.yaml")["required"]:
        change = editing(lambda r: at(r, "POST", TOKEN), without(name))
        add(f"a token's answer without {name}", ("token-answer", "code-exchange"), change)
    change = editing(lambda r: at(r, "POST", TOKEN), without("scope"))
    add("a token's answer without scope", ("token-answer-scope",), change)
    for name in schema_of("TokenInfo", "authorization.yaml")["required"]:
        change = editing(lambda r: at(r, "GET", "/oauth2/token-info"), without(name))
        add(f"token-info without {name}", ("token-info",), change)
    for name in ("user_id", "blog_id"):
        change = editing(lambda r: at(r, "GET", "/oauth2/token-info"), with_member(name, 7))
        add(f"token-info with {name} as a number", ("token-info-ids-strings",), change)


def members() -> None:
    """Makes those of members: dropped, emptied, of another type, leaked."""
    _profiles()
    _nested()
    _avatars()
    _tokens()


members()

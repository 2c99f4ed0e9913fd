"""Reads API keys, Basic credentials and bearer tokens as a document's security schemes place them.

Only operations of documents without a handler come here; they may offer alternatives, of which one
must be there with all its parts (OpenAPI 3.0.3, Security Requirement Object).
"""

import base64
import binascii
from functools import lru_cache
from typing import Final

from understudy.errors import Headers, Unauthorized
from understudy.mock.server.access import Access, Credential
from understudy.mock.server.api import Api
from understudy.mock.server.call import Principal
from understudy.mock.server.parameters import parse_query
from understudy.mock.server.request_context import RequestContext

REALM: Final = 'realm="understudy"'
NOT_AUTHORIZED = "You are not authorized to perform this action"


def authenticate_alternatives(
    context: RequestContext, api: Api, access: Access
) -> Principal | None:
    """Returns the principal of the first alternative whose credentials are all valid.

    Returns:
        None where none has to be sent, and none is.

    Raises:
        Unauthorized: No alternative is valid. Where none has to be sent, a credential that is sent
            all the same and is not valid is refused, unless it is ignored by choice.
    """
    for alternative in access.alternatives:
        principals = [_principal(context, api, credential) for credential in alternative]
        if None not in principals:
            return principals[0]
    credentials = {it for alternative in access.alternatives for it in alternative}
    sent = [it for it in credentials if _text(context, it) is not None]
    if access.is_optional and (not sent or api.policies.ignores_invalid_token(context.choices)):
        return None
    wanted = " or ".join(
        " and ".join(credential.described for credential in alternative)
        for alternative in access.alternatives
    )
    msg = f"{NOT_AUTHORIZED}: send {wanted} ({api.credential_hint})."
    raise Unauthorized(msg, headers=_challenges(access.alternatives))


def bearer_token(authorization: bytes) -> str | None:
    """Returns the token after ``Bearer``, which is written in any case (RFC 9110, 11.1)."""
    return _after_scheme("bearer", authorization)


def _principal(context: RequestContext, api: Api, credential: Credential) -> Principal | None:
    text = _text(context, credential)
    if text is None:
        return None
    if credential.scheme == "basic":
        name, is_pair, password = _decoded(text).partition(":")
        return api.authenticate_account(context.world, name, password) if is_pair else None
    look_up = api.authenticate if credential.scheme == "bearer" else api.authenticate_key
    return look_up(context.world, text, context.started)


def _text(context: RequestContext, credential: Credential) -> str | None:
    """Returns what a request sends as a credential, or None; an API key may be empty."""
    if credential.scheme:
        return _after_scheme(credential.scheme, context.headers.get(b"authorization", b""))
    if credential.location == "query":
        values = parse_query(context.query).get(credential.name) if context.query else None
        return values[0] if values else None
    if credential.location == "cookie":
        pairs = context.headers.get(b"cookie", b"").decode("latin-1").split(";")
        cookies = dict(pair.strip().partition("=")[::2] for pair in pairs)
        return cookies.get(credential.name)
    value = context.headers.get(credential.name.lower().encode("latin-1", "replace"))
    return None if value is None else value.decode("latin-1")


@lru_cache(maxsize=64)  # clients send a few credentials, over and over
def _after_scheme(scheme: str, authorization: bytes) -> str | None:
    sent, _, text = authorization.partition(b" ")
    if sent.lower() != scheme.encode() or not text.strip():
        return None
    return text.strip().decode("latin-1")


def _decoded(text: str) -> str:
    """Returns ``name:password`` (RFC 7617, 2), or an empty text."""
    try:
        return base64.b64decode(text, validate=True).decode(errors="replace")
    except binascii.Error:
        return ""


def _challenges(alternatives: tuple[tuple[Credential, ...], ...]) -> Headers:
    """Returns a challenge for each credential (RFC 9110, 11.6.1); keys have no scheme of the registry."""
    credentials = dict.fromkeys(it for alternative in alternatives for it in alternative)
    return tuple(("www-authenticate", challenge(credential)) for credential in credentials)


def challenge(credential: Credential) -> str:
    """Returns what asks for a credential."""
    if credential.scheme:
        return f"{credential.scheme.capitalize()} {REALM}"
    name = credential.name.replace("\\", "").replace('"', "")
    return f'ApiKey {REALM}, in="{credential.location}", name="{name}"'

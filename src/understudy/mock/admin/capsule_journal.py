"""Writes the journal of a world into a capsule, and reads it back."""

from collections.abc import Mapping, Sequence

from understudy.mock.admin.capsule_files import (
    CapsuleExchange,
    CapsulePrincipal,
    CapsuleText,
    Fields,
)
from understudy.mock.admin.capsule_secrets import SecretReferences, SecretResolver
from understudy.mock.admin.journal_entries import operation_id
from understudy.mock.server.call import Principal
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.request_context import HeaderFields, Peer, RequestContext, RequestHead
from understudy.mock.server.worlds import World


def recorded(context: RequestContext, references: SecretReferences) -> CapsuleExchange:
    """Returns an exchange as a capsule has it, with references in place of secrets."""
    hidden = references.hidden
    principal = context.principal
    return CapsuleExchange(
        started=context.started,
        seconds=round(context.seconds, 6),
        client=context.client,
        site_url=context.site_url,
        method=context.method,
        path=hidden(context.path),
        query=hidden(context.query.decode("latin-1")),
        fields=_hidden_fields(context.sent_headers, references),
        body=_hidden_text(context.body, references),
        operation=operation_id(context),
        principal=None
        if principal is None
        else CapsulePrincipal(
            principal.person, principal.kind, sorted(principal.scopes), hidden(principal.token)
        ),
        fault=context.fault,
        notes=[hidden(note) for note in context.notes],
        status=context.status,
        response_fields=_hidden_fields(context.response_headers, references),
        response_body=_hidden_text(context.response_body, references),
    )


def restored(
    exchanges: Sequence[CapsuleExchange],
    world: World,
    endpoints: Mapping[str, Endpoint],
    resolver: SecretResolver,
) -> list[RequestContext]:
    """Returns the exchanges of a capsule as the journal of a world keeps them.

    Raises:
        ValueError: A reference leads nowhere, or a text is not what a request has.
    """
    contexts = []
    for exchange in exchanges:
        context = RequestContext(_head(exchange, resolver), _peer(exchange), world)
        context.site_url = exchange.site_url
        context.started, context.seconds = exchange.started, exchange.seconds
        context.body = _revealed_text(exchange.body, resolver)
        context.endpoint = endpoints.get(exchange.operation or "")
        known = exchange.principal
        if known is not None:
            token = resolver.revealed(known.token)
            context.principal = Principal(known.person, known.kind, frozenset(known.scopes), token)
        context.fault = exchange.fault
        context.notes = [resolver.revealed(note) for note in exchange.notes]
        context.status = exchange.status
        context.response_headers = _revealed_fields(exchange.response_fields, resolver)
        context.response_body = _revealed_text(exchange.response_body, resolver)
        contexts.append(context)
    return contexts


def _head(exchange: CapsuleExchange, resolver: SecretResolver) -> RequestHead:
    path = resolver.revealed(exchange.path)
    query = resolver.revealed(exchange.query).encode("latin-1")
    return RequestHead(exchange.method, path, query, _revealed_fields(exchange.fields, resolver))


def _peer(exchange: CapsuleExchange) -> Peer:
    scheme = exchange.site_url.partition(":")[0]
    return Peer(exchange.client, ("127.0.0.1", None), scheme)


def _hidden_fields(fields: HeaderFields, references: SecretReferences) -> Fields:
    texts = [(name.decode("latin-1"), text.decode("latin-1")) for name, text in fields]
    return [(name, references.hidden_field(name, text)) for name, text in texts]


def _revealed_fields(fields: Fields, resolver: SecretResolver) -> list[tuple[bytes, bytes]]:
    return [
        (name.encode("latin-1"), resolver.revealed_field(text).encode("latin-1"))
        for name, text in fields
    ]


def _hidden_text(content: bytes, references: SecretReferences) -> CapsuleText:
    text = CapsuleText.of(content)
    return CapsuleText(text.encoding, references.hidden(text.text))


def _revealed_text(text: CapsuleText, resolver: SecretResolver) -> bytes:
    return resolver.revealed(text.text).encode(text.encoding)

"""The collections of a world: every kind of record that it holds."""

from typing import Any

from understudy.mock.server.worlds import Collection
from understudy.mock.store.applications import (
    APPLICATIONS,
    CLIENT_ADVICE,
    CODES,
    CONSENTS,
    FAILED_CLIENT_AUTHENTICATIONS,
    FAILED_CODES,
    FAILED_SIGN_INS,
    RATE_LIMITED_CLIENTS,
    SESSIONS,
    SPENT_CODES,
    USED_SCOPES,
)
from understudy.mock.store.items import ANY_ITEMS, DELETED_ITEMS, LAST_NUMBERS
from understudy.mock.store.people import IMAGES, PEOPLE, SLUGS_BY_HASH, SLUGS_BY_IMAGE_ID
from understudy.mock.store.tokens import TOKENS
from understudy.mock.store.vocabulary import VOCABULARY

COLLECTIONS: tuple[Collection[Any], ...] = (
    *(PEOPLE, SLUGS_BY_HASH, SLUGS_BY_IMAGE_ID, IMAGES, TOKENS, VOCABULARY),
    *(APPLICATIONS, CODES, SPENT_CODES, CONSENTS, SESSIONS, USED_SCOPES, CLIENT_ADVICE),
    *(FAILED_CLIENT_AUTHENTICATIONS, FAILED_CODES, FAILED_SIGN_INS, RATE_LIMITED_CLIENTS),
    *(ANY_ITEMS, LAST_NUMBERS, DELETED_ITEMS),
)

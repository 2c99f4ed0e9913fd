"""Names the members, fields, parameters and headers whose values are secret.

The one list of them: logs, journals, reports and recordings mask by it, each in its own way.
"""

from collections.abc import Set as AbstractSet
from typing import Final

SECRET_NAMES: Final = frozenset(
    {
        *(
            "access_token",
            "api_key",
            "application_password",
            "authorization",
            "client_secret",
            "code",
        ),
        *("code_verifier", "csrf_token", "id_token", "password", "refresh_token", "token"),
    }
)
"""Names of JSON members, form fields and query parameters.

``code`` is a secret in the messages of an authorization server, save in the JSON of an error.
"""

SECRET_NAMES_OF_RESOURCES: Final[AbstractSet[str]] = SECRET_NAMES - {"code"}
"""The same of a resource API, where ``code`` is a word: of an error, a language, a country."""

SECRET_HEADERS: Final = frozenset(
    {
        *("authorization", "proxy-authorization", "cookie", "set-cookie"),
        *("x-api-key", "x-auth-token"),
    }
)
"""Names of headers, in lower case."""

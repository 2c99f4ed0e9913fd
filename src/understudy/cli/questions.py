"""The questions of ``verify --init``: one for each key of a target file, in the file's order."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

Kind = Literal["text", "url", "mode", "secret", "list", "number", "flag"]


class Question(NamedTuple):
    """One key of the file.

    Attributes:
        key: The name of the key.
        kind: The kind of answer.
        text: The question.
        about: The comment beside the key in the file.
        example: The value in the comment of a key that was left out.
        usual: The answer that Return gives.
        variable: The end of the name of a secret's environment variable.
        only_with: The fact that the question needs; see ``Answers.facts``.
    """

    key: str
    kind: Kind
    text: str
    about: str
    example: Any = "…"
    usual: Any = ""
    variable: str = ""
    only_with: str = ""


class Section(NamedTuple):
    """A table of the file; the first has no name."""

    table: str
    title: str
    questions: tuple[Question, ...]
    only_with: str = ""


SECTIONS: Final = (
    Section(
        "",
        "The deployment",
        (
            Question(
                "base_url",
                "url",
                "Address of the resource API",
                "of the resource API",
                usual="http://127.0.0.1:8080/v3",
            ),
            Question(
                "auth_url",
                "url",
                "Address of the authorization server",
                "left out: its rules are not checked",
                "https://accounts.staging.example",
            ),
            Question(
                "document",
                "text",
                "OpenAPI document to judge by: a file, or published for the one at /openapi",
                'left out: the bundled one; "published": the one at /openapi',
                "published",
            ),
            Question(
                "mode",
                "mode",
                "May it write? observe: no; own: to one account, and undo it; full: to two",
                "observe | own | full",
                "observe",
            ),
        ),
    ),
    Section(
        "credentials",
        "Bearer tokens of accounts for tests",
        (
            Question(
                "access_token",
                "secret",
                "Token of the test account, with every scope",
                "of the test account, with every scope",
                variable="TOKEN",
            ),
            Question(
                "read_only_token",
                "secret",
                "Token of the same account, which may only read",
                "of the same account, read only",
                variable="READ_TOKEN",
            ),
            Question(
                "other_access_token",
                "secret",
                "Token of another account, with every scope",
                "of another account",
                variable="OTHER_TOKEN",
            ),
            Question(
                "api_key",
                "secret",
                "API key of any application",
                "of any application",
                variable="API_KEY",
            ),
        ),
    ),
    Section(
        "application",
        "An application, and the owner who signs in",
        (
            Question("client_id", "text", "Client id", "as the dashboard shows it"),
            Question(
                "client_secret", "secret", "Client secret", "its secret", variable="CLIENT_SECRET"
            ),
            Question(
                "redirect_uri",
                "url",
                "One of its redirect URIs",
                "as registered",
                "https://app.example/callback",
            ),
            Question("username", "text", "User name of its owner", "signs in, and grants"),
            Question(
                "password", "secret", "The owner's password", "the owner's", variable="PASSWORD"
            ),
        ),
        only_with="authorization",
    ),
    Section(
        "known",
        "People that the deployment is known to have",
        (
            Question("slug", "text", "Slug of the test account's profile", "of the test account"),
            Question(
                "emails",
                "list",
                "Its e-mail addresses, the primary one first, separated by commas",
                "the primary one first; or hashes = […]",
                ("primary@example.com", "second@example.com"),
            ),
            Question("other_slug", "text", "Slug of the other account's profile", "of the other"),
        ),
    ),
    Section(
        "permit",
        "What verify may do beyond reading and editing",
        (
            Question(
                "uploads",
                "flag",
                "Upload avatars, and remove them again?",
                "avatars, which are removed again",
                only_with="writes",
                usual=False,
            ),
            Question(
                "tokens",
                "flag",
                "Have tokens issued to the application?",
                "have tokens issued",
                only_with="application",
                usual=False,
            ),
            Question(
                "max_tokens",
                "number",
                "The most tokens that a run may have issued",
                "the most that a run has issued",
                only_with="tokens",
                usual=100,
            ),
            Question(
                "exhaust_rate_limit",
                "flag",
                "Use up the hour's requests? Others at this address then wait for an hour",
                "use up an hour's requests",
                usual=False,
            ),
            Question(
                "clock",
                "flag",
                "Is it a mock of understudy, whose clock may be moved (and is restored)?",
                "move a mock's clock, and restore it",
                only_with="here",
                usual=False,
            ),
        ),
    ),
    Section(
        "budget",
        "Requests to profile endpoints that an hour allows",
        (
            Question("anonymous", "number", "Without a token", "without a token", usual=100),
            Question("token", "number", "With a token", "with a token", usual=1000),
        ),
    ),
)
"""The tables, in the order of the file."""


class UnaskedKey(NamedTuple):
    """A key of the file that no question asks for; it is written as a comment.

    Attributes:
        key: Its name.
        about: The comment beside it.
        example: An example of its value.
    """

    key: str
    about: str
    example: Any = "…"


_APPLICATION: Final = (
    UnaskedKey("client_id", "as the dashboard shows it"),
    UnaskedKey("client_secret", "its secret", "env:OTHER_CLIENT_SECRET"),
    UnaskedKey("redirect_uri", "as registered", "https://other.example/callback"),
    UnaskedKey("name", "as the consent page shows it"),
    UnaskedKey("username", "user name of its owner"),
    UnaskedKey("password", "the owner's", "env:OTHER_PASSWORD"),
    UnaskedKey(
        "application_password", "the owner's, for two-step sign-in", "env:OTHER_APP_PASSWORD"
    ),
    UnaskedKey("approve", "query parameter that approves, at a test deployment", "approve=mia"),
    UnaskedKey("deny", "query parameter that denies", "deny=1"),
)

UNASKED: Final[Mapping[str, tuple[UnaskedKey, ...]]] = {
    "": (
        UnaskedKey(
            "is_mock",
            "true: assumed and inferred rules give findings too, as for the mock",
            example=False,
        ),
        UnaskedKey("accept", "rules whose breach is a note here", ()),
        UnaskedKey("accept_as_stated", "inferred rules whose breach is a finding here", ()),
        UnaskedKey("facts", "what `understudy learn` wrote of the deployment", "facts.yaml"),
        UnaskedKey("state_model", "corrects what is inferred of another service", "model.yaml"),
        UnaskedKey("overlays", "Overlay files that change the document", ("overlay.yaml",)),
        UnaskedKey("vocabulary", "words for scopes, QR types, headers, upload field", "words.yaml"),
        UnaskedKey("ledger", "counts the hour's requests across runs", "target.ledger"),
    ),
    "credentials": (
        UnaskedKey("auth_only_token", "with the scope auth alone", "env:AUTH_ONLY_TOKEN"),
        UnaskedKey("no_auth_token", "with every scope but auth", "env:NO_AUTH_TOKEN"),
        UnaskedKey("expired_token", "was valid and has expired", "env:EXPIRED_TOKEN"),
        UnaskedKey("private_access_token", "of the private profile", "env:PRIVATE_TOKEN"),
        UnaskedKey("disabled_access_token", "of a disabled profile", "env:DISABLED_TOKEN"),
        UnaskedKey("admin_token", "of a mock on another machine", "env:UNDERSTUDY_ADMIN_TOKEN"),
    ),
    "application": _APPLICATION[3:4] + _APPLICATION[6:],
    "known": (
        UnaskedKey("hashes", "SHA-256 hashes in place of emails", ("0" * 64,)),
        UnaskedKey("other_emails", "of the other account", ("other@example.com",)),
        UnaskedKey("other_hashes", "SHA-256 hashes in place of other_emails", ("0" * 64,)),
        UnaskedKey("people", "further public profiles", ("nora", "greta")),
        UnaskedKey("private_slug", "of a private profile"),
        UnaskedKey("disabled_slug", "of a disabled profile"),
        UnaskedKey("hidden_contact_slug", "of one whose contact details are not public"),
    ),
    "other_application": _APPLICATION,
    "two_step": _APPLICATION,
}
"""Keys without a question, by table; those of applications are alike."""

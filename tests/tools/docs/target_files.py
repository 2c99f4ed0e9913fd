"""The page on target files, from the records that read them."""

from typing import Any

import msgspec
from tests.tools.docs.docstrings import entries, summary
from tests.tools.docs.markdown import page, prose
from tests.tools.docs.structs import keys

from understudy.verify.target import Target

_EXAMPLES = """\
## A complete file

Each key but `base_url` may be left out.

```toml
# staging.toml
base_url = "https://staging.example/v3"
auth_url = "https://accounts.staging.example"  # left out: authorization rules are not checked
# document = "published.json"                  # left out: bundled; "published": what GET /openapi returns
mode = "own"                                   # observe | own | full

[credentials]                                  # each a value or env:NAME
access_token = "env:STAGING_TOKEN"             # of the test account, every scope
read_only_token = "env:STAGING_READ_TOKEN"
other_access_token = "env:STAGING_OTHER_TOKEN" # of another account
api_key = "env:STAGING_API_KEY"

[application]
client_id = "server-app"
client_secret = "env:STAGING_SECRET"
redirect_uri = "http://127.0.0.1:5000/callback"
username = "ada"                               # signs in, and uses the password grant
password = "env:STAGING_PASSWORD"

[known]
slug = "ada"
emails = ["ada@example.com"]                   # or hashes = […]
other_slug = "ben"                             # also other_emails, private_slug, disabled_slug

[permit]
uploads = true
fill_account = false                           # true: learn may fill up an account that has avatars
long_texts = false                             # true: texts of over 100 characters are replaced, too
tokens = true
max_tokens = 100                               # the most that a run has issued
exhaust_rate_limit = false
clock = false                                  # true: a mock's clock may be moved, and is put back

[budget]                                       # requests to profile endpoints an hour
anonymous = 100
token = 1000
```

## Another service

```toml
# jetties.toml
base_url = "https://jetties.example/v1"
document = "jetties.yaml"
mode = "own"
# state_model = "model.yaml"                   # corrects what is inferred
accept_as_stated = ["inferred-delete-once"]    # its breach is a finding and no note
read_only_scopes = ["jetties:read"]            # those of read_only_token: what needs others must refuse it

[credentials]
access_token = "env:JETTIES_TOKEN"
other_access_token = "env:JETTIES_OTHER_TOKEN" # of another account, which must not see this one's items
read_only_token = "env:JETTIES_READ_TOKEN"
```

A credential is sent where the document expects it: as a bearer token, as an API key in a header, the query or a cookie
(`api_key` means the same there), or with HTTP Basic, for which `access_token` has the form `"name:password"`.

Instead of a token, the file can describe a login that returns one: a request with `json` or `form`, and with `basic` if the
client authenticates with HTTP Basic. `[other_login]` is for the other account, `[reader_login]` for the read-only token:

```toml
# jetties-login.toml
base_url = "https://jetties.example/v1"
[login]
path = "/users/login"
json = { username = "mia", password = "env:MIA_PASSWORD" }
token = "data/token"                           # its place in the response
```"""


def page_of_target_files() -> str:
    """Returns the page: the keys of the file, then those of each table."""
    parts = [
        "A target file tells `understudy verify` and `understudy generate` which deployment to judge, with"
        " which credentials, and what is permitted. It is TOML; `understudy verify --init --target"
        " staging.toml` asks for the values and writes one. Instead of any text, `env:NAME` reads the"
        " environment variable `NAME`, so that the file contains no secrets. `understudy verify --schema`"
        " prints the JSON Schema of target files, with which editors complete and check them; a file names"
        " it in its first line, `#:schema ./target.schema.json`. `--init` writes both.",
        prose(summary(Target)),
        keys(Target, is_shown=lambda field: not _is_table(field)),
    ]
    told = entries(Target, "Attributes")
    for record, names in _tables().items():
        parts += [f"## {', '.join(f'[{name}]' for name in names)}", prose(summary(record))]
        parts += [f"`[{name}]`: {prose(told[name])}" for name in names if name in told]
        parts.append(keys(record))
    return page("Target files", *parts, _EXAMPLES)


def _tables() -> dict[Any, list[str]]:
    """Returns each record that a table of the file is read into, with the tables' names."""
    tables: dict[Any, list[str]] = {}
    for field in filter(_is_table, msgspec.structs.fields(Target)):
        tables.setdefault(field.type, []).append(field.name)
    return tables


def _is_table(field: msgspec.structs.FieldInfo) -> bool:
    return isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)

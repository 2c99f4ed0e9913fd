"""Requests of ordinary clients: every operation of the mock, and of another service's document."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from tests.proofs.attack.known_values import IMAGE
from tests.tools.benchmarks.workloads import UPLOAD, workloads

PETSTORE = Path(__file__).parents[2] / "mock" / "petstore.yaml"
OWNERS = Path(__file__).with_name("owners.overlay.yaml")

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
_MERGE = "application/merge-patch+json"
_PARTS = "multipart/form-data; boundary=x"
_ADA = hashlib.sha256(b"ada@example.com").hexdigest()
_CLIENT = "client_id=server-app&client_secret=server-app-secret"
_BACK = "http://127.0.0.1:5000/callback"
_CODE = f"/oauth2/authorize?client_id=server-app&response_type=code&redirect_uri={_BACK}"
_DECISIONS = (
    *("", "&scope%5B0%5D=auth&mock_approve=ada", "&scope%5B0%5D=auth&mock_approve=nobody"),
    *("&scope%5B0%5D=auth&mock_deny=ada", "&response_type=token"),
)
_OWNER = b'{"name": "Ada", "city": "Rome"}'
_UPLOAD = next(work for work in workloads() if work.name == UPLOAD)


class Ordinary(NamedTuple):
    """A request without the headers that any request may have."""

    method: str
    target: str
    media_type: str = ""
    body: bytes = b""


SERVICE = (
    *(Ordinary("GET", f"/v3/profiles/{who}") for who in ("ada", "ADA", _ADA, "nobody", "%C3%A9")),
    *(
        Ordinary("GET", f"/v3/profiles/{who}")
        for who in ("hush", "gone", "a/b", "ada/", "..%2Fada")
    ),
    Ordinary("GET", "/profiles/ada?x=1&size=2"),
    # beyond a limit, at operations with and without a quota that other requests may have used up
    *(Ordinary("GET", f"/v3/{path}?{'&' * 1500}") for path in ("profiles/ada", "qr-code/ada")),
    Ordinary("POST", "/oauth2/token", FORM, b"&" * 1500),
    Ordinary("GET", "/v3/me/profile"),
    Ordinary("PATCH", "/v3/me/profile", JSON, b'{"location": "Port Lindry"}'),
    Ordinary("PATCH", "/v3/me/profile", JSON, b'{"locatio": "Port Lindry"}'),
    Ordinary("PATCH", "/v3/me/profile", JSON, b'{"location": 7}'),
    Ordinary("PATCH", "/v3/me/profile", JSON, b'{"location": "a", "location": "b"}'),
    Ordinary("PATCH", "/v3/me/profile", JSON, b"{"),
    Ordinary("PATCH", "/v3/me/profile", _MERGE, b'{"location": "Port Lindry"}'),
    Ordinary("PATCH", "/v3/me/profile", "text/plain", b"location"),
    Ordinary("PATCH", "/v3/me/profile"),
    Ordinary("GET", f"/v3/me/associated-email?email_hash={_ADA}"),
    Ordinary("GET", "/v3/me/associated-email"),
    Ordinary("GET", "/v3/me/avatars"),
    Ordinary("GET", f"/v3/me/avatars?selected_email_hash={_ADA}"),
    Ordinary("POST", f"/v3{_UPLOAD.path}", _UPLOAD.headers["Content-Type"], _UPLOAD.body),
    Ordinary("POST", "/v3/me/avatars", _PARTS, b"--x--\r\n"),
    Ordinary("PATCH", f"/v3/me/avatars/{IMAGE}", JSON, b'{"alt_text": "Ada", "rating": "PG"}'),
    Ordinary("PATCH", f"/v3/me/avatars/{IMAGE}", JSON, b'{"rating": "ZZ"}'),
    Ordinary(
        "POST", f"/v3/me/avatars/{IMAGE}/email", JSON, b'{"email_hash": "%s"}' % _ADA.encode()
    ),
    Ordinary("DELETE", f"/v3/me/avatars/{IMAGE}"),
    Ordinary("DELETE", "/v3/me/avatars/00000000000000000000000000000000"),
    Ordinary("GET", "/v3/qr-code/ada?size=80"),
    Ordinary("GET", "/v3/qr-code/ada?size=eighty"),
    Ordinary("GET", "/v3/qr-code/nobody?version=3&type=none"),
    Ordinary("GET", "/v3/openapi"),
    Ordinary("GET", f"/avatar/{_ADA}?s=40"),
    Ordinary("GET", f"/avatar/{_ADA}.png?d=404"),
    Ordinary("GET", f"/image/{IMAGE}"),
    Ordinary("GET", "/icons/blog"),
    Ordinary("GET", "/v3/profiles"),
    Ordinary("PUT", "/v3/profiles/ada"),
    Ordinary("HEAD", "/v3/profiles/ada"),
    Ordinary("OPTIONS", "/v3/profiles/ada"),
    Ordinary("POST", "/oauth2/token", FORM, f"grant_type=password&{_CLIENT}".encode()),
    Ordinary(
        *("POST", "/oauth2/token", FORM),
        f"grant_type=password&username=ada&password=ada-password&{_CLIENT}".encode(),
    ),
    Ordinary(
        *("POST", "/oauth2/token", FORM),
        f"grant_type=password&username=ada&password=wrong&{_CLIENT}".encode(),
    ),
    Ordinary("GET", "/oauth2/token-info?client_id=server-app&token=ada-full"),
    Ordinary("GET", "/oauth2/authorize?client_id=server-app&response_type=code"),
    *(Ordinary("GET", f"{_CODE}{rest}") for rest in _DECISIONS),
    Ordinary("GET", f"{_CODE}&scope%5B0%5D=auth&mock_approve=ada"),
    Ordinary("GET", "/oauth2/userinfo"),
    Ordinary("POST", "/oauth2/userinfo"),
    Ordinary("GET", "/__world/nothing/v3/profiles/ada"),
    Ordinary("GET", "/__world/w1/v3/profiles/ada"),
    Ordinary("PATCH", "/__world/w1/v3/me/profile", JSON, b'{"location": "Elsewhere"}'),
    Ordinary("GET", "/"),
)
"""Of the resource API, the authorization server and the pages; ``/oauth2`` chooses the second."""

STEERING = (
    Ordinary("GET", "/__admin/health"),
    Ordinary("POST", "/__admin/worlds", JSON, b'{"name": "w1"}'),
    Ordinary("DELETE", "/__admin/worlds/w1"),
    Ordinary("POST", "/__admin/faults", JSON, b'{"status": 503, "times": 2}'),
    Ordinary("POST", "/__admin/faults", JSON, b'{"effect": "truncate", "times": 2}'),
    Ordinary("POST", "/__admin/faults", JSON, b'{"effect": "reset", "times": 1}'),
    Ordinary("POST", "/__admin/faults", JSON, b'{"effect": "malformed-json", "share": 0.5}'),
    Ordinary("POST", "/__admin/faults", JSON, b'{"operation": "getProfile", "status": 404}'),
    Ordinary("DELETE", "/__admin/faults"),
    Ordinary("DELETE", "/__admin/faults"),
    Ordinary("POST", "/__admin/clock/advance", JSON, b'{"seconds": 900}'),
    Ordinary("PUT", "/__admin/limits/anonymous", JSON, b'{"used": 99}'),
    Ordinary("DELETE", "/__admin/limits/anonymous"),
    Ordinary("GET", "/__admin/limits"),
    Ordinary("POST", "/__admin/requests/count", JSON, b"{}"),
    Ordinary("POST", "/__admin/tokens", JSON, b'{"person": "ben"}'),
    Ordinary("DELETE", "/__admin/tokens?token=ben-full"),
    Ordinary("POST", "/__admin/reset"),
)
"""Of the admin API: what changes how later requests are answered, and nothing that tells of seconds."""

PETS = (
    Ordinary("GET", "/pets?tag=cat"),
    Ordinary("GET", "/pets?tag=cat&limit=7"),
    Ordinary("GET", "/pets?tag=cow"),
    Ordinary("GET", "/pets"),
    Ordinary("POST", "/pets", JSON, b'{"name": "Rex", "kind": "dog"}'),
    Ordinary("POST", "/pets", JSON, b'{"name": "R", "kind": "dog"}'),
    Ordinary("POST", "/pets", JSON, b"[]"),
    Ordinary("POST", "/pets", "text/plain", b"Rex"),
    *(Ordinary("GET", f"/pets/{number}") for number in ("1", "2", "-1", "x", "9" * 30)),
    Ordinary("DELETE", "/pets/1"),
    Ordinary(
        *("PUT", "/pets/1/photo", _PARTS),
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc\r\n--x--\r\n',
    ),
    Ordinary("GET", "/search?api_key=k"),
    Ordinary("GET", "/search"),
    Ordinary("PATCH", "/pets"),
    Ordinary("GET", "/"),
    Ordinary("GET", "/openapi.json"),
    *(Ordinary("GET", f"/owners{query}") for query in ("", "?limit=2", "?limit=2&offset=2")),
    *(Ordinary("GET", f"/owners?{query}") for query in ("city=Rome", "limit=0")),
    *(Ordinary("POST", "/owners", JSON, _OWNER) for _ in range(2)),
    Ordinary("POST", "/owners", JSON, b'{"name": "A"}'),
    *(Ordinary("GET", f"/owners/{number}") for number in range(1, 6)),
    *(Ordinary("PUT", f"/owners/{number}", JSON, _OWNER) for number in (2, 4)),
    *(Ordinary("PATCH", f"/owners/{number}", _MERGE, b'{"city": null}') for number in (3, 4)),
    *(Ordinary("DELETE", f"/owners/{number}") for number in (1, 4)),
)
"""Of ``petstore.yaml`` and its overlay, which the mock responds to by inferred state, examples and
samples."""

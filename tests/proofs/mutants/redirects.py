"""What a redirect tells, and another telling: tools for mutants of the authorization server."""

from urllib.parse import parse_qs, quote, urlencode, urlsplit

import httpx
from tests.proofs.mutants.edge import AUTHORIZE, answer, at

CALLBACK = "http://127.0.0.1:5000/callback"
PAGE = "<html><form method=post></form></html>"


def told(response):
    parts = urlsplit(response.headers.get("location", ""))
    return {n: t[0] for n, t in parse_qs(parts.fragment or parts.query).items()}


def relocated(response, name, edit):
    """Returns a redirect that tells ``name`` to another address; every other answer as it is."""
    if name not in told(response):
        return response
    return answer(response, headers={"location": edit(response.headers["location"])})


def retold(response, name, edit):
    """Returns a redirect that tells ``name`` and something else; every other answer as it is."""
    if name not in told(response):
        return response
    location = response.headers["location"]
    mark = "#" if "#" in location else "?"
    members = {n: t for n, t in edit(told(response)).items() if t is not None}
    root = location.partition("#")[0].partition("?")[0]
    return answer(
        response, headers={"location": f"{root}{mark}{urlencode(members, quote_via=quote)}"}
    )


def is_ask(request):
    return at(request, "GET", AUTHORIZE)


def refused(error, status=400):
    return httpx.Response(status, json={"error": error, "error_description": "no"})

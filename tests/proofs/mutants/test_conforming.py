"""Nothing is found at a deployment that conforms, and chose otherwise where the interface is silent."""

import json
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from itertools import count

import httpx
import pytest
from PIL import Image, UnidentifiedImageError
from tests.proofs.mutants.edge import (
    AUTHORIZATION,
    LIST,
    OWN,
    SITE,
    TOKEN,
    Mutant,
    answer,
    at,
    path_of,
    said,
    who,
)
from tests.proofs.mutants.verifying import MOCK, verified

from understudy.exchange.messages import Request
from understudy.verify.rules.equivalent_requests import normal_form

SIGNATURES = count()
LIMITS = ("rate-limit-authenticated", "rate-limit-answer-429")


def a_limit_was_arranged(request, send):
    response = send(request)
    limited = "x-ratelimit-limit" in response.headers and who(request)
    return answer(response, headers={"x-ratelimit-limit": "5000"}) if limited else response


def the_token_type_has_a_capital(request, send):
    response = send(request)
    body = said(response)
    if path_of(request) == TOKEN and response.status_code == 200:
        return answer(response, body={**body, "token_type": "Bearer"})
    return response


def chunks_need_a_length(request, send):
    if "transfer-encoding" in request.headers:
        return httpx.Response(411, json={"error": "Send the length of the content."})
    return send(request)


def equal_contents_have_equal_tags(request, send):
    response = send(request)
    if request.method != "GET" or response.status_code != 200:
        return response
    tag = f'W/"{sha256(response.read()).hexdigest()[:16]}"'
    if tag in request.headers.get("if-none-match", ""):
        return httpx.Response(304, headers={"etag": tag})
    return answer(response, headers={"etag": tag})


def pictures_have_400_pixels_at_least(request, send):
    if not at(request, "POST", LIST):
        return send(request)
    content = request.read().partition(b"\r\n\r\n")[2]
    with suppress(UnidentifiedImageError), Image.open(BytesIO(content)) as picture:
        if picture.width < 400:
            return httpx.Response(400, json={"error": "The picture is too small."})
    return send(request)


def parts_are_sent_that_were_requested(request, send):
    response = send(request)
    if "range" not in request.headers or response.status_code != 200:
        return response
    size = len(response.read())
    part = {"content-range": f"bytes 0-39/{size}"}  # a deployment may send less than was requested
    return answer(response, status=206, body=response.read()[:40], headers=part)


def head_is_no_method(request, send):
    if request.method == "HEAD":
        return httpx.Response(405, headers={"allow": "GET"})
    return send(request)


def the_own_profile_is_not_limited(request, send):
    response = send(request)
    if path_of(request) != OWN or response.status_code != 429:
        return response
    MOCK.world.choices = {"rate-limits": "off"}
    try:
        return send(request)
    finally:
        MOCK.world.choices = {}


def _extended(value):
    """Returns JSON with its members in another order, more of them, and pictures' addresses signed."""
    if isinstance(value, list):
        return [_extended(each) for each in value]
    if not isinstance(value, dict):
        return value
    members = {name: _extended(each) for name, each in reversed(value.items())}
    for name in {"avatar_url", "image_url"} & {name for name, each in members.items() if each}:
        members[name] += f"?signed={next(SIGNATURES)}"
    return {"trace": [None, {"id": 1}], **members, "links_": {"next": None}}


def _is_api(request):
    return str(request.url).startswith((SITE, AUTHORIZATION)) and path_of(request) != "/openapi"


def everything_is_said_in_another_order_and_more_beside_it(request, send):
    is_head = request.method == "HEAD"
    response = send(
        httpx.Request("GET", request.url, headers=request.headers) if is_head else request
    )
    if _is_api(request) and said(response) is not None:
        text = json.dumps(_extended(said(response)), indent=1)  # and characters as escapes
        response = answer(response, body=text.encode())
    if not is_head:
        return response
    told = {**response.headers, "content-length": str(len(response.read()))}
    return httpx.Response(response.status_code, headers=told)


def test_what_a_deployment_says_beside_what_it_must_is_no_finding_in_a_whole_run():
    change = everything_is_said_in_another_order_and_more_beside_it
    outcome = verified(Mutant("talkative", (), lambda: change), is_hour=True, is_mock=False)
    assert [finding.summary for finding in outcome.findings] == []
    assert outcome.requests > 600


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (a_limit_was_arranged, ("rate-limit-authenticated",)),
        (the_token_type_has_a_capital, ("token-answer",)),
        (chunks_need_a_length, ("equivalent-content", "avatar-upload-multipart", "document")),
        (equal_contents_have_equal_tags, ("conditional-reads", "qr-png", "document")),
        (pictures_have_400_pixels_at_least, ("avatar-upload-multipart", "avatar-email-assign")),
        (parts_are_sent_that_were_requested, ("avatar-urls-resolve",)),
        (head_is_no_method, ("head-like-get",)),
    ],
)
def test_what_the_interface_or_a_standard_leaves_open_is_no_finding(change, rules):
    outcome = verified(Mutant(change.__name__, rules, lambda: change), rules, is_mock=False)
    assert [finding.summary for finding in outcome.findings] == []


def test_an_own_profile_that_is_not_limited_is_no_finding_and_stays_as_it_was():
    deployment = Mutant("unlimited", LIMITS, lambda: the_own_profile_is_not_limited)
    outcome = verified(deployment, LIMITS, is_mock=False)
    assert [finding.summary for finding in outcome.findings] == []
    assert outcome.not_restored == ()
    sent = [each.request.body for each in outcome.exchanges]
    assert not any(b"over the limit" in body for body in sent)


def limits_are_not_told(request, send):
    response = send(request)
    told = {name: None for name in response.headers if name.startswith("x-ratelimit")}
    told |= {"retry-after": None}
    body = {"error": ["too many"]} if response.status_code == 429 else None
    return answer(response, body=body, headers=told)


def test_a_limit_that_no_header_tells_of_is_used_up_and_its_refusal_is_judged():
    rules = ("rate-limit-answer-429",)
    deployment = Mutant("untold", rules, lambda: limits_are_not_told)
    outcome = verified(deployment, rules, is_mock=False)
    refused = {each.identity.kind for each in outcome.exchanges if each.status == 429}
    assert refused == {"none", "oauth"}
    assert {each.expected for each in outcome.findings} == {"429 with an Error"}


def test_other_seeds_send_reads_in_other_dresses():
    first, second = (
        {
            (each.path, each.request.header("accept-encoding"), each.request.header("accept"))
            for each in verified(None, ("equivalent-headers",), seed=seed).exchanges
        }
        for seed in (0, 1)
    )
    assert first != second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Request("GET", "http://a/v3/x?a=1&b=2"), Request("HEAD", "http://a/v3/%78?b=2&a=1")),
        (
            Request("PATCH", "http://a/x", (("content-type", "application/json"),), b"{}"),
            Request(
                "PATCH",
                "http://a/x",
                (
                    ("content-type", "application/json; charset=UTF-8"),
                    ("transfer-encoding", "chunked"),
                ),
                b"{}",
            ),
        ),
        (
            Request("POST", "http://a/x", (("content-type", "multipart/form-data; boundary=b"),)),
            Request("POST", "http://a/x", (("content-type", 'multipart/form-data; boundary="b"'),)),
        ),
    ],
)
def test_one_meaning_has_one_normal_form(one, other):
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    "other",
    [
        Request("GET", "http://a/v3/%2Fx"),
        Request("GET", "http://a/v3/x?a=1"),
        Request("GET", "http://a/v3/x", (("if-none-match", '"a"'),)),
        Request("GET", "http://a/v3/x", (("accept", "image/png"),)),
    ],
)
def test_another_meaning_has_another_normal_form(other):
    assert normal_form(Request("GET", "http://a/v3/x")) != normal_form(other)

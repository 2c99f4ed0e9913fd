"""Mutants that read a request in one dress only: what means the same gets another answer."""

import re
from urllib.parse import unquote

import httpx
from tests.proofs.mutants.edge import (
    INFO,
    LIST,
    LOOKUP,
    OWN,
    QR,
    TOKEN,
    answer,
    asking,
    at,
    mutant,
    path_of,
    query_of,
    register,
    who,
)

CONTENT, HEADERS = "equivalent-content", "equivalent-headers"
ADDRESS, HEAD, TAGS = "equivalent-address", "head-like-get", "conditional-reads"


def _refusing(name, rule, is_meant, status=400):
    """Registers a refusal of requests in some dress."""

    def change(request, send):
        if is_meant(request):
            return httpx.Response(status, json={"error": "The request is malformed."})
        return send(request)

    register(name, (rule,), change)


def _content_type(request):
    return request.headers.get("content-type", "")


def _is_chunked(request):
    return "transfer-encoding" in request.headers


def _accept(request):
    return request.headers.get("accept", "*/*")


def _is_encoded(request):
    return "%" in str(request.url).partition("?")[0]


_refusing(
    "json_with_a_charset_is_no_json",
    CONTENT,
    lambda r: _content_type(r).startswith("application/json;"),
    415,
)
_refusing(
    "forms_with_a_charset_are_no_forms",
    CONTENT,
    lambda r: "urlencoded;" in _content_type(r),
)
_refusing("a_quoted_boundary_is_not_found", CONTENT, lambda r: 'boundary="' in _content_type(r))
_refusing("a_space_before_the_charset_is_no_json", CONTENT, lambda r: " ;" in _content_type(r), 415)
_refusing(
    "a_boundary_of_other_than_letters_is_not_found",
    CONTENT,
    lambda r: re.search(r'boundary="?[\w-]*[^\w"-]', _content_type(r)),
)
_refusing(
    "names_of_files_are_in_ascii",
    CONTENT,
    lambda r: at(r, "POST", LIST) and not r.read().partition(b"\r\n\r\n")[0].isascii(),
)
_refusing(
    "white_space_before_json_is_no_json",
    CONTENT,
    lambda r: at(r, "PATCH", OWN) and r.read()[:1].isspace(),
)
_refusing("pictures_are_no_more_than_one_type", HEADERS, lambda r: "image/*" in _accept(r), 406)
_refusing("chunks_are_no_content", CONTENT, _is_chunked)
_refusing(
    "uploads_in_chunks_are_too_large",
    CONTENT,
    lambda r: _is_chunked(r) and at(r, "POST", LIST),
    413,
)
_refusing(
    "tokens_are_not_requested_in_chunks", CONTENT, lambda r: _is_chunked(r) and at(r, "POST", TOKEN)
)
_refusing("chunks_crash_updates", CONTENT, lambda r: _is_chunked(r) and at(r, "PATCH", OWN), 422)
_refusing("lists_of_media_types_are_not_read", HEADERS, lambda r: "," in _accept(r), 406)
_refusing(
    "gzip_is_not_acceptable", HEADERS, lambda r: r.headers.get("accept-encoding") == "gzip", 406
)
_refusing(
    "identity_is_not_acceptable",
    HEADERS,
    lambda r: r.headers.get("accept-encoding") == "identity",
    406,
)
_refusing("no_range_of_media_types_is_known", HEADERS, lambda r: _accept(r) == "application/*", 406)
_refusing("other_languages_are_malformed", HEADERS, lambda r: "accept-language" in r.headers)
_refusing("forms_in_capitals_are_no_forms", CONTENT, lambda r: _content_type(r)[:1] == "M", 415)
_refusing(
    "digits_of_encoded_letters_are_capitals",
    CONTENT,
    lambda r: at(r, "POST", TOKEN) and re.search(rb"%[0-9][a-f]", r.read()),
)
_refusing("encoded_letters_are_unknown", ADDRESS, _is_encoded, 404)
_refusing("encoded_letters_are_malformed", ADDRESS, _is_encoded)
_refusing("head_needs_other_credentials", HEAD, lambda r: r.method == "HEAD" and who(r), 401)
_refusing("head_finds_nobody", HEAD, lambda r: r.method == "HEAD" and LOOKUP in path_of(r), 404)
_refusing("head_of_codes_is_malformed", HEAD, lambda r: r.method == "HEAD" and QR in path_of(r))


def _heads(name, **changes):
    """Registers responses to HEAD that differ from those to GET."""

    def change(request, send):
        response = send(request)
        return answer(response, **changes) if request.method == "HEAD" else response

    register(name, (HEAD,), change)


_heads("head_has_no_content_at_all", status=204)
_heads("head_is_html", headers={"content-type": "text/html"})
_heads("head_has_content", body=b"{}")


@mutant(HEADERS)
def a_browsers_library_is_shown_a_page(request, send):
    response = send(request)
    if "text/plain" in _accept(request) and at(request, "GET", OWN):
        return answer(response, body=b"<p>Ada</p>", headers={"content-type": "text/html"})
    return response


@mutant(HEADERS)
def lists_of_media_types_get_summaries(request, send):
    response = send(request)
    if "," in _accept(request) and response.status_code == 200 and response.read()[:1] == b"{":
        return answer(response, body={"summary": True})
    return response


@mutant(HEADERS)
def compressed_answers_are_empty(request, send):
    response = send(request)
    if request.headers.get("accept-encoding") == "gzip" and request.method == "GET":
        return answer(response, body=b"[]")
    return response


@mutant(ADDRESS)
def only_the_first_parameter_is_read(request, send):
    first = dict(list(query_of(request).items())[:1])
    is_code = at(request, "GET", QR) and len(query_of(request)) == 2
    others = dict.fromkeys(query_of(request).keys() - first.keys())
    return send(asking(request, query=others)) if is_code else send(request)


@mutant(ADDRESS)
def token_info_wants_the_client_first(request, send):
    if at(request, "GET", INFO) and next(iter(query_of(request)), "") == "token":
        return httpx.Response(400, json={"error": "invalid_request"})
    return send(request)


@mutant(ADDRESS)
def encoded_addresses_are_of_nobody(request, send):
    response = send(request)
    if _is_encoded(request) and unquote(path_of(request)).startswith("/me/associated"):
        return answer(response, body={"associated": False})
    return response


@mutant(TAGS)
def every_tag_is_the_clients(request, send):
    if "if-none-match" in request.headers and who(request):
        return httpx.Response(304)
    return send(request)


# What means the same in every part: names of headers, letters of queries, spellings of content.


@mutant(HEADERS, "bearer-header")
def the_names_of_headers_are_compared_with_case(request, send):
    names = {name for name, _ in request.headers.raw}
    if who(request) and not names & {b"authorization", b"Authorization"}:
        kept = {n: t for n, t in request.headers.items() if n != "authorization"}
        return send(httpx.Request(request.method, request.url, headers=kept))
    return send(request)


def _query(request):
    return str(request.url).partition("?")[2]


_refusing(
    "encoded_names_of_parameters_are_unknown",
    ADDRESS,
    lambda r: "%" in re.sub("=[^&]*", "", _query(r)) and "scope" not in _query(r),
)
_refusing(
    "small_letters_of_an_escape_are_malformed",
    ADDRESS,
    lambda r: bool(re.search("%[0-9A-F]?[a-f]", str(r.url).partition("?")[0])),
)
_refusing("only_json_is_not_acceptable", HEADERS, lambda r: _accept(r) == "application/json", 406)
_refusing("weights_are_not_acceptable", HEADERS, lambda r: "q=" in _accept(r), 406)
_refusing(
    "pictures_are_not_acceptable",
    HEADERS,
    lambda r: at(r, "GET", QR) and "image" in _accept(r),
    406,
)
_refusing(
    "media_types_in_capitals_are_not_known",
    CONTENT,
    lambda r: _content_type(r).startswith("APPLICATION"),
    415,
)
_refusing(
    "json_in_lines_is_malformed", CONTENT, lambda r: at(r, "PATCH", OWN) and b"\n" in r.read()
)
_refusing(
    "forms_have_plus_for_spaces", CONTENT, lambda r: at(r, "POST", TOKEN) and b"%20" in r.read()
)
_refusing(
    "head_of_token_info_is_unknown", HEAD, lambda r: r.method == "HEAD" and INFO in path_of(r), 404
)


@mutant(ADDRESS, "associated-email")
def encoded_digits_of_a_hash_are_not_decoded(request, send):
    response = send(request)
    if at(request, "GET", "/me/associated-email") and "%" in _query(request):
        return answer(response, body={"associated": False})
    return response


@mutant(CONTENT, "profile-patch-seven-fields")
def escapes_in_json_are_stored_as_they_are_written(request, send):
    if at(request, "PATCH", OWN) and b"\\u" in request.read():
        return send(asking(request, body=request.read().replace(b"\\u", b"\\\\u")))
    return send(request)


@mutant(TAGS)
def nothing_was_modified_since_any_date(request, send):
    return httpx.Response(304) if "if-modified-since" in request.headers else send(request)


@mutant(ADDRESS, "select-avatar", "avatar-email-assign")
def uploads_are_for_an_address_that_is_named_first(request, send):
    names = list(query_of(request))
    if at(request, "POST", LIST) and names[:1] == ["select_avatar"] and len(names) > 1:
        return send(asking(request, query={"selected_email_hash": None}))
    return send(request)


@mutant(CONTENT)
def names_of_json_are_read_by_their_letters(request, send):
    is_escaped = at(request, "PATCH", OWN) and re.search(rb'"\\u\w+"\s*:', request.read())
    return send(asking(request, body=b"{}") if is_escaped else request)

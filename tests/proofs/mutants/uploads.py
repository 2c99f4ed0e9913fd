"""Mutants of uploads, made by hand."""

import httpx
from tests.proofs.mutants.edge import LIST, answer, asking, at, mutant, query_of, said

from understudy.verify.pictures import picture
from understudy.verify.target import email_hash

ADA = email_hash("ada@example.com")
ADA_SECOND = email_hash("ada.merrowdale@example.org")


def _with_a_good_picture(request):
    headers = {"authorization": request.headers["authorization"]}
    files = {"data": ("a.png", picture())}
    return httpx.Request("POST", str(request.url), headers=headers, files=files)


def _taken_in_spite_of(code, request, send):
    response = send(request)
    body = said(response)
    is_meant = isinstance(body, dict) and body.get("code") == code
    return send(_with_a_good_picture(request)) if is_meant else response


def _selecting(word, request, send):
    is_meant = at(request, "POST", LIST)
    return send(asking(request, query={"select_avatar": word}) if is_meant else request)


@mutant("avatar-upload-multipart")
def uploads_in_json_are_taken(request, send):
    if at(request, "POST", LIST) and "json" in request.headers.get("content-type", ""):
        return send(_with_a_good_picture(request))
    return send(request)


@mutant("avatar-upload-multipart")
def the_field_is_called_file(request, send):
    if at(request, "POST", LIST) and b'name="data"' in request.read():
        return send(asking(request, body=request.read().replace(b'name="data"', b'name="fila"')))
    return send(request)


@mutant("upload-image-types")
def gifs_are_refused(request, send):
    if at(request, "POST", LIST) and b"GIF8" in request.read():
        return httpx.Response(400, json={"error": "no"})
    return send(request)


@mutant("upload-image-types")
def anything_is_a_picture(request, send):
    return _taken_in_spite_of("unsupported_image", request, send)


@mutant("upload-square")
def oblong_pictures_are_cropped(request, send):
    return _taken_in_spite_of("uncropped_image", request, send)


@mutant("select-avatar")
def uploads_are_always_selected(request, send):
    return _selecting("true", request, send)


@mutant("select-avatar")
def uploads_are_never_selected(request, send):
    return _selecting("false", request, send)


@mutant("select-avatar")
def left_out_means_selected(request, send):
    if at(request, "POST", LIST) and "select_avatar" not in query_of(request):
        return send(asking(request, query={"select_avatar": "true"}))
    return send(request)


@mutant("upload-size-limit")
def huge_uploads_are_taken(request, send):
    response = send(request)
    return answer(response, status=400) if response.status_code == 413 else response

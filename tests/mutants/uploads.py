"""Mutants of uploads, made by hand."""

import httpx
from tests.mutants.edge import (
    LIST,
    answer,
    asking,
    at,
    mutant,
    query_of,
    said,
)

from understudy.contract.probes.uploads import picture
from understudy.contract.target import email_hash

ADA = email_hash("ada@example.com")
ADA_SECOND = email_hash("ada.merrowdale@example.org")


@mutant("avatar-upload-multipart")
def uploads_in_json_are_taken(request, send):
    if at(request, "POST", LIST) and "json" in request.headers.get("content-type", ""):
        return send(
            httpx.Request(
                "POST",
                str(request.url),
                headers={"authorization": request.headers["authorization"]},
                files={"data": ("a.png", picture())},
            )
        )
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
    response = send(request)
    if (
        (said(response) or {})
        and isinstance(said(response), dict)
        and said(response).get("code") == "unsupported_image"
    ):
        url = str(request.url)
        return send(
            httpx.Request(
                "POST",
                url,
                headers={"authorization": request.headers["authorization"]},
                files={"data": ("a.png", picture())},
            )
        )
    return response


@mutant("upload-square")
def oblong_pictures_are_cropped(request, send):
    response = send(request)
    if isinstance(said(response), dict) and said(response).get("code") == "uncropped_image":
        url = str(request.url)
        return send(
            httpx.Request(
                "POST",
                url,
                headers={"authorization": request.headers["authorization"]},
                files={"data": ("a.png", picture())},
            )
        )
    return response


@mutant("select-avatar")
def uploads_are_always_selected(request, send):
    return (
        send(asking(request, query={"select_avatar": "true"}))
        if at(request, "POST", LIST)
        else send(request)
    )


@mutant("select-avatar")
def uploads_are_never_selected(request, send):
    return (
        send(asking(request, query={"select_avatar": "false"}))
        if at(request, "POST", LIST)
        else send(request)
    )


@mutant("select-avatar")
def left_out_means_selected(request, send):
    if at(request, "POST", LIST) and "select_avatar" not in query_of(request):
        return send(asking(request, query={"select_avatar": "true"}))
    return send(request)


@mutant("upload-size-limit")
def huge_uploads_are_taken(request, send):
    response = send(request)
    return answer(response, status=400) if response.status_code == 413 else response

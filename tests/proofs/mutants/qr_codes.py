"""Mutants of QR codes, made by hand: four pixels off, somebody else's, all in squares."""

from io import BytesIO

import httpx
from PIL import Image, ImageOps
from tests.proofs.mutants.edge import QR, answer, asking, at, mutant, path_of, query_of, who

from understudy.verify.target import email_hash

ADA = email_hash("ada@example.com")
ADA_SECOND = email_hash("ada.merrowdale@example.org")


def redrawn(response, edit):
    """Returns a QR code whose picture is another."""
    with Image.open(BytesIO(response.read())) as opened:
        image = edit(opened.convert("L"))
    content = BytesIO()
    image.save(content, "PNG")
    return answer(response, body=content.getvalue())


def _drawing(request, send, edit, **wanted):
    response = send(request)
    asked = query_of(request)
    is_meant = all(asked.get(name) == text for name, text in wanted.items())
    is_code = at(request, "GET", QR) and response.status_code == 200
    return redrawn(response, edit) if is_code and is_meant else response


@mutant("qr-size-exact")
def qr_codes_four_pixels_off(request, send):
    asked = "size" in query_of(request)
    off = lambda image: image.resize((image.width + 4, image.height + 4))
    return _drawing(request, send, off) if asked else send(request)


@mutant("qr-size-exact")
def odd_sizes_are_rounded(request, send):
    size = query_of(request).get("size", "")
    is_odd = at(request, "GET", QR) and size.isdecimal() and int(size) % 2
    return send(asking(request, query={"size": str(int(size) + 1)})) if is_odd else send(request)


@mutant("qr-default-size")
def qr_codes_of_100_pixels_by_default(request, send):
    if at(request, "GET", QR) and "size" not in query_of(request):
        return send(asking(request, query={"size": "100"}))
    return send(request)


@mutant("qr-png")
def qr_codes_as_jpeg(request, send):
    response = send(request)
    if not (at(request, "GET", QR) and response.status_code == 200):
        return response
    content = BytesIO()
    with Image.open(BytesIO(response.read())) as image:
        image.convert("L").save(content, "JPEG")
    return answer(response, body=content.getvalue())


@mutant("qr-points-to-profile")
def qr_codes_lead_to_somebody_else(request, send):
    if path_of(request) == "/qr-code/ada":
        return send(asking(request, path="/qr-code/ben"))
    return send(request)


@mutant("qr-points-to-profile")
def qr_codes_of_hashes_lead_to_the_hash(request, send):
    if path_of(request) == f"/qr-code/{ADA}":
        return send(asking(request, path="/qr-code/" + "0" * 64))
    return send(request)


@mutant("qr-points-to-profile")
def qr_codes_that_nobody_can_read(request, send):
    def blank(image):
        return Image.new("L", image.size, 255)

    return _drawing(request, send, blank)


@mutant("qr-versions")
def version_3_in_squares(request, send):
    if query_of(request).get("version") == "3":
        return send(asking(request, query={"version": "1"}))
    return send(request)


@mutant("qr-versions")
def both_versions_in_dots(request, send):
    if query_of(request).get("version") == "1":
        return send(asking(request, query={"version": "3"}))
    return send(request)


@mutant("qr-versions")
def version_3_in_grey(request, send):
    return _drawing(request, send, ImageOps.invert, version="3")


@mutant("qr-version-values")
def version_2_is_version_1(request, send):
    if query_of(request).get("version") == "2":
        return send(asking(request, query={"version": "1"}))
    return send(request)


@mutant("qr-version-values")
def version_3_is_refused(request, send):
    if at(request, "GET", QR) and query_of(request).get("version") == "3":
        return httpx.Response(400, json={"error": "no"})
    return send(request)


@mutant("qr-utm-parameters")
def campaigns_are_dropped(request, send):
    return (
        send(asking(request, query={"utm_campaign": None}))
        if at(request, "GET", QR)
        else send(request)
    )


@mutant("qr-utm-parameters")
def the_medium_is_cut_at_an_ampersand(request, send):
    medium = query_of(request).get("utm_medium")
    if at(request, "GET", QR) and medium:
        return send(asking(request, query={"utm_medium": medium.partition("&")[0]}))
    return send(request)


@mutant("qr-centre-icon")
def icons_are_never_drawn(request, send):
    return (
        send(asking(request, query={"type": None}))
        if query_of(request).get("type") in {"user", "service"}
        else send(request)
    )


@mutant("qr-centre-icon")
def both_icons_are_the_logo(request, send):
    if query_of(request).get("type") == "user":
        return send(asking(request, query={"type": "service"}))
    return send(request)


@mutant("qr-type-values")
def unknown_types_are_none(request, send):
    if query_of(request).get("type") == "sparkles":
        return send(asking(request, query={"type": "none"}))
    return send(request)


@mutant("qr-unknown-hash")
def no_code_for_nobody(request, send):
    if at(request, "GET", QR) and "made-up" in path_of(request):
        return httpx.Response(404, json={"error": "no"})
    return send(request)


@mutant("qr-no-authentication")
def a_wrong_token_gets_no_code(request, send):
    if at(request, "GET", QR) and who(request) == "understudy-wrong-token":
        return httpx.Response(401, json={"error": "no"})
    return send(request)


@mutant("qr-size-bounds")
def a_size_of_nothing_is_the_default(request, send):
    if at(request, "GET", QR) and query_of(request).get("size") == "0":
        return send(asking(request, query={"size": "80"}))
    return send(request)


@mutant("qr-size-bounds")
def sizes_end_at_2049(request, send):
    if at(request, "GET", QR) and query_of(request).get("size") == "2049":
        return send(asking(request, query={"size": "2048"}))
    return send(request)

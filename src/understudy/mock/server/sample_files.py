"""Makes small true files for responses of media types that are not text: pictures, PDF, archives.

A client that decodes what it gets needs bytes that can be decoded; a made-up text is none of them.
"""

import gzip
import io
import tarfile
import wave
import zipfile
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

_SIZE = (64, 64)
_COLOUR = (38, 84, 124)
_FILE_NAME = "note.txt"
_CONTENT = b"understudy\n"
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the first instant that a zip archive can say

_SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">'
    b'<rect width="64" height="64" fill="#26547c"/></svg>'
)

_PILLOW_FORMATS: Final[Mapping[str, str]] = {
    "application/pdf": "PDF",
    "image/bmp": "BMP",
    "image/gif": "GIF",
    "image/jpeg": "JPEG",
    "image/jpg": "JPEG",
    "image/png": "PNG",
    "image/tiff": "TIFF",
    "image/vnd.microsoft.icon": "ICO",
    "image/webp": "WEBP",
    "image/x-icon": "ICO",
}


@lru_cache(maxsize=64)
def sample_file(media_type: str) -> bytes | None:
    """Returns a small file of a media type; None for a type that no file is known of."""
    if media_type in _PILLOW_FORMATS:
        return _picture(_PILLOW_FORMATS[media_type])
    make = _MAKERS.get(media_type)
    if make is None and media_type.startswith("image/"):
        return _picture("PNG")  # an unknown kind of picture is at least one that is drawn
    return None if make is None else make()


def _picture(form: str) -> bytes:
    from PIL import Image  # noqa: PLC0415 - importing Pillow takes too long at start

    buffer = io.BytesIO()
    dates = {"creationDate": None, "modDate": None} if form == "PDF" else {}
    Image.new("RGB", _SIZE, _COLOUR).save(buffer, form, **dates)
    return buffer.getvalue()


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo(_FILE_NAME, _OLDEST), _CONTENT)
    return buffer.getvalue()


def _tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(_FILE_NAME)
        entry.size = len(_CONTENT)
        archive.addfile(entry, io.BytesIO(_CONTENT))
    return buffer.getvalue()


def _gzip() -> bytes:
    return gzip.compress(_CONTENT, mtime=0)


def _wave() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(1600))  # a tenth of a second of silence
    return buffer.getvalue()


_MAKERS: Final[Mapping[str, Callable[[], bytes]]] = {
    "application/gzip": _gzip,
    "application/java-archive": _zip,
    "application/octet-stream": lambda: _CONTENT,
    "application/x-gzip": _gzip,
    "application/x-tar": _tar,
    "application/x-zip-compressed": _zip,
    "application/zip": _zip,
    "audio/wav": _wave,
    "audio/wave": _wave,
    "audio/x-wav": _wave,
    "image/svg+xml": lambda: _SVG,
}

"""Subprocess for one large picture: reads a job from stdin, writes the result (``picture_work.py``)."""

import sys
from contextlib import suppress

import msgspec

from understudy.errors import BadRequest
from understudy.limits import PICTURE_MEMORY, PICTURE_SECONDS
from understudy.mock.service import image_processing
from understudy.mock.service.picture_work import PictureJob, PictureResult


def main() -> None:
    """Runs the job within the limits; a job that exceeds one ends with an exit status."""
    job = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=PictureJob)
    _limit()
    try:
        if job.name == "resize":
            result = PictureResult(image_processing.resize(job.image, **job.arguments))
        else:
            checked = image_processing.checked_upload(job.image.content, **job.arguments)
            result = PictureResult(checked)
    except BadRequest as refusal:
        result = PictureResult(None, refusal.message, refusal.code)
    sys.stdout.buffer.write(msgspec.msgpack.encode(result))


def _limit() -> None:
    """Limits the memory and the processor time of this process, where the system supports it."""
    with suppress(ImportError):
        import resource  # noqa: PLC0415 - Windows has none

        resource.setrlimit(resource.RLIMIT_AS, (PICTURE_MEMORY.most, PICTURE_MEMORY.most))
        resource.setrlimit(resource.RLIMIT_CPU, (PICTURE_SECONDS.most, PICTURE_SECONDS.most))


if __name__ == "__main__":
    main()

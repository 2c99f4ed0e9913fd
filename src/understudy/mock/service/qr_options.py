"""Names what a QR code can look like, apart from the drawing, which takes long to import."""

from typing import Literal

CentreIcon = Literal["user", "service", "none"]

STANDARD = 1  # interface, qr-code: the values of ``version``
DOTS = 3

DEFAULT_SIZE = 80  # pixels; interface, Limits: QR code default size

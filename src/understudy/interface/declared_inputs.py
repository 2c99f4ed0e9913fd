"""Names and bounds of inputs that the interface leaves to the document in force."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class DeclaredInputs:
    """The inputs of a deployment as the document in force declares them.

    Attributes:
        upload_field: Name of the field that an upload sends its picture under.
        qr_types: Values of ``type`` for the centre icon of a QR code.
        least_qr_size: The smallest width of a QR code in pixels; None if the document has no bound.
        largest_qr_size: The largest width; None if the document has no bound.
        longest: Names of profile fields to the most characters of their texts; only bounded ones.
    """

    upload_field: str = "data"
    qr_types: tuple[str, ...] = ("user", "service", "none")
    least_qr_size: int | None = None
    largest_qr_size: int | None = None
    longest: Mapping[str, int] = field(default_factory=dict)

    def with_bounds_of(self, other: "DeclaredInputs") -> "DeclaredInputs":
        """Returns these inputs with the bounds of another deployment; names stay as they are."""
        return replace(
            self,
            least_qr_size=other.least_qr_size,
            largest_qr_size=other.largest_qr_size,
            longest=other.longest,
        )

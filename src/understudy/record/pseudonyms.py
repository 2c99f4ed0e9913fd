"""Replaces the values of people by pseudonyms: the same value always becomes the same pseudonym.

A pseudonym is derived by HMAC under the project's key (RFC 2104), so that nobody without the key can
find its value by trying candidates. It keeps the properties that clients rely on: emptiness, form, and
that an e-mail hash is the hash of an address. A picture is replaced by a drawn one of the same kind
and size.
"""

import hmac
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from io import BytesIO
from typing import Final
from urllib.parse import unquote

from PIL import Image, ImageDraw, UnidentifiedImageError

from understudy.exchange.masking import MASK
from understudy.verify.target import Target, email_hash

SITE: Final = "http://127.0.0.1:8080"
AUTHORIZATION: Final = "http://127.0.0.1:8081"
"""Origins in a recording: those of ``understudy serve`` with its default ports."""

_HASH: Final = re.compile("[0-9a-fA-F]{64}")
_IMAGE_ID: Final = re.compile("[0-9a-fA-F]{32}")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_URL: Final = re.compile(r"https?://", re.IGNORECASE)

_PICTURE_SUFFIX: Final = re.compile(r"\.(png|jpe?g|gif)$", re.IGNORECASE)
_STYLE_URL: Final = re.compile(r"url\(\s*['\"]?([^'\")]+)['\"]?\s*\)")

_EARLIEST: Final = date(2012, 1, 1)
_DAYS: Final = 3650  # dates are moved into ten years from _EARLIEST
_AROUND_SESSION: Final = timedelta(minutes=1)

_FIRST_WORDS: Final = tuple(
    (
        "amber azure birch bright calm cedar clear coral dusty early fern gentle golden green hazel"
        " ivory jade keen lilac linden maple mellow misty olive opal pale quiet rowan silver sunny"
        " teal willow"
    ).split()
)
_SECOND_WORDS: Final = tuple(
    (
        "anchor basket beacon bridge candle canvas cellar cloud compass copper corner delta ember"
        " field garden harbour island kettle ladder lantern meadow mirror orchard paper pebble quarry"
        " river saddle signal timber valley window"
    ).split()
)
_TIME_ZONES: Final = ("Africa/Nairobi", "America/Lima", "Asia/Tokyo", "Europe/Lisbon", "UTC")
_LANGUAGES: Final = ("de", "en", "es", "fi", "fr", "it", "ja", "ko", "nl", "pt", "sv", "tr")


class Pseudonyms:
    """Makes the pseudonyms of one project.

    Args:
        key: The project's key.
        target: The deployment; client IDs and redirect URIs of its target file are kept.
        started: Start of the recording; later instants stem from the app, and are kept.

    Attributes:
        emails: SHA-256 hash of a pseudonymous e-mail address to the address.
    """

    def __init__(self, key: bytes, target: Target, started: datetime) -> None:
        self._key = key
        self._started = started - _AROUND_SESSION
        applications = (target.application, target.other_application, target.two_step)
        self._own_clients = {each.client_id for each in applications}
        self._own_redirects = {each.redirect_uri for each in applications}
        self.emails: dict[str, str] = {}

    def digest(self, kind: str, value: str) -> str:
        """Returns the HMAC of a value under the key, as 64 hexadecimal digits."""
        text = f"{kind}\0{value}".encode("utf-8", "surrogatepass")
        return hmac.new(self._key, text, sha256).hexdigest()

    def number(self, kind: str, value: str, most: int) -> int:
        """Returns the pseudonym of a number, from 0 up to but not including ``most``."""
        return int(self.digest(kind, value)[:12], 16) % most

    def hash(self, value: str) -> str:
        """Returns the pseudonym of an e-mail hash: the hash of an invented address."""
        if not _HASH.fullmatch(value):
            return self.slug(value)
        email = f"{self._words('e-mail', value.lower(), '.')}@example.com"
        own = email_hash(email)
        self.emails[own] = email
        return own

    def email(self, value: str) -> str:
        """Returns the pseudonym of an e-mail address."""
        return self.emails[self.hash(email_hash(value))] if value else value

    def identifier(self, value: str) -> str:
        """Returns the pseudonym of a profile identifier: a hash, a slug, or an address by mistake."""
        return self.email(value) if "@" in value else self.hash(value)

    def slug(self, value: str) -> str:
        """Returns the pseudonym of a slug."""
        return self._words("slug", value, "-") if value else value

    def image_id(self, value: str) -> str:
        """Returns the pseudonym of an avatar's identifier."""
        same_case = value.lower() if _IMAGE_ID.fullmatch(value) else value
        return self.digest("image", same_case)[:32]

    def text(self, value: str) -> str:
        """Returns the pseudonym of a text, in its form if clients parse it; an empty one stays empty."""
        made = (make(self, value) for form, make in _PARSED if form.fullmatch(value))
        return next(made, self._words("text", value, " ").capitalize() if value else value)

    def uuid(self, value: str) -> str:
        """Returns the pseudonym of a UUID, of version 4 (RFC 9562, 5.4)."""
        digest = self.digest("uuid", value.lower())
        parts = (digest[:8], digest[8:12], f"4{digest[12:15]}", f"8{digest[15:18]}", digest[18:30])
        return "-".join(parts)

    def number_in_text(self, value: str) -> str:
        """Returns the pseudonym of a number in a text; an integer has that of the same JSON number."""
        _, dot, fraction = value.partition(".")
        return f"{self.number('number', value, 10**6)}{dot}{'0' * len(fraction)}"

    def time(self, value: str) -> str:
        """Returns the pseudonym of a time of day, without or with seconds."""
        hours, minutes = divmod(self.number("time", value, 24 * 60), 60)
        return f"{hours:02}:{minutes:02}{value[5:]}"

    def name(self, value: str) -> str:
        """Returns the pseudonym of a name."""
        return self._words("name", value, " ").title() if value else value

    def service(self, value: str) -> str:
        """Returns the pseudonym of a service's identifier."""
        return self._words("service", value, "-") if value else value

    def url(self, value: str) -> str:
        """Returns the pseudonym of a URL."""
        return f"https://www.example.com/{self.digest('url', value)[:16]}" if value else value

    def url_or_text(self, value: str) -> str:
        """Returns the pseudonym of a text that may be a URL."""
        return self.url(value) if _URL.match(value) else self.text(value)

    def profile_url(self, value: str) -> str:
        """Returns the pseudonym of a profile page's URL, at the mock."""
        return f"{SITE}/{self.slug(last_segment(value))}" if value else value

    def avatar_url(self, value: str) -> str:
        """Returns the pseudonym of an avatar's URL, at the mock."""
        if not value:
            return value
        last = last_segment(value)
        return f"{SITE}/avatar/{self.hash(last) if _HASH.fullmatch(last) else self.image_id(last)}"

    def icon_url(self, value: str) -> str:
        """Returns the pseudonym of the URL of a service's icon, at the mock."""
        last = last_segment(value).rpartition(".")[0] or last_segment(value)
        return f"{SITE}/icons/{self.service(last)}.svg" if value else value

    def picture_url(self, value: str) -> str:
        """Returns the pseudonym of the URL of a profile's picture, at the mock, with its suffix."""
        if not value:
            return value
        match = _PICTURE_SUFFIX.search(value.partition("?")[0].partition("#")[0])
        suffix = match[1].lower() if match else "png"
        name = f"{self.digest('picture', value)[:16]}.{'jpg' if suffix == 'jpeg' else suffix}"
        return f"{SITE}/image/{name}"

    def header_image(self, value: str) -> str:
        """Returns the pseudonym of a CSS background, with the URL of a picture at the mock."""
        match = _STYLE_URL.search(value)
        url = self.picture_url(match[1] if match else value)
        return f"url('{url}') no-repeat 50% 50% / cover" if url else ""

    def colour(self, value: str) -> str:
        """Returns the pseudonym of a colour, as CSS."""
        digest = self.digest("colour", value)
        return f"rgb({int(digest[:2], 16)}, {int(digest[2:4], 16)}, {int(digest[4:6], 16)})"

    def phone(self, value: str) -> str:
        """Returns the pseudonym of a telephone number, from a range reserved for fiction."""
        return f"+1 555 01{self.number('phone', value, 100):02}" if value else value

    def time_zone(self, value: str) -> str:
        """Returns the pseudonym of a time zone: another one."""
        return _TIME_ZONES[self.number("zone", value, len(_TIME_ZONES))] if value else value

    def language(self, value: str) -> str:
        """Returns the pseudonym of a language code: another one."""
        return _LANGUAGES[self.number("language", value, len(_LANGUAGES))] if value else value

    def wallet(self, value: str) -> str:
        """Returns the pseudonym of a wallet's address."""
        return f"example{self.digest('wallet', value)[:24]}" if value else value

    def number_text(self, value: str) -> str:
        """Returns the pseudonym of the number of an account or site, as digits."""
        return str(self.number("number", value, 10**8)) if value else value

    def instant(self, value: str) -> str:
        """Returns the pseudonym of a date or instant; instants since the recording's start are kept."""
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            return self.text(value)
        aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        is_day = _DATE.fullmatch(value)
        if not is_day and self._started <= aware <= self._started + timedelta(days=7):
            return f"{aware.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"
        return self.moment(value)

    def moment(self, value: str) -> str:
        """Returns the pseudonym of a date or instant, also of one since the recording's start."""
        days = timedelta(days=self.number("date", value, _DAYS))
        if _DATE.fullmatch(value):
            return (_EARLIEST + days).isoformat()
        seconds = self.number("time", value, 86_400)
        midnight = datetime(_EARLIEST.year, 1, 1, tzinfo=UTC)
        return (midnight + days + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def client(self, value: str) -> str:
        """Returns the pseudonym of a client ID; those in the target file are kept."""
        return value if value in self._own_clients else f"app-{self.digest('client', value)[:12]}"

    def redirect(self, value: str) -> str:
        """Returns the pseudonym of a redirect URI; those in the target file are kept."""
        if value in self._own_redirects:
            return value
        return f"https://app-{self.digest('redirect', value)[:12]}.example.com/callback"

    def secret(self, value: str) -> str:
        """Returns the mask of a token, code or password; equal secrets have equal masks."""
        return f"{MASK}{self.digest('secret', value)[:24]}" if value else value

    def opaque(self, value: str) -> str:
        """Returns the pseudonym of a value that only its sender interprets, such as ``state``."""
        return self.digest("opaque", value)[:24] if value else value

    def _words(self, kind: str, value: str, separator: str) -> str:
        digest = self.digest(kind, value)
        first = _FIRST_WORDS[int(digest[:4], 16) % len(_FIRST_WORDS)]
        second = _SECOND_WORDS[int(digest[4:8], 16) % len(_SECOND_WORDS)]
        return separator.join((first, second, digest[8:18]))


_PARSED: Final[tuple[tuple[re.Pattern[str], Callable[[Pseudonyms, str], str]], ...]] = (
    (re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"), Pseudonyms.uuid),
    (re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d\S*)?", re.ASCII), Pseudonyms.moment),
    (re.compile(r"\d\d:\d\d(:\d\d)?", re.ASCII), Pseudonyms.time),
    (re.compile(r"-?\d{1,18}(\.\d{1,18})?", re.ASCII), Pseudonyms.number_in_text),
    (re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"), Pseudonyms.email),
    (re.compile(r"https?://\S+", re.IGNORECASE), Pseudonyms.url),
)
"""Forms of texts that clients parse, whatever the member is called, and what makes their pseudonym."""


def last_segment(url: str) -> str:
    """Returns the last segment of a URL's path, such as the slug of a profile's URL."""
    path = url.partition("?")[0].partition("#")[0].rstrip("/")
    return unquote(path.rpartition("/")[2])


_KINDS: Final = {
    "PNG": ("image/png", ".png"),
    "JPEG": ("image/jpeg", ".jpg"),
    "GIF": ("image/gif", ".gif"),
}
_LARGEST: Final = 4096
"""Longest side of a drawn picture, in pixels."""


@dataclass(frozen=True, slots=True)
class PictureForm:
    """Kind, by Pillow's name of the format, and size of a picture in pixels."""

    kind: str = "PNG"
    width: int = 512
    height: int = 512

    @property
    def media_type(self) -> str:
        """The media type of the format."""
        return _KINDS[self.kind][0]

    @property
    def suffix(self) -> str:
        """The suffix of a file in this format."""
        return _KINDS[self.kind][1]


def form_of(content: bytes) -> PictureForm | None:
    """Returns the form of a picture from its file header; None if it is not PNG, JPEG or GIF."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Image.open(BytesIO(content), formats=tuple(_KINDS)) as picture:
                width, height = (min(side, _LARGEST) for side in picture.size)
                return PictureForm(picture.format or "PNG", width, height)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Warning):
        return None


def drawn(form: PictureForm, digest: str) -> bytes:
    """Returns a picture of three stripes, in colours by hexadecimal digits."""
    colours = [tuple(bytes.fromhex(digest[at : at + 6])) for at in (0, 6, 12)]
    picture = Image.new("RGB", (form.width, form.height), colours[0])
    draw = ImageDraw.Draw(picture)
    third = max(form.height // 3, 1)
    for place, colour in enumerate(colours[1:], 1):
        draw.rectangle((0, min(place * third, form.height), form.width, form.height), fill=colour)
    content = BytesIO()
    picture.save(content, form.kind)
    return content.getvalue()

"""Five invented people, their applications and the tokens that exist from the start.

The values are fixed, and no secret of anything: so ``target.toml`` can name them.
"""

from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO

from PIL import Image, ImageDraw
from tests.proofs.reference.records import (
    AccessToken,
    Account,
    ApiKey,
    Application,
    Avatar,
    Json,
    Rating,
    Scope,
)

FOUNDED = datetime(2024, 2, 29, 8, 30, tzinfo=UTC)


def _verified(name: str, *, is_hidden: bool = False) -> Json:
    host = f"{name.lower()}.example.com"
    return {
        "service_type": name.lower(),
        "service_label": name,
        "service_icon": f"https://{host}/icon.svg",
        "url": f"https://{host}/isolde",
        "is_hidden": is_hidden,
    }


ISOLDE = Account(
    user_id="7001",
    username="isolde",
    password="a lamp in the window",
    blog_id="88001",
    slug="isolde-quillfeather",
    emails=("isolde@quillfeather.example", "i.quillfeather@harbour.example"),
    texts={
        "display_name": "Isolde Quillfeather",
        "description": "Keeps a lighthouse, and the books of two others.",
        "pronunciation": "ih-ZOL-duh",
        "pronouns": "she/her",
        "location": "Skerry Point",
        "job_title": "Keeper",
        "company": "Northern Lights & Sons",
    },
    verified_accounts=(
        _verified("Quillpost"),
        _verified("Rooftop", is_hidden=True),
        _verified("Signalmast"),
        _verified("Foghorn"),
        _verified("Tidetable"),
        _verified("Wicklight"),
    ),
    public={
        "header_image": "url('https://pictures.example.com/sea.jpg') no-repeat 50% 50% / cover",
        "hide_default_header_image": False,
        "background_color": "rgb(20, 60, 90)",
    },
    private={
        "timezone": "Europe/London",
        "languages": [
            {"code": "en", "name": "English", "is_primary": True, "order": 1},
            {"code": "gd", "name": "Gàidhlig", "is_primary": False, "order": 2},
        ],
        "first_name": "Isolde",
        "last_name": "Quillfeather",
        "is_organization": False,
        "links": [{"label": "Log book", "url": "https://log.example.com/isolde"}],
        "interests": [{"id": 11, "name": "lenses"}, {"id": 12, "name": "weather"}],
        "payments": {
            "links": [{"label": "Oil for the lamp", "url": "https://give.example.com/isolde"}],
            "crypto_wallets": [{"label": "Shellcoin", "address": "shell1q0isolde"}],
        },
        "gallery": [
            {"url": "https://pictures.example.com/lens.jpg", "alt_text": "The great lens"},
            {"url": "https://pictures.example.com/stairs.jpg"},
        ],
    },
    contact_info={
        "work_phone": "+44 1632 960001",
        "email": "isolde@quillfeather.example",
        "contact_form": "https://quillfeather.example.com/contact",
    },
    registered=FOUNDED,
    edited=datetime(2025, 11, 3, 17, 5, 9, tzinfo=UTC),
)
BRAM = Account(
    user_id="7002",
    username="bram",
    password="turf and timber",
    blog_id="88002",
    slug="bram-tarnwick",
    emails=("bram@tarnwick.example", "b.tarnwick@bog.example"),
    texts={
        "display_name": "Bram Tarnwick",
        "description": "",
        "pronunciation": "",
        "pronouns": "he/him",
        "location": "",
        "job_title": "",
        "company": "",
    },
    verified_accounts=(_verified("Quillpost"),),
    private={"timezone": "Europe/Amsterdam", "is_organization": False},
    registered=datetime(2025, 6, 1, 12, tzinfo=UTC),
)
NOOR = Account(
    user_id="7003",
    username="noor",
    password="one glass bead",
    application_password="beadwork for machines",
    blog_id="88003",
    slug="noor-vesperling",
    emails=("noor@vesperling.example",),
    texts=dict.fromkeys(BRAM.texts, "") | {"display_name": "Vesperling Glass"},
    private={"is_organization": True},
    registered=datetime(2025, 9, 15, 6, 45, tzinfo=UTC),
)
TAMSIN = Account(
    user_id="7004",
    username="tamsin",
    password="a key under the mat",
    blog_id="88004",
    slug="tamsin-underleaf",
    emails=("tamsin@underleaf.example",),
    texts=dict.fromkeys(BRAM.texts, "") | {"display_name": "Tamsin Underleaf"},
    private={"is_organization": False},
    registered=datetime(2025, 10, 1, tzinfo=UTC),
    is_private=True,
)
OSRIC = Account(
    user_id="7005",
    username="osric",
    password="a bell without a clapper",
    blog_id="88005",
    slug="osric-fallowmere",
    emails=("osric@fallowmere.example",),
    texts=dict.fromkeys(BRAM.texts, "") | {"display_name": "Osric Fallowmere"},
    registered=datetime(2025, 10, 2, tzinfo=UTC),
    is_disabled=True,
)
ACCOUNTS = (ISOLDE, BRAM, NOOR, TAMSIN, OSRIC)

BEACON = Application(
    client_id="3101",
    client_secret="beacon-secret",
    name="Beacon",
    owner=ISOLDE.user_id,
    redirect_uris=("https://beacon.example.com/callback", "http://127.0.0.1:9999/back?from=beacon"),
)
KILN = Application(
    client_id="3102",
    client_secret="kiln-secret",
    name="Kiln",
    owner=NOOR.user_id,
    redirect_uris=("https://kiln.example.com/callback",),
)
PEAT = Application(
    client_id="3103",
    client_secret="peat-secret",
    name="Peat",
    owner=BRAM.user_id,
    redirect_uris=("https://peat.example.com/callback",),
)
APPLICATIONS = (BEACON, KILN, PEAT)
API_KEY = ApiKey("beacon-api-key", BEACON.client_id)


def _token(name: str, account: Account, *scopes: Scope) -> AccessToken:
    return AccessToken(
        value=name, client_id=BEACON.client_id, user_id=account.user_id, scopes=scopes
    )


FULL_TOKEN = _token("isolde-full", ISOLDE, *Scope)
READ_ONLY_TOKEN = _token("isolde-read-only", ISOLDE, Scope.AUTH, Scope.READ)
NO_AUTH_TOKEN = _token("isolde-no-auth", ISOLDE, Scope.READ, Scope.MANAGE)
OTHER_TOKEN = _token("bram-full", BRAM, *Scope)
AUTH_ONLY_TOKEN = _token("isolde-auth-only", ISOLDE, Scope.AUTH)
EXPIRED_TOKEN = replace(_token("isolde-expired", ISOLDE, *Scope), expires=FOUNDED)
PRIVATE_TOKEN = _token("tamsin-full", TAMSIN, *Scope)
DISABLED_TOKEN = _token("osric-full", OSRIC, *Scope)
TOKENS = (
    FULL_TOKEN,
    READ_ONLY_TOKEN,
    OTHER_TOKEN,
    AUTH_ONLY_TOKEN,
    NO_AUTH_TOKEN,
    EXPIRED_TOKEN,
    PRIVATE_TOKEN,
    DISABLED_TOKEN,
)


def picture(letter: str, colour: str, picture_format: str = "PNG") -> bytes:
    """Draws a letter on a colour, 96 pixels square."""
    image = Image.new("RGB", (96, 96), colour)
    ImageDraw.Draw(image).text((40, 40), letter, fill="white")
    file = BytesIO()
    image.save(file, picture_format)
    return file.getvalue()


def _avatar(image_id: str, owner: Account, letter: str, colour: str, alt_text: str) -> Avatar:
    return Avatar(
        image_id=image_id,
        owner=owner.user_id,
        content=picture(letter, colour),
        media_type="image/png",
        rating=Rating.G,
        alt_text=alt_text,
        updated=FOUNDED,
    )


AVATARS = (
    _avatar("a1" * 16, ISOLDE, "I", "#14507a", "Isolde before the lamp"),
    _avatar("a2" * 16, ISOLDE, "Q", "#7a5014", "A quill"),
    _avatar("b1" * 16, BRAM, "B", "#2c6e2c", ""),
)
SELECTED = {ISOLDE.hashes[0]: "a1" * 16, BRAM.hashes[0]: "b1" * 16}
"""Which picture stands for which e-mail."""

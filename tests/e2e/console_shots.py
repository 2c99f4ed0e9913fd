"""Takes pictures of every view of the console: ``make console-shots``.

They go to ``build/console``, in both colour schemes and at the widths of a phone, a desk and a wall.
"""

import hashlib
import tempfile
from pathlib import Path
from typing import Final, Literal

import httpx
from playwright.sync_api import Browser, sync_playwright
from tests.cli.conftest import Running
from tests.tools.bring import find_program
from tests.tools.docs.console_pictures import TAKEN, VIEWS

AUTHORIZATION: Final = {
    "client_id": "server-app",
    "redirect_uri": "http://127.0.0.1:5000/callback",
    "response_type": "code",
    "scope": "auth",
    "mock_approve": "ada",
}
WIDTHS: Final = {"phone": (390, 844), "desk": (1440, 900), "wall": (2000, 1100)}
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")


def main() -> None:
    """Starts a mock and a browser, and takes the pictures."""
    TAKEN.mkdir(parents=True, exist_ok=True)
    path = find_program("chromium-headless-shell")
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        running = Running(Path(directory), "--log", "off")
        browser = playwright.chromium.launch(executable_path=path, chromium_sandbox=False)
        try:
            console = running.base_url.removesuffix("/v3") + "/__console"
            for name, view in VIEWS.items():
                if name == "traffic":
                    send_requests(running)
                shoot(browser, name, console + view.address)
        finally:
            browser.close()
            running.stop()


def send_requests(mock: Running) -> None:
    """Sends requests that are worth a picture: found, not found, refused, mistyped, signed in."""
    ada = {"Authorization": "Bearer ada-full"}
    wrong = hashlib.sha256(b"ADA@EXAMPLE.COM").hexdigest()
    with httpx.Client(base_url=mock.base_url, trust_env=False) as client:
        client.get("/profiles/ada")
        client.get(f"/profiles/{wrong}")
        client.get("/me/profile", headers=ada)
        client.patch("/me/profile", headers=ada, json={"location": 7})
        client.patch("/me/profile", headers=ada, json={"location": "Port Merrow"})
        client.get("/qr-code/ada", params={"size": 240})
        client.get("/profile/ada")
        client.get("/me/profile")
        client.get(f"{mock.auth_url}/oauth2/authorize", params=AUTHORIZATION)


def shoot(browser: Browser, view: str, url: str) -> None:
    """Takes the pictures of a view."""
    for width, (pixels, height) in WIDTHS.items():
        for scheme in SCHEMES:
            page = browser.new_page(
                viewport={"width": pixels, "height": height}, color_scheme=scheme
            )
            page.goto(url)
            page.locator(".view").wait_for()
            page.wait_for_timeout(500)  # pictures of people are drawn
            page.screenshot(path=TAKEN / f"{view}-{width}-{scheme}.png")
            page.close()


if __name__ == "__main__":
    main()

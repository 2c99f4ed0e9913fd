"""Worlds and time in the console: history, clock, forks and capsules, in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests import patient
from tests.e2e.console import Console

ADA = {"Authorization": "Bearer ada-full"}
DROP = """([bytes, name]) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(bytes)], name));
  document.body.dispatchEvent(
    new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


def test_the_world_is_rewound_to_before_a_change(console: Console) -> None:
    before = console.client.get("/profiles/ada").json()["location"]
    console.client.patch("/me/profile", headers=ADA, json={"location": "Elsewhere"})
    console.open("#/worlds")
    console.click(console.button("Compare before request 2 with now"))
    expect(console.page.locator(".difference ins").first).to_contain_text("Elsewhere")
    console.click(console.button("Rewind to before request 2"))
    expect(console.page.locator("#notices")).to_contain_text("1 change undone")
    console.done_in(2)
    assert console.client.get("/profiles/ada").json()["location"] == before


def test_two_moments_of_a_world_are_compared(console: Console) -> None:
    for place in ("First", "Second", "Third"):
        console.client.patch("/me/profile", headers=ADA, json={"location": place})
    console.admin("POST", "/faults", {"status": 503, "operation": "getQrCode"})
    console.open("#/worlds")
    expect(console.page.locator(".history li")).to_have_count(4)
    expect(console.page.locator(".history li").first.get_by_role("button")).to_have_count(0)
    console.page.get_by_label("Compare with", exact=True).select_option("before request 3")
    console.button("Compare before request 2 with before request 3").click()
    shown = console.page.locator(".difference")
    expect(shown.locator("del").first).to_have_text("First")
    expect(shown.locator("ins").first).to_have_text("Second")
    expect(shown).not_to_contain_text("faults")


def test_the_clock_is_frozen_and_moved(console: Console) -> None:
    console.open("#/worlds")
    console.click(console.button("Freeze"))
    expect(console.button("Run")).to_be_visible()
    before = console.admin("GET", "/clock")["now"]
    console.click(console.button("+2 weeks"))
    expect(console.page.locator(".clock")).not_to_contain_text(before[:10])
    console.done_in(2)
    assert console.admin("GET", "/clock")["frozen"] is True


def test_a_world_is_forked_and_opened(console: Console) -> None:
    console.client.patch("/me/profile", headers=ADA, json={"location": "Elsewhere"})
    name = console.url.rpartition("/")[2]
    console.open("#/worlds")
    console.page.get_by_label("Name", exact=True).first.fill(f"fork-of-{name}"[:40])
    entry = console.page.locator(".entries li", has=console.page.get_by_text(name, exact=True))
    entry.get_by_role("button", name="Fork").click()
    fork = console.page.locator(
        ".entries li", has=console.page.get_by_text(f"fork-of-{name}"[:40], exact=True)
    )
    fork.get_by_role("link", name="Open").click()
    expect(console.page.locator(".world")).to_contain_text("fork-of")


def test_a_capsule_is_saved_and_opened_by_dropping_it(console: Console) -> None:
    console.client.patch("/me/profile", headers=ADA, json={"location": "Elsewhere"})
    recorded = console.admin("GET", "/requests/1")["response"]["bodyAsBase64"]
    console.open("#/traffic/1")
    with console.page.expect_download() as download:
        console.click(console.button("Save a capsule"))
    assert download.value.suggested_filename.endswith("-before-1.capsule.zip")
    capsule = Path(download.value.path()).read_bytes()
    console.admin("POST", "/reset")
    console.open("#/worlds")
    console.page.evaluate(DROP, [list(capsule), "bug.capsule.zip"])
    expect(console.page.locator("#notices")).to_contain_text("The world stands before request 1")
    console.click(console.button("Send again"))
    expect(console.page.locator(".facts")).to_contain_text("#2")
    assert console.admin("GET", "/requests/2")["response"]["bodyAsBase64"] == recorded
    console.done_in(2)


@pytest.fixture
def other_capsule(console: Console, tmp_path: Path) -> tuple[str, Path]:
    """The name of another world, and a capsule of it."""
    other = console.admin("POST", "/worlds", {})
    capsule = tmp_path / "other.capsule.zip"
    capsule.write_bytes(patient.get(f"{other['admin_url']}/capsule").content)
    return other["name"], capsule


def test_a_capsule_of_another_world_that_is_there_says_where_to_open_it(
    console: Console, other_capsule: tuple[str, Path]
) -> None:
    console.open("#/worlds")
    console.page.get_by_label("Open a capsule here").set_input_files(other_capsule[1])
    expect(console.page.locator("#notices .bad")).to_contain_text("a world of the same name")


def test_a_capsule_of_a_world_that_is_not_there_is_opened_in_a_new_one(
    console: Console, other_capsule: tuple[str, Path]
) -> None:
    name, capsule = other_capsule
    console.admin("DELETE", f"/worlds/{name}")
    console.open("#/worlds")
    console.page.get_by_label("Open a capsule here").set_input_files(capsule)
    expect(console.page.locator(".world")).to_contain_text(name)
    expect(console.page.locator("h2", has_text="Capsule")).to_be_visible()

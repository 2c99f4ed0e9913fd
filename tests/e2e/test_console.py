"""The console's traffic in a real browser: from a wrong response to the reason and the remedy."""

import hashlib
import json
import subprocess

from playwright.sync_api import BrowserContext, Route, expect
from tests import patient
from tests.e2e.console import Console
from tests.e2e.console_load import Burst

from understudy import MockWorld

ADA = {"Authorization": "Bearer ada-full"}
MANY = 10_000
BURST = 2_000
FORMATS = {
    "curl": "curl ",
    "fetch": "await fetch(",
    "httpx": "httpx.request(",
    ".http": "GET http",
    "pytest": "assert response.status_code == 200",
    "Playwright": "expect(response.status()).toBe(200)",
}


def test_a_first_visit_sends_its_three_requests(console: Console) -> None:
    console.open()
    expect(console.page.get_by_alt_text("The avatar of Ada Merrowdale")).to_be_visible()
    expect(console.page.locator(".terminal li")).to_have_count(3)
    console.click(console.button("Send all 3 from here"))
    expect(console.rows()).to_have_count(3)
    console.page.reload()
    expect(console.rows()).to_have_count(3)
    assert {it["response"]["status"] for it in console.admin("GET", "/requests")["requests"]} == {
        200
    }


def test_a_greeting_that_is_late_does_not_cover_the_first_request(console: Console) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    console.page.route("**/__admin/exercised", hold)
    with console.page.expect_request("**/__admin/exercised"):
        console.open()
    console.client.get("/profiles/ada")
    expect(console.rows()).to_have_count(1)
    with console.page.expect_request_finished():
        held[0].continue_()
    console.page.evaluate("new Promise((done) => setTimeout(done, 0))")
    expect(console.page.locator(".welcome")).to_have_count(0)


def test_a_response_is_edited_and_answers_from_then_on_as_a_stub(console: Console) -> None:
    console.client.get("/profiles/ada?part=2")
    console.open()
    console.click(console.rows().first)
    console.click(console.page.get_by_role("link", name="Answer this otherwise"))
    expect(console.page.locator(".stub-schema")).to_contain_text("display_name")
    body = console.page.get_by_label("Body; empty for the mock's own")
    body.fill('{"display_name": 7}')
    console.click(console.button("Save as a stub"))
    expect(console.page.get_by_text("/response/body/display_name")).to_be_visible()
    console.page.get_by_label("Answer it even if the document does not allow it").check()
    console.click(console.button("Save as a stub"))
    expect(console.page.get_by_text("stub-1 answers from now on")).to_be_visible()
    assert console.client.get("/profiles/ada?part=2").json() == {"display_name": 7}
    for other in ("/profiles/ada", "/profiles/ada?part=3", "/profiles/ben?part=2"):
        assert console.client.get(other).json() != {"display_name": 7}
    expect(console.rows().filter(has_text="breaks the document")).to_have_count(1)
    console.page.goto(f"{console.url}/__console#/switches")
    console.click(console.button("Delete stub-1"))
    expect(console.page.get_by_label("Stubs")).to_contain_text("No stub answers")


def test_a_refusal_is_answered_otherwise_for_whom_it_refused(console: Console) -> None:
    def change(nickname: str, token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        json = {"nickname": nickname}
        return console.client.patch("/me/profile", json=json, headers=headers).status_code

    assert change("A.", "ada-full") == 400
    console.open()
    console.click(console.rows().first)
    console.click(console.page.get_by_role("link", name="Answer this otherwise"))
    console.page.get_by_role("spinbutton", name="Status").fill("200")
    console.page.get_by_label("Body; empty for the mock's own").fill("")
    console.click(console.button("Save as a stub"))
    expect(console.page.get_by_text("stub-1 answers from now on")).to_be_visible()
    assert change("A.", "ada-full") == 200
    assert change("B.", "ben-full") == 400
    assert console.client.get("/me/profile").status_code == 401
    console.page.goto(f"{console.url}/__console#/traffic/4/stub")
    expect(console.page.get_by_role("heading", name="401 GET /v3/me/profile")).to_be_visible()
    console.page.get_by_role("spinbutton", name="Status").fill("403")
    console.page.get_by_label("Body; empty for the mock's own").fill("")
    console.click(console.button("Save as a stub"))
    expect(console.page.get_by_text("stub-2 answers from now on")).to_be_visible()
    assert console.client.get("/me/profile").status_code == 403
    assert console.client.get("/me/profile", headers=ADA).status_code == 200


def test_a_stub_saved_before_the_document_is_read_has_the_path_of_its_request(
    console: Console,
) -> None:
    console.client.get("/profiles/ada")
    console.open("#/traffic/1")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    console.page.route("**/__admin/documents", hold)
    console.click(console.page.get_by_role("link", name="Answer this otherwise"))
    console.page.get_by_role("spinbutton", name="Status").fill("404")
    console.page.get_by_label("Body; empty for the mock's own").fill("")
    console.click(console.button("Save as a stub"))
    for route in held:
        route.continue_()
    expect(console.page.get_by_text("stub-1 answers from now on")).to_be_visible()
    assert console.client.get("/profiles/ada").status_code == 404
    assert console.client.get("/profiles/ben").status_code == 200


def test_a_stub_is_copied_as_code_that_says_only_what_was_changed_and_runs(
    console: Console, context: BrowserContext
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    profile = console.client.get("/profiles/ada").json()
    console.open("#/traffic/1/stub")
    expect(console.page.locator(".stub-schema")).to_contain_text("display_name")
    body = console.page.get_by_label("Body; empty for the mock's own")
    body.fill(json.dumps({**profile, "location": 'The "Elsewhere"'}))
    console.page.evaluate("sessionStorage.setItem('understudy-admin-token', 'hush-hush')")
    form, copied = console.page.locator("form.editor"), {}
    for name in ("pytest", "Playwright", "Vitest", "curl"):
        form.locator("summary", has_text="Copy as").click()
        form.get_by_role("button", name=name, exact=True).click()
        expect(console.page.locator("#notices")).to_contain_text(f"Copied as {name}.")
        copied[name] = console.page.evaluate("navigator.clipboard.readText()")
    stub = {
        "operation": "getProfile",
        "when": {"path": {"profileIdentifier": "ada"}},
        "response": {"status": 200, "merge": {"location": 'The "Elsewhere"'}},
    }
    for name in ("Playwright", "Vitest"):
        written = copied[name].removeprefix("await world.stub(").removesuffix(");")
        assert json.loads(written) == stub
    with MockWorld(console.url.partition("/__world")[0]) as world:
        exec(copied["pytest"], {"understudy_world": world})
        shown = patient.get(f"{world.base_url}/profiles/ada").json()
    assert shown["location"] == 'The "Elsewhere"'
    assert shown["profile_url"].startswith(world.base_url.removesuffix("/v3"))
    assert '-H "Authorization: Bearer $ADMIN_TOKEN"' in copied["curl"]
    subprocess.run(["sh", "-c", copied["curl"]], check=True, capture_output=True)
    assert console.client.get("/profiles/ada").json()["location"] == 'The "Elsewhere"'


def test_a_hash_of_capital_letters_is_understood_and_mended_in_two_clicks(console: Console) -> None:
    wrong = hashlib.sha256(b"ADA@EXAMPLE.COM").hexdigest()
    assert console.client.get(f"/profiles/{wrong}").status_code == 404
    console.open()
    console.click(console.rows().first)
    expect(console.page.locator(".remedy")).to_contain_text("upper case before it was hashed")
    console.click(console.button("Send again with what was meant"))
    expect(console.page.locator(".exchange-head .badge")).to_have_text("200")
    console.done_in(2)


def test_a_wrong_avatar_leads_to_its_request_the_reason_and_the_switch_in_three_clicks(
    console: Console,
) -> None:
    address = f"{console.url}/avatar/{hashlib.md5(b'ada@example.com').hexdigest()}"
    placeholder = console.client.get(address).content
    console.open()
    console.click(console.rows().first)
    expect(console.page.locator(".why")).to_contain_text("email-hashes=sha256")
    expect(console.page.locator(".remedies")).to_contain_text("an MD5 hash, as old clients send it")
    console.click(console.page.locator(".why").get_by_role("button", name="Other readings").first)
    console.click(console.button("Use md5-too in this world"))
    expect(console.page.locator("#notices")).to_contain_text("md5-too")
    console.done_in(3)
    assert console.client.get(address).content != placeholder


def test_an_avatar_of_a_hash_in_capital_letters_is_mended_in_two_clicks(console: Console) -> None:
    wrong = hashlib.sha256(b"ADA@EXAMPLE.COM").hexdigest()
    assert console.client.get(f"{console.url}/avatar/{wrong}").status_code == 200
    console.open()
    console.click(console.rows().first)
    console.click(console.button("Send again with what was meant"))
    expect(console.page.locator(".why")).to_contain_text("people/ada.yaml")
    console.done_in(2)


def test_a_wrong_path_is_sent_as_what_was_meant(console: Console) -> None:
    console.client.get("/profile/ada")
    console.open()
    expect(console.rows().first).to_contain_text("no such operation")
    console.click(console.rows().first)
    console.click(console.page.get_by_role("button", name="Send GET /v3/profiles/ada"))
    expect(console.page.locator(".exchange-head .badge")).to_have_text("200")
    console.done_in(2)


def test_a_response_says_which_rules_decided_it(console: Console) -> None:
    console.client.get("/profiles/ada")
    console.open("#/traffic/1")
    why = console.page.locator(".why")
    expect(why).to_contain_text("people/ada.yaml")
    expect(why).to_contain_text("profile-by-hash-or-slug")
    console.click(why.get_by_role("button", name="Other readings").first)
    console.click(console.button("Use md5-too in this world"))
    expect(console.page.locator("#notices")).to_contain_text("md5-too")
    console.done_in(2)
    digits = hashlib.md5(b"ada@example.com").hexdigest()
    assert console.client.get(f"/profiles/{digits}").status_code == 200


def test_a_request_becomes_a_fault_and_the_fault_is_deleted_again(console: Console) -> None:
    console.client.get("/profiles/ada")
    console.open("#/traffic/1")
    console.click(console.page.locator("summary", has_text="Make this a fault"))
    console.click(console.page.get_by_role("button", name="Down: every"))
    expect(console.page.locator("#notices")).to_contain_text("is active")
    console.done_in(2)
    assert console.client.get("/profiles/ada").status_code == 503
    expect(console.rows().first).to_contain_text("fault fault-1")
    console.click(console.rows().first)
    console.click(console.button("Delete the fault and send again"))
    expect(console.page.locator(".exchange-head .badge")).to_have_text("200")
    console.done_in(2)


def test_a_request_is_sent_with_changes_and_as_another_person(console: Console) -> None:
    console.client.get("/me/profile", headers=ADA)
    console.open("#/traffic/1/edit")
    console.page.get_by_label("Sign in as").select_option("ben")
    console.button("Send").click()
    expect(console.page.locator(".facts")).to_contain_text("#2")
    sent = console.admin("GET", "/requests?limit=1")["requests"][0]
    assert (sent["person"], sent["response"]["status"]) == ("ben", 200)


def test_a_request_is_copied_as_a_command_and_as_code(console: Console, context) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    console.client.get("/profiles/ada")
    console.open("#/traffic/1")
    for name, part in FORMATS.items():
        console.page.locator("summary", has_text="Copy as").click()
        console.button(name).click()
        expect(console.page.locator("#notices")).to_contain_text(f"Copied as {name}.")
        text = console.page.evaluate("navigator.clipboard.readText()")
        assert part in text
        assert f"{console.client.base_url}profiles/ada" in text


def test_filters_are_an_address_and_keys_go_through_the_rows(console: Console) -> None:
    for path in ("/profiles/ada", "/profiles/none", "/qr-code/ada"):
        console.client.get(path)
    console.open("#/traffic?status=4XX")
    expect(console.rows()).to_have_count(1)
    console.click(console.button("All"))
    expect(console.rows()).to_have_count(3)
    console.page.get_by_label("Search the requests").fill("qr-code")
    expect(console.rows()).to_have_count(1)
    assert "q=qr-code" in console.page.url
    console.page.get_by_label("Search the requests").fill("")
    console.page.locator("main").focus()
    console.page.keyboard.press("j")
    expect(console.page.locator(".exchange-head")).to_contain_text("/v3/qr-code/ada")
    console.page.keyboard.press("Escape")
    expect(console.page.locator(".exchange-head")).to_have_count(0)


def test_a_client_is_listed_by_the_label_that_it_sends(console: Console) -> None:
    console.client.get("/profiles/ada", headers={"X-Mock-Client": "checkout test"})
    console.client.get("/profiles/ada")
    console.open()
    expect(console.rows().last.locator(".client")).to_have_text("checkout test")
    console.page.get_by_label("Search the requests").fill("checkout")
    expect(console.rows()).to_have_count(1)


def test_an_error_of_the_page_itself_is_shown(console: Console) -> None:
    console.open()
    console.page.evaluate("void Promise.reject(new Error('a view broke'))")
    expect(console.page.locator("#notices .bad")).to_contain_text("a view broke")


def test_a_pause_holds_requests_back(console: Console) -> None:
    console.client.get("/profiles/ada")
    console.open()
    console.button("Pause").click()
    console.client.get("/profiles/ben")
    expect(console.button("Resume (1 new)")).to_be_visible()
    expect(console.rows()).to_have_count(1)
    console.button("Resume (1 new)").click()
    expect(console.rows()).to_have_count(2)


def test_ten_thousand_rows_are_a_few_dozen_elements(console: Console) -> None:
    console.client.get("/profiles/ada")
    console.open()
    console.page.evaluate(
        """async (many) => {
          const store = await import(document.querySelector("script[src$='main.js']").src.replace("main.js", "store.js"));
          const row = store.get().rows[0];
          const added = Array.from({length: many}, (_, n) => ({...row, id: n + 2, operation: `op${n % 7}`}));
          store.addRows(added, many + 1, 0);
        }""",
        MANY,
    )
    expect(console.page.locator(".count")).to_contain_text("10,001 requests")
    assert console.rows().count() < 100
    console.page.get_by_label("Operation").select_option("op3")
    expect(console.page.locator(".count")).to_contain_text("1,429 shown")


def test_counts_are_exact_however_fast_requests_come(console: Console) -> None:
    console.open()
    console.admin("PATCH", "/choices", {"rate-limits": "off"})
    for _ in range(150):
        console.client.get("/profiles/ada")
    expect(console.page.locator(".count")).to_contain_text("150 requests")


def test_thousands_of_requests_at_once_are_sampled_and_counted_to_the_last(
    console: Console,
) -> None:
    console.open()
    console.admin("PATCH", "/choices", {"rate-limits": "off"})
    burst = Burst(f"{console.client.base_url}profiles/ada")
    assert burst.send(BURST) == BURST
    burst.close()
    expect(console.page.locator(".count")).to_contain_text(f"{BURST:,} requests")
    listed, skipped = console.page.evaluate(
        """async () => {
          const store = await import(document.querySelector("script[src$='main.js']").src.replace("main.js", "store.js"));
          return [store.get().rows.length, store.get().skipped];
        }"""
    )
    assert listed + skipped == BURST
    assert console.rows().count() < 100
    assert console.admin("GET", "/exercised")["operations"][0]["requests"] == BURST


def test_requests_are_counted_anew_once_the_journal_was_deleted(console: Console) -> None:
    for _ in range(3):
        console.client.get("/profiles/ada")
    console.open()
    expect(console.page.locator(".count")).to_contain_text("3 requests")
    console.admin("DELETE", "/requests")
    expect(console.page.locator(".welcome")).to_be_visible()
    console.client.get("/profiles/ben")
    expect(console.page.locator(".count")).to_have_text("1 request")
    console.page.reload()
    expect(console.page.locator(".count")).to_have_text("1 request")


def test_a_preference_of_the_request_is_named(console: Console) -> None:
    console.client.get("/profiles/ada?__code=404")
    console.open()
    expect(console.rows().first).to_contain_text("asked: code=404")

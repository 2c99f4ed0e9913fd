const { test, expect } = require("./world");

// The client under test: yours is served from somewhere, and told its base URL.
const CLIENT = (baseUrl) => `
  <main aria-live="polite">loading</main>
  <script>
    fetch("${baseUrl}/profiles/ada")
      .then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)))
      .then((profile) => { document.querySelector("main").textContent = profile.display_name; })
      .catch((status) => { document.querySelector("main").textContent = "no profile: " + status; });
  </script>`;

test("shows the name", async ({ page, world }) => {
  await page.setContent(CLIENT(world.baseUrl));
  await expect(page.locator("main")).toHaveText("Ada Merrowdale");
});

test("says that the service is down", async ({ page, world }) => {
  await world.fault("getProfile", { status: 503 });
  await page.setContent(CLIENT(world.baseUrl));
  await expect(page.locator("main")).toHaveText("no profile: 503");
  expect(await world.calls("getProfile")).toHaveLength(1);
});

for (const location of ["Port Lindry", "Harbour Row", "Trail End", "North Quay"]) {
  test(`keeps its edits to itself: ${location}`, async ({ world }) => {
    const token = await world.token("ada", ["auth", "avatar-profile:manage"]);
    const answer = await fetch(`${world.baseUrl}/me/profile`, {
      method: "PATCH",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ location }),
    });
    expect(answer.status).toBe(200);
    const profile = await (await fetch(`${world.baseUrl}/profiles/ada`)).json();
    expect(profile.location).toBe(location);
  });
}

test("is signed out when the token ends", async ({ world }) => {
  await world.freeze("2026-03-01T12:00:00Z");
  const { token } = await world.admin("POST", "/tokens", { person: "ada", expires_in: 3600 });
  const me = () =>
    fetch(`${world.baseUrl}/me/profile`, { headers: { Authorization: `Bearer ${token}` } });
  expect((await me()).status).toBe(200);
  await world.advance(3600);
  expect((await me()).status).toBe(401);
});

import { expect } from "vitest";
import { AdminClient, Mock, RefusedError, VERSION, World, type Profile } from "understudy-js";
import { startMock } from "understudy-js/node";
import { test } from "understudy-js/vitest";

const CAN_READ = ["auth", "avatar-profile:read"];

function me(world: World, token: string): Promise<Response> {
  return fetch(`${world.baseUrl}/me/profile`, { headers: { Authorization: `Bearer ${token}` } });
}

test("a world has the people that were asked for", async () => {
  await using world = await new Mock().createWorld({ people: ["ada"], seed: 7 });
  expect(world.people.map(({ slug, emails }) => [slug, emails[0]?.primary])).toEqual([["ada", true]]);
  expect(world.tokens.find(({ token }) => token === "ada-full")?.state).toBe("valid");
  expect(world.applications.map(({ client_id }) => client_id)).toContain("browser-app");
});

test("a world ends with its block", async () => {
  const mock = new Mock();
  const { name } = await (async () => {
    await using inner = await mock.createWorld();
    expect(await mock.worldNames()).toContain(inner.name);
    return inner;
  })();
  expect(await mock.worldNames()).not.toContain(name);
});

test("a world that is closed is closed once", async () => {
  await using world = await new Mock().createWorld();
  await world.close();
});

test.for<[unknown, string]>([
  ["2 weeks", '"2 weeks" is not a duration; write a number of seconds, or parts such as { weeks: 2, hours: 12 }.'],
  [{ week: 2 }, '{"week":2} is not a duration;'],
  [undefined, "undefined is not a duration;"],
])("%j is not a duration", async ([wrong, told], { world }) => {
  await expect(world.advance(wrong as number)).rejects.toThrow(told);
});

test.for<[object, string]>([
  [{ choose: "rate-limits=off" }, 'There is no option choose; write serve: ["--choose", …], as on the command line.'],
  [{ serve: "--seed 7" }, 'serve is "--seed 7"; write a list, such as ["--choose", "rate-limits=off"].'],
])("%j starts no mock", async ([wrong, told]) => {
  await expect(startMock(wrong)).rejects.toThrow(told);
});

test.for<[string, string]>([
  ["/v3", "Write it without a path, such as http://127.0.0.1:"],
  ["nowhere", "UNDERSTUDY_URL is nowhere, where no mock responds. Write it without a path, such as http://"],
])("UNDERSTUDY_URL is told apart from the address of a mock: %s", async ([wrong, told]) => {
  const url = process.env["UNDERSTUDY_URL"] ?? "";
  process.env["UNDERSTUDY_URL"] = wrong.startsWith("/") ? url + wrong : wrong;
  await expect(startMock()).rejects.toThrow(told);
  process.env["UNDERSTUDY_URL"] = url;
});

test("a token expires when the world's clock says so", async ({ world }) => {
  await world.freeze("2026-03-01T12:00:00Z");
  const token = await world.token("ada", { scopes: CAN_READ, lasts: { weeks: 2 } });
  expect((await me(world, token)).status).toBe(200);
  expect(await world.advance({ days: 14 })).toEqual(new Date("2026-03-15T12:00:00Z"));
  expect((await me(world, token)).status).toBe(401);
  expect(await world.now()).toEqual(new Date("2026-03-15T12:00:00Z"));
});

test("a revoked token is refused", async ({ world }) => {
  const token = await world.token("ada");
  await world.revoke(token);
  expect((await me(world, token)).status).toBe(401);
});

test("a fault is injected, counted and removed", async ({ world }) => {
  const ada = () => fetch(`${world.baseUrl}/profiles/ada`).then(({ status }) => status);
  const { id } = await world.fault({ operation: "getProfile", status: 503 });
  expect(await ada()).toBe(503);
  await world.removeFaults(id);
  expect(await ada()).toBe(200);
  await world.fault({ status: 500 });
  await world.removeFaults();
  expect(await ada()).toBe(200);
});

test("a stub answers, is held to the document, and is named while it is unused", async ({ world }) => {
  const when = { path: { profileIdentifier: "ada" } };
  const { id } = await world.stub({ operation: "getProfile", when, response: { merge: { location: "Elsewhere" } } });
  expect(await world.journal()).toBe(
    `The mock received no request.\nThe stub ${id} answered no request of getProfile; there was none.`,
  );
  const ada = await fetch(`${world.baseUrl}/profiles/ada`);
  expect(await ada.json()).toMatchObject({ location: "Elsewhere" });
  expect(await world.unusedStubs()).toEqual([]);
  const broken = world.stub({ operation: "getProfile", response: { body: { display_name: 7 } } });
  await expect(broken).rejects.toThrow("/response/body/display_name");
  await world.removeStubs(id);
  await world.removeStubs();
});

test("the journal says what was sent, and why it was answered so", async ({ world }) => {
  await fetch(`${world.baseUrl}/profiles/nobody`);
  const [entry] = await world.requests({ operation: "getProfile", status: "404" });
  expect((await world.explain(entry!.id)).explanation.operation).toBeTruthy();
  const [line, reason] = (await world.journal()).split("\n");
  expect(line).toBe("   1  404  GET    /v3/profiles/nobody  -");
  expect(reason).toContain("There is no profile for 'nobody'");
  expect((await world.har()).log).toMatchObject({ version: "1.2" });
});

test("what was exercised is reported, for a world and for all", async ({ world }) => {
  await fetch(`${world.baseUrl}/profiles/ada`);
  expect((await world.exercised()).exercised).toBeGreaterThan(0);
  expect((await new Mock().exercised(1)).reached).toBe(false);
});

test("limits, switches and snapshots are the world's own", async ({ world }) => {
  const ada = () => fetch(`${world.baseUrl}/profiles/ada`).then(({ status }) => status);
  await world.snapshot(`before-${world.name}`);
  await world.limit("anonymous", { limit: 0 });
  expect(await ada()).toBe(429);
  await world.choose({ "rate-limits": "off" });
  expect(await ada()).toBe(200);
  await world.reset();
  expect(await world.requests()).toEqual([]);
  await world.restore(`before-${world.name}`);
});

test("a person is added to the world, and found by slug", async ({ world }) => {
  const emails = [{ email: "gwen@example.com" }];
  await world.addPerson({ slug: "gwen", about: "A person with one address.", emails, profile: { display_name: "Gwen" } });
  const profile = (await (await fetch(`${world.baseUrl}/profiles/gwen`)).json()) as Profile;
  expect(profile.display_name).toBe("Gwen");
});

test("an application is registered in the world", async ({ world }) => {
  const redirect_uris = ["http://127.0.0.1:4321/"];
  const { client_id } = await world.application({ owner: "ada", name: "Choir Page", redirect_uris });
  expect((await new Mock().world(world.name)).applications.map((it) => it.client_id)).toContain(client_id);
});

test("every operation of the document can be sent, and takes what it declares", async ({ world }) => {
  const limit = await world.admin.request("put", "/limits/{principal}", {
    path: { principal: "a/b" },
    body: { used: 3 },
  }).catch((error: unknown) => error);
  expect(limit).toBeInstanceOf(RefusedError);
  const found = await world.admin.request("get", "/requests", { query: { limit: 1 } });
  expect(found.requests).toEqual([]);
  const archive = await world.admin.request("get", "/export");
  await world.admin.request("post", "/import", { body: archive });
});

test("a refusal says what was wrong in the mock's words", async ({ world }) => {
  const error = await world.token("nobody").catch((refusal: unknown) => refusal);
  expect(error).toBeInstanceOf(RefusedError);
  expect((error as RefusedError).status).toBe(400);
  expect((error as RefusedError).message).toContain("nobody");
});

test("an address without a mock is told as such", async () => {
  const refused = new AdminClient("http://127.0.0.1:9/__admin").request("get", "/health");
  await expect(refused).rejects.toThrow("No mock responds at http://127.0.0.1:9/__admin. Start it by");
});

test("the token of a guarded mock is sent", async () => {
  const seen: (string | null)[] = [];
  const note: typeof fetch = (input, init) => {
    seen.push(new Headers(init?.headers).get("Authorization"));
    return fetch(input, init);
  };
  await using _ = await new Mock(undefined, { adminToken: "secret", fetch: note }).createWorld();
  expect(seen).toEqual(["Bearer secret"]);
});

test("types of the resource API are those of the document", async ({ world }) => {
  const profile = (await (await fetch(`${world.baseUrl}/profiles/ada`)).json()) as Profile;
  expect(profile.display_name satisfies string).toBe("Ada Merrowdale");
  expect(VERSION).toMatch(/^\d+\.\d+\.\d+$/);
});

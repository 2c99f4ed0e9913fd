// `world` is a fresh world of the mock for each test; it ends with the test.
const { test: base, expect } = require("@playwright/test");

const MOCK = process.env.UNDERSTUDY_URL || "http://127.0.0.1:8080";

async function call(method, url, body) {
  const answer = await fetch(url, {
    method,
    headers: { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url}: ${text}`);
  return text ? JSON.parse(text) : undefined;
}

class World {
  constructor(said) {
    this.name = said.name;
    this.baseUrl = said.base_url;
    this.authUrl = said.auth_url;
    this.adminUrl = said.admin_url;
  }

  admin(method, path, body) {
    return call(method, this.adminUrl + path, body);
  }

  async token(person, scopes) {
    return (await this.admin("POST", "/tokens", { person, scopes })).token;
  }

  freeze(now) {
    return this.admin("PUT", "/clock", { now, frozen: true });
  }

  advance(seconds) {
    return this.admin("POST", "/clock/advance", { seconds });
  }

  fault(operation, fault) {
    return this.admin("POST", "/faults", { operation, ...fault });
  }

  async calls(operation) {
    return (await this.admin("POST", "/requests/find", { operation })).requests;
  }
}

const test = base.extend({
  world: async ({}, use, testInfo) => {
    const world = new World(await call("POST", `${MOCK}/__admin/worlds`, { idle_seconds: 600 }));
    await use(world);
    if (testInfo.status !== testInfo.expectedStatus) {
      const asked = await world.admin("GET", "/requests");
      await testInfo.attach("what the mock was asked", {
        body: JSON.stringify(asked, null, 2),
        contentType: "application/json",
      });
    }
    await call("DELETE", `${MOCK}/__admin/worlds/${world.name}`);
  },
});

module.exports = { test, expect };

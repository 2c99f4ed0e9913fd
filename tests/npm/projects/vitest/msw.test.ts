import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { passThrough } from "understudy-js/msw";
import { test } from "understudy-js/vitest";
import { expect } from "vitest";

const MOCK = process.env["UNDERSTUDY_URL"]!;

test("MSW answers what it is for, and the mock answers in the world", async ({ world }) => {
  const weather = http.get("https://weather.example/today", () => HttpResponse.json({ sky: "clear" }));
  const server = setupServer(weather, passThrough(MOCK, world));
  server.listen({ onUnhandledRequest: "error" });
  try {
    const token = await world.token("ada");
    const response = await fetch(`${MOCK}/v3/me/profile`, {
      method: "PATCH",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ location: "Port Lindry" }),
    });
    expect(((await response.json()) as { location: string }).location).toBe("Port Lindry");
    expect(await (await fetch("https://weather.example/today")).json()).toEqual({ sky: "clear" });
    await fetch(`${MOCK}/v3/profiles/ada`);
  } finally {
    server.close();
  }
  expect(await world.requests({ operation: "getProfile" })).toHaveLength(1);
});

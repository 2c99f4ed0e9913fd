import { expect, test } from "understudy-js/playwright";

const CAN_WRITE = ["auth", "avatar-profile:read", "avatar-profile:manage"];
const COUNT = Number(process.env["MANY"] ?? "24");

for (let number = 0; number < COUNT; number += 1) {
  test(`world ${number} has no edits, times or requests of another one`, async ({ world }) => {
    const me = `${world.baseUrl}/me/profile`;
    const token = await world.token("ada", { scopes: CAN_WRITE, lasts: { hours: 1 } });
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const before = (await (await fetch(me, { headers })).json()) as { location: string };
    expect(before.location).not.toMatch(/^Quay /);
    const body = JSON.stringify({ location: `Quay ${number}` });
    await fetch(me, { method: "PATCH", headers, body });
    const after = (await (await fetch(me, { headers })).json()) as { location: string };
    expect(after.location).toBe(`Quay ${number}`);
    if (number % 2 === 0) await world.advance({ hours: 1 });
    expect((await fetch(me, { headers })).status).toBe(number % 2 === 0 ? 401 : 200);
    expect(await world.requests()).toHaveLength(4);
  });
}

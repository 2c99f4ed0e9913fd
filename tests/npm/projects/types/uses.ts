// What a user's compiler takes, and what it refuses; an expectation that does not hold is an error too.
import { Mock, type Avatar, type Fault, type Profile, type ServicePaths, type Token } from "understudy-js";
import { startMock } from "understudy-js/node";
import understudy from "understudy-js/vite";

const mock = new Mock();
const { admin } = mock;

const token: Token = await admin.request("post", "/tokens", { body: { person: "ada" } });
const faults: Fault[] = await admin.request("get", "/faults");
const nothing: undefined = await admin.request("delete", "/faults/{id}", { path: { id: "fault-1" } });
const archive: Blob = await admin.request("get", "/export");
await admin.request("post", "/import", { body: archive });
await admin.request("post", "/worlds");
await admin.request("get", "/requests", { query: { status: "4XX", limit: 3 } });

// @ts-expect-error - there is no such path
await admin.request("get", "/fault");
// @ts-expect-error - the path has no such method
await admin.request("put", "/faults", { body: { status: 503 } });
// @ts-expect-error - a token needs a person
await admin.request("post", "/tokens", { body: { scopes: ["auth"] } });
// @ts-expect-error - the id is missing
await admin.request("delete", "/faults/{id}");
// @ts-expect-error - the query has no such parameter
await admin.request("get", "/requests", { query: { max: 3 } });
// @ts-expect-error - no such effect
await (await mock.world()).fault({ effect: "tuncate" });
// @ts-expect-error - a profile has no such member
export const name = (profile: Profile): string => profile.full_name;

export const rating: Avatar["rating"] = "PG";
export const path: keyof ServicePaths = "/me/avatars";
export const plugin = understudy({ prefix: "/api", serve: ["--seed", "7"] });
await using running = await startMock({ serve: ["--choose", "rate-limits=off"] });
export const seen = [token.token, faults.length, nothing, running.baseUrl];

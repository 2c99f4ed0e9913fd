import type { Duration } from "./durations.js";
import type { components as AdminComponents } from "./generated/admin.js";
import type { components as ServiceComponents, paths as ServicePaths } from "./generated/service.js";

type Admin = AdminComponents["schemas"];
type Service = ServiceComponents["schemas"];

/** Options of a new world. */
export type NewWorld = Admin["NewWorld"];
/** A world as the admin API describes it. */
export type WorldDescription = Admin["World"];
/** A world with its people, tokens and applications. */
export type InhabitedWorld = Admin["InhabitedWorld"];
/** A person of a world, with user name and password. */
export type Person = Admin["WorldPerson"];
/** A person in the shape of a fixture file, to add to a world. */
export type PersonFixture = Admin["PersonFixture"];
/** A token that exists in a world from the start. */
export type WorldToken = Admin["WorldToken"];
/** An application that exists in a world from the start. */
export type WorldApplication = Admin["WorldApplication"];
/** A token that was issued by the admin API. */
export type Token = Admin["Token"];
/** The state of a world's clock. */
export type Clock = Admin["Clock"];
/** A fault to inject. */
export type NewFault = Admin["NewFault"];
/** An active fault. */
export type Fault = Admin["Fault"];
/** A stub to add: what it answers, and to whom. */
export type NewStub = Admin["NewStub"];
/** An active stub. */
export type Stub = Admin["Stub"];
/** What a request must be like to be counted or found. */
export type RequestPattern = Admin["RequestPattern"];
/** An exchange of the journal. */
export type JournalEntry = Admin["Request"];
/** An exchange and the reasons of its response. */
export type ExplainedEntry = Admin["ExplainedRequest"];
/** Which parts of the contract were used. */
export type ExercisedReport = Admin["ExercisedReport"];
/** A rate limit, and how much of it is used. */
export type Limit = Admin["Limit"];
/** Changes of a rate limit. */
export type LimitChanges = Admin["LimitChanges"];
/** A registered application. */
export type Application = Admin["Application"];
/** An application to register. */
export type NewApplication = Admin["NewApplication"];
/** A kept state of a world. */
export type Snapshot = Admin["Snapshot"];
/** The journal as HAR 1.2. */
export type Har = Admin["Har"];

/** Paths of the resource API, for a typed client such as openapi-fetch. */
export type { ServicePaths };
/** A profile, as the resource API responds with it. */
export type Profile = Service["Profile"];
/** An avatar. */
export type Avatar = Service["Avatar"];
/** Ratings of an avatar. */
export type Rating = Service["Rating"];
/** An error of the resource API. */
export type ServiceError = Service["Error"];

/** What a token is to be like. */
export interface TokenOptions {
  /** Every scope if omitted. */
  scopes?: string[];
  /** `oauth` if omitted. */
  kind?: "oauth" | "api_key";
  /** Never expires if omitted. */
  lasts?: Duration;
}

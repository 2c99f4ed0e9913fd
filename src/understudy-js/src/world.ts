import { AdminClient, type ClientOptions } from "./admin-client.js";
import { type Duration, inSeconds } from "./durations.js";
import { asText } from "./journal.js";
import type * as api from "./types.js";

/**
 * One isolated world of a running mock: people, tokens, rate limits, clock, faults and journal of its own.
 *
 * `Mock.createWorld` makes one. It ends by `close()`, or at the end of an `await using` block.
 */
export class World implements AsyncDisposable {
  /** The world's name, as its addresses contain it. */
  readonly name: string;
  /** Base URL of the resource API in this world, without a trailing slash. */
  readonly baseUrl: string;
  /** Base URL of the authorization server in this world, without a trailing slash. */
  readonly authUrl: string;
  /** The header that selects the world at the mock's plain address. */
  readonly header: Record<string, string>;
  /** The cookie that selects the world, as `name=value`. */
  readonly cookie: string;
  /** The first hundred people: slug, e-mail addresses with hashes, user name and password. */
  readonly people: api.Person[];
  /** The tokens that exist from the start. */
  readonly tokens: api.WorldToken[];
  /** The applications that exist from the start. */
  readonly applications: api.WorldApplication[];
  /** The admin API in this world, for operations without a method here. */
  readonly admin: AdminClient;
  readonly #mock: AdminClient;
  #isClosed = false;

  constructor(mock: AdminClient, description: api.InhabitedWorld, options: ClientOptions = {}) {
    this.#mock = mock;
    this.name = description.name;
    this.baseUrl = description.base_url;
    this.authUrl = description.auth_url;
    this.header = description.header;
    this.cookie = description.cookie;
    this.people = description.people;
    this.tokens = description.tokens;
    this.applications = description.applications;
    this.admin = new AdminClient(description.admin_url, options);
  }

  /** Adds a person to the world, and returns them with every default. */
  async addPerson(person: api.PersonFixture): Promise<api.PersonFixture> {
    return this.admin.request("post", "/people", { body: person });
  }

  /** Issues a token for a person, by slug; it selects this world at the mock's plain address too. */
  async token(person: string, { scopes, kind, lasts }: api.TokenOptions = {}): Promise<string> {
    const body = {
      person,
      ...(scopes && { scopes }),
      ...(kind && { kind }),
      ...(lasts !== undefined && { expires_in: Math.trunc(inSeconds(lasts)) }),
    };
    return (await this.admin.request("post", "/tokens", { body })).token;
  }

  /** Revokes a token. */
  async revoke(token: string): Promise<void> {
    await this.admin.request("delete", "/tokens", { query: { token } });
  }

  /** Registers an application, such as one with the redirect address of the page under test. */
  async application(application: api.NewApplication): Promise<api.Application> {
    return this.admin.request("post", "/applications", { body: application });
  }

  /** Registers redirect addresses of an application beside those that it has, such as that of a dev server. */
  async allowRedirects(clientId: string, redirectUris: string[]): Promise<api.Application> {
    const place = { path: { client_id: clientId } };
    const { redirect_uris } = await this.admin.request("get", "/applications/{client_id}", place);
    const body = { redirect_uris: [...new Set([...redirect_uris, ...redirectUris])] };
    return this.admin.request("patch", "/applications/{client_id}", { ...place, body });
  }

  /** Returns the world's time. */
  async now(): Promise<Date> {
    return time(await this.admin.request("get", "/clock"));
  }

  /** Stops the world's clock, at an instant if one is given, and returns its time. */
  async freeze(instant?: Date | string): Promise<Date> {
    const now = instant instanceof Date ? instant.toISOString() : instant;
    return time(await this.admin.request("put", "/clock", { body: { frozen: true, ...(now && { now }) } }));
  }

  /** Moves the world's clock forward, frozen or not, and returns its time. */
  async advance(duration: Duration): Promise<Date> {
    return time(await this.admin.request("post", "/clock/advance", { body: { seconds: inSeconds(duration) } }));
  }

  /** Injects a fault, for one operation or for all if `operation` is omitted. */
  async fault(fault: api.NewFault): Promise<api.Fault> {
    return this.admin.request("post", "/faults", { body: fault });
  }

  /** Removes a fault by its id, or every fault. */
  async removeFaults(id?: string): Promise<void> {
    if (id === undefined) await this.admin.request("delete", "/faults");
    else await this.admin.request("delete", "/faults/{id}", { path: { id } });
  }

  /**
   * Answers requests of an operation otherwise than the mock would.
   *
   * @throws {@link RefusedError} - The document does not allow the response; the message names every place.
   */
  async stub(stub: api.NewStub): Promise<api.Stub> {
    return this.admin.request("post", "/stubs", { body: stub });
  }

  /** Removes a stub by its id, or every stub. */
  async removeStubs(id?: string): Promise<void> {
    if (id === undefined) await this.admin.request("delete", "/stubs");
    else await this.admin.request("delete", "/stubs/{id}", { path: { id } });
  }

  /** Returns a readable line for each stub that has answered no request, with what did not fit. */
  async unusedStubs(): Promise<string[]> {
    const stubs = await this.admin.request("get", "/stubs");
    return stubs.flatMap(({ why_unused }) => why_unused ?? []);
  }

  /** Returns the matching requests, the oldest first. */
  async requests(pattern: api.RequestPattern = {}): Promise<api.JournalEntry[]> {
    return (await this.admin.request("post", "/requests/find", { body: pattern })).requests;
  }

  /** Returns one exchange by its number in the journal, and the reasons of its response. */
  async explain(id: number): Promise<api.ExplainedEntry> {
    return this.admin.request("get", "/requests/{id}", { path: { id } });
  }

  /** Returns the journal as text: a line for each request, for each note on it, and for each unused stub. */
  async journal(): Promise<string> {
    const requests = asText(await this.requests());
    return [requests || "The mock received no request.", ...(await this.unusedStubs())].join("\n");
  }

  /** Returns the journal as HAR 1.2. */
  async har(): Promise<api.Har> {
    return this.admin.request("get", "/requests/har");
  }

  /** Reports which operations, statuses and identities were used in this world. */
  async exercised(threshold?: number): Promise<api.ExercisedReport> {
    return this.admin.request("get", "/exercised", { query: threshold === undefined ? {} : { threshold } });
  }

  /** Lowers the rate limit of a person or of `anonymous`, or uses up some of it. */
  async limit(principal: string, changes: api.LimitChanges): Promise<api.Limit> {
    return this.admin.request("put", "/limits/{principal}", { path: { principal }, body: changes });
  }

  /** Chooses options of switches of `rules.yaml`, such as `{"rate-limits": "off"}`. */
  async choose(choices: Record<string, string>): Promise<void> {
    await this.admin.request("patch", "/choices", { body: choices });
  }

  /** Keeps the state of the world under a name. */
  async snapshot(name: string): Promise<void> {
    await this.admin.request("post", "/snapshots", { body: { name } });
  }

  /** Restores the state that `snapshot` kept under this name. */
  async restore(name: string): Promise<void> {
    await this.admin.request("post", "/snapshots/{name}/restore", { path: { name } });
  }

  /** Restores the state in which the world began, and empties its journal. */
  async reset(): Promise<void> {
    await this.admin.request("post", "/reset");
  }

  /** Deletes the world, once: an `await using` block may end after it. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#mock.request("delete", "/worlds/{name}", { path: { name: this.name } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function time(clock: api.Clock): Date {
  return new Date(clock.now);
}

import { AdminClient, type ClientOptions, environment } from "./admin-client.js";
import type { ExercisedReport, NewWorld } from "./types.js";
import { World } from "./world.js";

const DEFAULT_URL = "http://127.0.0.1:8080";

/**
 * A running mock.
 *
 * @example
 * ```ts
 * const mock = new Mock();
 * await using world = await mock.createWorld({ people: ["ada"] });
 * const token = await world.token("ada", { scopes: ["auth", "avatar-profile:read"] });
 * await world.advance({ weeks: 2 });
 * ```
 */
export class Mock {
  /** Address of the mock, without a path. */
  readonly url: string;
  /** The admin API of the default world. */
  readonly admin: AdminClient;

  /**
   * @param url - Address of the mock, without a path; `UNDERSTUDY_URL`, else port 8080 of this machine if omitted.
   *   In a browser it must be of the page's own origin, such as `/mock` of the Vite plugin.
   */
  constructor(
    url: string = environment()["UNDERSTUDY_URL"] || DEFAULT_URL,
    readonly options: ClientOptions = {},
  ) {
    this.url = url.replace(/\/+$/, "");
    this.admin = new AdminClient(`${this.url}/__admin`, options);
  }

  /** Makes a world; it is deleted by `close()`, and by itself after ten minutes without a request. */
  async createWorld(world: NewWorld = {}): Promise<World> {
    const description = await this.admin.request("post", "/worlds", { body: { idle_seconds: 600, ...world } });
    return new World(this.admin, description, this.options);
  }

  /** Returns a world that exists, by its name; `default` is the one at the plain address. */
  async world(name = "default"): Promise<World> {
    const description = await this.admin.request("get", "/worlds/{name}", { path: { name } });
    return new World(this.admin, description, this.options);
  }

  /** Returns the names of the worlds, the default one first; the first 500 of them. */
  async worldNames(): Promise<string[]> {
    const worlds = await this.admin.request("get", "/worlds", { query: { limit: 500 } });
    return worlds.map(({ name }) => name);
  }

  /** Reports which parts of the contract were used in all worlds, deleted ones included. */
  async exercised(threshold?: number): Promise<ExercisedReport> {
    const wanted = threshold === undefined ? {} : { threshold };
    return this.admin.request("get", "/exercised", { query: { worlds: "all", ...wanted } });
  }

  /** Tells whether a mock responds at the address. */
  async isRunning(): Promise<boolean> {
    return this.admin.request("get", "/health").then(
      () => true,
      () => false,
    );
  }
}

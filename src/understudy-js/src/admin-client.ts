import { RefusedError, UnderstudyError } from "./errors.js";
import type { paths } from "./generated/admin.js";

/** Methods of the admin API. */
export type Method = "get" | "put" | "post" | "patch" | "delete";

/** Paths of `openapi/admin.yaml` that have the method; the stream of events is read by `EventSource`. */
export type AdminPath<M extends Method> = Exclude<
  { [P in keyof paths]: paths[P][M] extends { responses: unknown } ? P : never }[keyof paths],
  "/requests/stream"
>;

type Operation<M extends Method, P extends AdminPath<M>> = paths[P][M];

type PathOptions<P> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { path: { [N in Name]: string | number } & (PathOptions<Rest> extends { path: infer More } ? More : unknown) }
  : unknown;

type QueryOptions<O> = O extends { parameters: { query: infer Q } }
  ? { query: Q }
  : O extends { parameters: { query?: infer Q } }
    ? { query?: NonNullable<Q> }
    : unknown;

type BodyOf<B> = B extends { content: { "application/json": infer J } } ? J : Blob | ArrayBuffer;

type BodyOptions<O> = O extends { requestBody: infer B }
  ? { body: BodyOf<B> }
  : O extends { requestBody?: infer B }
    ? [NonNullable<B>] extends [never]
      ? unknown
      : { body?: BodyOf<NonNullable<B>> }
    : unknown;

/** What an operation takes: `path` and `query` parameters and a `body`, as the document has them. */
export type RequestOptions<M extends Method, P extends AdminPath<M>> = PathOptions<P> &
  QueryOptions<Operation<M, P>> &
  BodyOptions<Operation<M, P>>;

type Succeeded<O> = O extends { responses: infer R } ? R[keyof R & (200 | 201 | 204)] : never;

/** What an operation returns: JSON as the document declares it, a Blob, or nothing. */
export type Result<M extends Method, P extends AdminPath<M>> =
  Succeeded<Operation<M, P>> extends { content: infer C }
    ? C extends { "application/json": infer J }
      ? J
      : Blob
    : undefined;

type Arguments<T> = unknown extends T ? [options?: undefined] : Partial<T> extends T ? [options?: T] : [options: T];

interface AnyOptions {
  path?: Record<string, string | number>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** How a client reaches the mock. */
export interface ClientOptions {
  /** The token of `serve --admin-token`; `UNDERSTUDY_ADMIN_TOKEN` if omitted. Not needed on the mock's machine. */
  adminToken?: string;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

/**
 * Sends requests to the admin API of a mock or of a world, typed by `openapi/admin.yaml`.
 *
 * @example
 * ```ts
 * const admin = new AdminClient("http://127.0.0.1:8080/__admin");
 * const { now } = await admin.request("post", "/clock/advance", { body: { seconds: 60 } });
 * ```
 */
export class AdminClient {
  readonly #fetch: typeof fetch;
  readonly #headers: Record<string, string>;

  /** @param url - Address of the admin API, ending in `/__admin`. */
  constructor(
    readonly url: string,
    readonly options: ClientOptions = {},
  ) {
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    const token = options.adminToken ?? environment()["UNDERSTUDY_ADMIN_TOKEN"];
    this.#headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  }

  /**
   * Sends one request and returns what the document declares for its success.
   *
   * @throws {@link RefusedError} - The admin API refused the request.
   * @throws {@link UnderstudyError} - No mock responds at the address.
   */
  async request<M extends Method, P extends AdminPath<M>>(
    method: M,
    path: P,
    ...[options]: Arguments<RequestOptions<M, P>>
  ): Promise<Result<M, P>> {
    const { path: parameters = {}, query = {}, body } = (options ?? {}) as AnyOptions;
    const address = `${this.url}${filled(path, parameters)}${asQuery(query)}`;
    const response = await this.#send(method.toUpperCase(), address, body);
    return (await content(response)) as Result<M, P>;
  }

  async #send(method: string, address: string, body: unknown): Promise<Response> {
    const init: RequestInit = { method, headers: { ...this.#headers } };
    if (body instanceof Blob || body instanceof ArrayBuffer) {
      init.body = body;
      init.headers = { ...this.#headers, "Content-Type": "application/zip" };
    } else if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { ...this.#headers, "Content-Type": "application/json" };
    }
    const response = await this.#fetch(address, init).catch((cause: unknown) => {
      const advice = "Start it by `npx understudy-js serve`, or set UNDERSTUDY_URL to its address.";
      throw new UnderstudyError(`No mock responds at ${this.url}. ${advice}`, { cause });
    });
    if (!response.ok) throw new RefusedError(`${method} ${address}`, response.status, await detail(response));
    return response;
  }
}

/** Returns the variables of the process; none in a browser. */
export function environment(): Record<string, string | undefined> {
  return typeof process === "undefined" ? {} : process.env;
}

function filled(path: string, parameters: Record<string, string | number>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parameters[name])));
}

function asQuery(query: Record<string, unknown>): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}

async function content(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const type = response.headers.get("Content-Type") ?? "";
  return type.includes("json") ? response.json() : response.blob();
}

async function detail(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const problem = JSON.parse(text) as { detail?: unknown };
    return typeof problem.detail === "string" ? problem.detail : text;
  } catch {
    return text;
  }
}

import { styleText } from "node:util";
import type { Plugin, ProxyOptions, ViteDevServer } from "vite";
import { RefusedError } from "./errors.js";
import { publish } from "./launcher/dev-server.js";
import { type RunningMock, startMock } from "./launcher/start.js";
import { Mock } from "./mock.js";

/** Options of the plugin. */
export interface UnderstudyPluginOptions {
  /** Path of the dev server under which the whole mock is; `/mock` if omitted. */
  prefix?: string;
  /** Options of `understudy serve`, such as `["--choose", "rate-limits=off"]`. */
  serve?: string[];
  /** Applications that may redirect to a path of the dev server; `{"browser-app": "/"}` if omitted. */
  redirects?: Record<string, string>;
}

/**
 * Vite's plugin: a mock that starts and stops with the dev server, and is at `/mock` of it.
 *
 * Pages find it by `import.meta.env.VITE_UNDERSTUDY_BASE_URL` (the resource API) and
 * `import.meta.env.VITE_UNDERSTUDY_AUTH_URL` (the authorization server, which is at the same address).
 */
export default function understudy(options: UnderstudyPluginOptions = {}): Plugin {
  const { prefix = "/mock", serve = [], redirects = { "browser-app": "/" } } = options;
  let mock: RunningMock | undefined;
  let withdraw = (): void => undefined;
  return {
    name: "understudy",
    apply: (_, { command, isPreview }) => command === "serve" && !isPreview && !process.env["VITEST"],

    async config() {
      mock = await startMock({ serve: ["--single-port", ...serve] });
      const { url, baseUrl, authUrl } = mock;
      withdraw = publish(url);
      const isSinglePort = new URL(authUrl).origin === url;
      const address = `import.meta.env.VITE_UNDERSTUDY`;
      return {
        server: { proxy: { [`^${prefix}/`]: proxyTo(url, prefix) } },
        define: {
          [`${address}_BASE_URL`]: JSON.stringify(prefix + new URL(baseUrl).pathname),
          [`${address}_AUTH_URL`]: JSON.stringify(isSinglePort ? prefix : authUrl),
        },
      };
    },

    configureServer(server) {
      if (mock === undefined) return;
      const { url } = mock;
      server.httpServer?.once("listening", () => {
        // The addresses are resolved by a later listener of the same event.
        setImmediate(() => void allowRedirects(server, url, redirects));
      });
      printAddresses(server, mock, prefix);
    },

    async buildEnd() {
      withdraw();
      await mock?.stop();
    },
  };
}

/** Sends the headers that the mock's links follow. */
function proxyTo(target: string, prefix: string): ProxyOptions {
  return {
    target,
    xfwd: true,
    headers: { "X-Forwarded-Prefix": prefix },
    rewrite: (path) => path.slice(prefix.length),
  };
}

/** Registers addresses of the dev server as redirect addresses of the default world's applications. */
async function allowRedirects(server: ViteDevServer, url: string, redirects: Record<string, string>): Promise<void> {
  const world = await new Mock(url).world();
  for (const [clientId, path] of Object.entries(redirects)) {
    try {
      await world.allowRedirects(clientId, sites(server).map((site) => new URL(path, site).href));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      server.config.logger.warn(`understudy: sign-in by ${clientId} will not return here: ${error.detail}`);
    }
  }
}

/** Returns the addresses at which browsers reach the dev server; `localhost` has a second name. */
function sites(server: ViteDevServer): string[] {
  const { local = [], network = [] } = server.resolvedUrls ?? {};
  return [...local, ...network].flatMap((url) => [url, url.replace("//localhost:", "//127.0.0.1:")]);
}

function printAddresses(server: ViteDevServer, mock: RunningMock, prefix: string): void {
  const printUrls = server.printUrls.bind(server);
  server.printUrls = () => {
    printUrls();
    const site = (server.resolvedUrls?.local[0] ?? "").replace(/\/$/, "");
    print(server, "Mock", `${site}${prefix}${new URL(mock.baseUrl).pathname}`);
    print(server, "Console", `${site}${prefix}/__console`);
  };
}

function print(server: ViteDevServer, name: string, address: string): void {
  const label = styleText("bold", name) + ":" + " ".repeat(8 - name.length);
  server.config.logger.info(`  ${styleText("green", "➜")}  ${label}${styleText("cyan", address)}`);
}

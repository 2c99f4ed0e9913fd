import { defineConfig } from "@playwright/test";

const PORT = Number(process.env["PORT"] ?? "5173");
const url = `http://127.0.0.1:${PORT}/`;

// The dev server starts the mock, and the set-up of the tests finds it.
export default defineConfig({
  globalSetup: "understudy-js/global-setup",
  testDir: "tests",
  fullyParallel: true,
  reporter: "list",
  timeout: 120_000, // a busy machine is not a failure
  expect: { timeout: 60_000 },
  webServer: { command: `vite --host 127.0.0.1 --port ${PORT} --strictPort`, url, timeout: 120_000 },
  use: {
    baseURL: url,
    launchOptions: {
      // left out: the browser that `npx playwright install chromium` fetched
      executablePath: process.env["CHROMIUM"],
      chromiumSandbox: process.getuid?.() !== 0,
    },
  },
});

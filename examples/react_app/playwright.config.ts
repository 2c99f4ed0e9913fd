import { defineConfig } from "@playwright/test";

const PORT = Number(process.env["PORT"] ?? "5173");
const url = `http://127.0.0.1:${PORT}/`;

// `npm test` runs this with a mock, which the dev server and the tests find by UNDERSTUDY_URL.
export default defineConfig({
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

import { defineConfig } from "@playwright/test";

export default defineConfig({
  globalSetup: "understudy-js/global-setup",
  timeout: 120_000,
  reporter: "list",
  use: {
    baseURL: process.env["BASE_URL"]!,
    launchOptions: { executablePath: process.env["CHROMIUM"], chromiumSandbox: process.getuid?.() !== 0 },
  },
});

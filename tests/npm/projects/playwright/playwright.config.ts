import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: ".",
  fullyParallel: true,
  workers: 2,
  timeout: 120_000,
  reporter: [["json", { outputFile: "report.json" }]],
  globalSetup: "understudy-js/global-setup",
});

import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: ".",
  fullyParallel: true,
  workers: 2,
  reporter: [["json", { outputFile: "report.json" }]],
  globalSetup: "understudy-js/global-setup",
});

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { globalSetup: ["understudy-js/global-setup"], pool: "threads", testTimeout: 120_000, hookTimeout: 120_000 },
});

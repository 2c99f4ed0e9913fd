import { defineConfig } from "vitest/config";

export default defineConfig({ test: { globalSetup: ["understudy-js/global-setup"], pool: "threads" } });

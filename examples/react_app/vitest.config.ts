import { defineConfig } from "vitest/config";

// Neither a mock nor Python: `npm run handlers` has written what a mock answered.
export default defineConfig({
  test: { include: ["offline/*.test.js"], env: { VITE_UNDERSTUDY_BASE_URL: "http://service.example/v3" } },
});

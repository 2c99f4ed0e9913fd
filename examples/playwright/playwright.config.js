// Run it with a mock of its own: understudy exec -- npx playwright test
const { defineConfig } = require("@playwright/test");

module.exports = defineConfig({
  testDir: ".",
  fullyParallel: true,
  workers: 2,
  retries: 0,
  reporter: "line",
  use: {
    // left out: the browser that `npx playwright install chromium` fetched
    launchOptions: {
      executablePath: process.env.CHROMIUM || undefined,
      chromiumSandbox: process.getuid?.() !== 0,
    },
  },
});

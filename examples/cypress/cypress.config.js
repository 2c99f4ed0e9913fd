// Run it with a mock of its own: npx understudy-js exec -- npx cypress run
import { defineConfig } from "cypress";
import { tasks } from "./tasks.js";

export default defineConfig({
  e2e: {
    specPattern: "e2e/*.cy.js",
    supportFile: "support.js",
    setupNodeEvents(on) {
      on("task", tasks());
    },
  },
});

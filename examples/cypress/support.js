// A world for each test; what its page sends to the mock is sent in the world.
beforeEach(() => {
  cy.task("understudy:world", {}).then((world) => {
    cy.wrap(world, { log: false }).as("world");
    for (const url of [world.baseUrl, world.authUrl].map((it) => new URL(it).origin)) {
      cy.intercept(`${url}/**`, (request) => Object.assign(request.headers, world.header));
    }
  });
});

afterEach(function () {
  const { name } = this.world;
  if (this.currentTest.state === "failed") {
    cy.task("understudy:journal", { world: name }).then((journal) => cy.log(journal));
  }
  cy.task("understudy:close", { world: name });
});

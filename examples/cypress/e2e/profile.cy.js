it("looks somebody up, and copes with an outage", function () {
  const ada = `${this.world.baseUrl}/profiles/ada`;
  cy.request(ada).its("body.display_name").should("eq", "Ada Merrowdale");
  cy.task("understudy:fault", { world: this.world.name, operation: "getProfile", status: 503, times: 1 });
  cy.request({ url: ada, failOnStatusCode: false }).its("status").should("eq", 503);
});

it("is signed out after two weeks", function () {
  const { name, baseUrl } = this.world;
  cy.task("understudy:token", { world: name, person: "ada", lasts: { weeks: 2 } }).then((token) => {
    cy.task("understudy:advance", { world: name, weeks: 2 });
    const headers = { Authorization: `Bearer ${token}` };
    cy.request({ url: `${baseUrl}/me/profile`, headers, failOnStatusCode: false })
      .its("status")
      .should("eq", 401);
  });
});

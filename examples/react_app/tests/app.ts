import type { Page } from "@playwright/test";
import { test as base } from "understudy-js/playwright";

/** What a person does on the page. */
export class App {
  constructor(
    readonly page: Page,
    readonly password: string,
  ) {}

  async find(who: string): Promise<void> {
    await this.page.goto("/");
    await this.page.getByLabel("E-mail address or name").fill(who);
    await this.page.getByRole("button", { name: "Find" }).click();
  }

  async signIn(): Promise<void> {
    await this.page.goto("/");
    await this.page.getByRole("button", { name: "Sign in" }).click();
    await this.page.getByLabel(/user ?name/i).fill("ada");
    await this.page.getByLabel(/password/i).fill(this.password);
    await this.page.getByRole("button", { name: /sign in/i }).click();
    await this.page.getByRole("button", { name: /approve|allow/i }).click();
  }
}

export const test = base.extend<{ app: App }>({
  app: async ({ page, world, baseURL }, use) => {
    await world.allowRedirects("browser-app", [baseURL!]);
    await use(new App(page, world.people.find(({ slug }) => slug === "ada")!.password));
  },
});

export { expect } from "understudy-js/playwright";

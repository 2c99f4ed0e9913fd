// Tests run in the browser, and a page of another origin may not use the admin API: tasks run in Node.
import { Mock } from "understudy-js";

/** Returns the tasks by which tests make and steer worlds. Cypress wants null where there is no result. */
export function tasks() {
  const mock = new Mock();
  const worlds = new Map();
  return {
    async "understudy:world"(options) {
      const world = await mock.createWorld(options ?? {});
      worlds.set(world.name, world);
      const { name, baseUrl, authUrl, header, cookie, people } = world;
      return { name, baseUrl, authUrl, header, cookie, people };
    },
    async "understudy:token"({ world, person, ...options }) {
      return worlds.get(world).token(person, options);
    },
    async "understudy:advance"({ world, ...duration }) {
      return (await worlds.get(world).advance(duration)).toISOString();
    },
    async "understudy:fault"({ world, ...fault }) {
      return worlds.get(world).fault(fault);
    },
    async "understudy:journal"({ world }) {
      return worlds.get(world).journal();
    },
    async "understudy:close"({ world }) {
      await worlds.get(world).close();
      worlds.delete(world);
      return null;
    },
  };
}

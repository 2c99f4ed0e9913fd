// MSW's handlers have protected members: those of its modules and of its CommonJS are two types.
import { setupServer } from "msw/node";
import { passThrough } from "understudy-js/msw";
import type { World } from "understudy-js";

export const serverFor = (world: World) => setupServer(passThrough("http://127.0.0.1:8080", world));

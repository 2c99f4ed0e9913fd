// Lets node find k6's own modules: stubs that lie beside this file.
import { register } from 'node:module';

globalThis.__ENV = process.env;
register('./resolving.mjs', import.meta.url);

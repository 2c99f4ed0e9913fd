// Runs the script named last, once, and prints what its checks found.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { seen } from './k6.mjs';

const module = process.argv[2].replace(/\.js$/, '.mjs');
writeFileSync(module, readFileSync(process.argv[2]));
const script = await import(pathToFileURL(module).href);
if (script.options.iterations !== 1) throw new Error('one iteration is one run');
globalThis.__VU = 1;
const data = script.setup ? script.setup() : undefined;
script.default(data);
if (script.teardown) script.teardown(data);
console.log(JSON.stringify(seen));

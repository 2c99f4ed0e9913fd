// Runs the script named last, once, and prints what its checks found.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { seen } from './k6.mjs';

const module = process.argv[2].replace(/\.js$/, '.mjs');
writeFileSync(module, readFileSync(process.argv[2]));
const script = await import(pathToFileURL(module).href);
if (script.options.iterations !== 1) throw new Error('one iteration is one run');
script.default();
console.log(JSON.stringify(seen));

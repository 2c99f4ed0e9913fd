// Writes the types of the documents, the version and the licence into the package, and compiles it.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
const REPOSITORY = dirname(dirname(PACKAGE));
const GENERATED = join(PACKAGE, "src", "generated");
const require = createRequire(import.meta.url);

mkdirSync(GENERATED, { recursive: true });
for (const name of ["admin", "service"]) {
  const document = pathToFileURL(join(REPOSITORY, "openapi", `${name}.yaml`));
  // An object without members may have any: a rule or a switch in an explanation.
  const types = astToString(await openapiTS(document, { emptyObjectsUnknown: true }));
  writeFileSync(join(GENERATED, `${name}.ts`), `// Made from openapi/${name}.yaml by npm run build.\n${types}`);
}
const { version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
writeFileSync(join(GENERATED, "version.ts"), `export const VERSION = ${JSON.stringify(version)};\n`);

const compiler = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
// Only ES modules know import.meta, and only CommonJS knows __dirname.
const formats = { "tsconfig.json": "import.meta.dirname", "tsconfig.cjs.json": "__dirname" };
rmSync(join(PACKAGE, "dist"), { recursive: true, force: true });
for (const [project, directory] of Object.entries(formats)) {
  writeFileSync(join(GENERATED, "place.ts"), `export const PLACE: string = ${directory};\n`);
  execFileSync(process.execPath, [compiler, "--project", join(PACKAGE, project)], { stdio: "inherit" });
}
writeFileSync(join(PACKAGE, "dist", "cjs", "package.json"), '{"type": "commonjs"}\n');
chmodSync(join(PACKAGE, "dist", "esm", "launcher", "cli.js"), 0o755);
copyFileSync(join(REPOSITORY, "LICENSE"), join(PACKAGE, "LICENSE"));

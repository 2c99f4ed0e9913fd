/**
 * Writes a request as a command, or as the code of a client or a test.
 * @module
 */

const NOT_COPIED = /^(?:host|connection|content-length|accept-encoding|keep-alive|te|upgrade|sec-.*|x-mock-console)$/i;
const USUAL = { accept: "*/*", "user-agent": "" };

/**
 * @typedef {object} Sendable A request that can be sent again.
 * @property {string} method
 * @property {string} url Absolute.
 * @property {Record<string, string>} headers
 * @property {string} [text] The body, if it is text.
 * @property {string} [base64] The body, if it is not.
 */

/**
 * Returns an exchange of the journal as a request to send: without what a client adds by itself.
 *
 * @param {any} exchange
 * @returns {Sendable}
 */
export function sendable(exchange) {
  const { request } = exchange;
  const headers = Object.entries(request.headers).filter(
    ([name, text]) => !NOT_COPIED.test(name) && USUAL[name.toLowerCase()] !== text && name.toLowerCase() !== "user-agent",
  );
  const sent = { method: request.method, url: request.absoluteUrl, headers: Object.fromEntries(headers.map(unmasked)) };
  if (!request.bodyAsBase64) return sent;
  return request.body === undefined ? { ...sent, base64: request.bodyAsBase64 } : { ...sent, text: request.body };
}

/** The journal masks credentials: a variable of the shell takes their place. */
function unmasked([name, text]) {
  return [name, text.replace("***", "$TOKEN")];
}

/**
 * Returns a curl command.
 *
 * @param {Sendable} request
 */
export function curl({ method, url, headers, text, base64 }) {
  const parts = [base64 ? `echo ${base64} | base64 -d | curl` : "curl"];
  const hasBody = Boolean(text || base64);
  if (method === "HEAD") parts.push("--head");
  else if (method !== (hasBody ? "POST" : "GET")) parts.push(`-X ${method}`);
  parts.push(shell(url));
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${shell(`${name}: ${value}`)}`);
  if (text) parts.push(text === "@FILE" ? "--data-binary @FILE" : `--data-raw ${shell(text)}`);
  if (base64) parts.push("--data-binary @-");
  return parts.join(" ");
}

function shell(text) {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (text.includes("$TOKEN") || text.includes("$ADMIN_TOKEN")) return `"${text.replace(/["\\`]/g, "\\$&")}"`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fetchCode({ method, url, headers, text, base64 }) {
  const body = base64 ? `Uint8Array.from(atob(${json(base64)}), (c) => c.charCodeAt(0))` : text && json(text);
  const options = [
    method === "GET" ? null : `  method: ${json(method)},`,
    Object.keys(headers).length ? `  headers: ${json(headers)},` : null,
    body ? `  body: ${body},` : null,
  ].filter(Boolean);
  const argument = options.length ? `, {\n${options.join("\n")}\n}` : "";
  return `const response = await fetch(${json(url)}${argument});\nconsole.log(response.status, await response.text());`;
}

function pythonCall(client, { method, url, headers, text, base64 }) {
  const lines = [
    `    ${json(method)},`,
    `    ${json(url)},`,
    Object.keys(headers).length ? `    headers=${json(headers)},` : null,
    text ? `    content=${json(text)}.encode(),` : null,
    base64 ? `    content=base64.b64decode(${json(base64)}),` : null,
  ].filter(Boolean);
  return `${client}.request(\n${lines.join("\n")}\n)`;
}

function httpx(request) {
  const imports = request.base64 ? "import base64\n\nimport httpx" : "import httpx";
  return `${imports}\n\nresponse = ${pythonCall("httpx", request)}\nprint(response.status_code, response.text)`;
}

function httpFile({ method, url, headers, text }) {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value.replace("$TOKEN", "{{token}}")}`);
  return [`${method} ${url}`, ...fields, ...(text ? ["", text] : [])].join("\n");
}

function pytest(request, status) {
  const imports = request.base64 ? "import base64\n\nimport httpx" : "import httpx";
  const call = pythonCall("httpx", request).replaceAll("\n", "\n    ");
  return `${imports}\n\n\ndef test_the_response_is_${status}():\n    response = ${call}\n    assert response.status_code == ${status}`;
}

function playwright({ method, url, headers, text, base64 }, status) {
  const lines = [
    `    method: ${json(method)},`,
    Object.keys(headers).length ? `    headers: ${json(headers)},` : null,
    text ? `    data: ${json(text)},` : null,
    base64 ? `    data: Buffer.from(${json(base64)}, "base64"),` : null,
  ].filter(Boolean);
  return [
    'import { expect, test } from "@playwright/test";',
    "",
    `test("the response is ${status}", async ({ request }) => {`,
    `  const response = await request.fetch(${json(url)}, {`,
    ...lines,
    "  });",
    `  expect(response.status()).toBe(${status});`,
    "});",
  ].join("\n");
}

function json(value) {
  return JSON.stringify(value);
}

/**
 * The forms that a request can be copied in, by their labels.
 *
 * @type {Record<string, (request: Sendable, status: number) => string>}
 */
export const FORMATS = {
  curl,
  fetch: fetchCode,
  httpx,
  ".http": httpFile,
  pytest,
  Playwright: playwright,
};

/**
 * Recognises hashes of e-mail addresses that were not trimmed and put in lower case, and MD5 hashes.
 * @module
 */

const HASH = /(?<![0-9a-z])[0-9a-f]{64}(?![0-9a-z])/i;
const MD5 = /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/i;

/** What clients do to an address before they hash it, and should not. */
const MISTAKES = [
  ["was put in upper case", (email) => email.toUpperCase()],
  ["kept its capital first letter", (email) => email[0].toUpperCase() + email.slice(1)],
  ["kept its capital letters", (email) => email.replace(/(^|[.@_-])([a-z])/g, (_, before, letter) => before + letter.toUpperCase())],
  ["kept its capital letters", (email) => email.replace(/^[^@]+/, (name) => name.replace(/(^|[._-])([a-z])/g, (_, before, letter) => before + letter.toUpperCase()))],
  ["ended with a line break, as echo without -n adds one", (email) => `${email}\n`],
  ["ended with a space", (email) => `${email} `],
  ["began with a space", (email) => ` ${email}`],
  ["stood in quotes", (email) => `"${email}"`],
  ["began with mailto:", (email) => `mailto:${email}`],
];

/** @param {string} url @returns {boolean} Whether it holds what looks like a hash of either kind. */
export function hasHash(url) {
  return HASH.test(url) || hasMd5(url);
}

/** @param {string} url @returns {boolean} Whether it holds what looks like an MD5 hash. */
export function hasMd5(url) {
  return MD5.test(url);
}

/**
 * Returns whose hash a URL was meant to hold, and what went wrong before hashing.
 *
 * @param {string} url
 * @param {any[]} people As the admin API lists them.
 * @returns {Promise<{person: string, email: string, mistake: string, url: string} | null>}
 */
export async function misread(url, people) {
  const hash = url.match(HASH)?.[0].toLowerCase();
  if (!hash || !crypto.subtle) return null;
  for (const { slug, emails } of people) {
    for (const { email, hash: right } of emails) {
      for (const [mistake, spoil] of MISTAKES) {
        if ((await sha256(spoil(email))) === hash) return { person: slug, email, mistake, url: url.replace(HASH, right) };
      }
    }
  }
  return null;
}

async function sha256(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

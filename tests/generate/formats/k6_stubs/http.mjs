// Sends in the same call, as k6 does: curl waits, where node would not.
import { spawnSync } from 'node:child_process';

export default {
  setResponseCallback() {},
  request(method, url, body, { headers, redirects }) {
    if (redirects !== 0) throw new Error('redirects must not be followed');
    const words = ['--silent', '--path-as-is', '--globoff', '--max-time', '30'];
    words.push('--write-out', '\n%{http_code} %{redirect_url}');
    words.push(...(method === 'HEAD' ? ['--head'] : ['--request', method]));
    for (const [name, text] of Object.entries(headers)) {
      words.push('--header', text.trim() ? `${name}: ${text}` : `${name};`);
    }
    if (!Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')) {
      words.push('--header', 'Content-Type:');
    }
    const input = body === null ? undefined : Buffer.from(body);
    if (input !== undefined) words.push('--data-binary', '@-');
    const done = spawnSync('curl', [...words, url], { input, encoding: 'utf-8', maxBuffer: 2 ** 26 });
    const place = done.stdout.lastIndexOf('\n');
    const [status, location] = done.stdout.slice(place + 1).split(' ');
    const found = location ? { Location: location } : {};
    return { status: Number(status), headers: found, body: done.stdout.slice(0, place), error: done.stderr };
  },
};

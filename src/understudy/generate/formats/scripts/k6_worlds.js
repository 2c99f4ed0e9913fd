// each virtual user has a world of the mock to itself: it sees no writes and no limits of the others
const world = {};

function callAdmin(method, path, body) {
  const headers = { 'Content-Type': 'application/json' };
  if (__ENV.UNDERSTUDY_ADMIN_TOKEN) headers.Authorization = `Bearer ${__ENV.UNDERSTUDY_ADMIN_TOKEN}`;
  const mock = (__ENV.BASE_URL || defaults.BASE_URL).replace(/\/[^/]*$/, '');
  return http.request(method, `${mock}/__admin${path}`, body, { headers, redirects: 0, tags: { name: 'world' } });
}

export function setup() {
  return { run: `load-${Date.now().toString(36)}` };
}

function enterWorld(data) {
  if (world.BASE_URL) return;
  const wanted = { name: `${data.run}-${__VU}`, idle_seconds: 600 };
  const response = callAdmin('POST', '/worlds', JSON.stringify(wanted));
  if (response.status !== 201) throw new Error(`no world was made: ${response.status} ${response.body}`);
  const made = JSON.parse(response.body);
  world.BASE_URL = made.base_url;
  world.AUTH_URL = made.auth_url;
}

export function teardown(data) {
  const made = [];
  let path = '/worlds?limit=500';
  while (path) {
    const page = callAdmin('GET', path, null);
    if (page.status !== 200) throw new Error(`worlds are left: ${page.status} ${page.body}`);
    made.push(...JSON.parse(page.body).map((each) => each.name).filter((name) => name.startsWith(`${data.run}-`)));
    const next = /\/__admin([^>]*)>; rel="next"/.exec(page.headers.Link || '');
    path = next && next[1];
  }
  for (const name of made) callAdmin('DELETE', `/worlds/${name}`, null);
}

// Lets Dredd hold the mock to its document, status by status:
//   dredd openapi/service.yaml http://127.0.0.1:8080/v3 --hookfiles=examples/dredd/hooks.js
// Each transaction starts from a fresh world. Where a success or 404 is expected, the mock's own response is
// judged; the other statuses that the document declares are asked for with `Prefer`.
const hooks = require('hooks');

const token = { Authorization: 'Bearer ada-full' };

// The document allows a second status of some successes, which other deployments respond with.
const secondStatus = /(Upload an avatar > 201|Delete an avatar > 200|Set the avatar of an e-mail address > 200)/;

// Dredd cannot make a picture of its own: a green square as a PNG, in Base64.
const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAUUlEQVR42u3PMQ0AMAgAMJgahCEC+VPBQdI6aNZ0XPbiOAEBAQEBAQEBAQEB' +
  'AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAYF9H0KPAYRtr0VHAAAAAElFTkSuQmCC';

const identifier = /(?<=\/(profiles|qr-code|avatars)\/)\w+/;

function upload(request) {
  const part = 'Content-Disposition: form-data; name="data"; filename="picture.png"\r\nContent-Type: image/png\r\n\r\n';
  const end = '\r\n--picture--\r\n';
  const bytes = Buffer.concat([`--picture\r\n${part}`, Buffer.from(picture, 'base64'), end].map((it) => Buffer.from(it)));
  request.headers['Content-Type'] = 'multipart/form-data; boundary=picture';
  request.body = bytes.toString('base64');
  request.bodyEncoding = 'base64';
}

async function prepare(transaction) {
  const { request, expected } = transaction;
  const site = `${transaction.protocol}//${transaction.host}:${transaction.port}`;
  Object.assign(request.headers, token);
  await fetch(`${site}/__admin/reset`, { method: 'POST' });
  if (expected.statusCode === '404' && identifier.test(transaction.fullPath)) {
    transaction.fullPath = transaction.fullPath.replace(identifier, 'unknown');
    request.headers['X-Mock-Choose'] = 'qr-unknown-hash=404';
  } else if (Number(expected.statusCode) >= 300) {
    request.headers.Prefer = `code=${expected.statusCode}`;
  } else if (secondStatus.test(transaction.name)) {
    transaction.skip = true;
  } else if (transaction.name.includes('Upload an avatar')) {
    upload(request);
  } else {
    const avatars = await (await fetch(`${site}/v3/me/avatars`, { headers: token })).json();
    transaction.fullPath = transaction.fullPath.replace(/(?<=avatars\/)\w+/, avatars[1].image_id);
  }
}

hooks.beforeEach((transaction, done) => prepare(transaction).then(() => done()));

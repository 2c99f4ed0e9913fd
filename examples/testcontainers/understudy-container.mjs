// The mock as a container that tests start and stop; needs the image (docs/how-to/containers.md).
//   const mock = await startUnderstudy();
//   const client = new MyClient(mock.baseUrl);
//   await mock.container.stop();
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { GenericContainer, Wait, getContainerRuntimeClient } from 'testcontainers';

export async function startUnderstudy({ image = 'understudy', options = [] } = {}) {
  // the ports are chosen before the start, so that links in responses lead to them
  const host = (await getContainerRuntimeClient()).info.containerRuntime.host;
  const [port, authPort] = [await freePort(), await freePort()];
  const url = `http://${host}:${port}`;
  const authUrl = `http://${host}:${authPort}`;
  const adminToken = randomBytes(24).toString('base64url');
  const container = await new GenericContainer(image)
    .withExposedPorts({ container: 8080, host: port }, { container: 8081, host: authPort })
    .withEnvironment({ UNDERSTUDY_ADMIN_TOKEN: adminToken })
    .withCommand([
      ...['serve', '--host', '0.0.0.0', '--public-url', url, '--public-auth-url', authUrl],
      ...options,
    ])
    .withWaitStrategy(Wait.forHttp('/__admin/health', 8080))
    .start();
  return { container, url, baseUrl: `${url}/v3`, authUrl, adminToken };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const listener = createServer();
    listener.once('error', reject);
    listener.listen(0, '127.0.0.1', () => {
      const { port } = listener.address();
      listener.close(() => resolve(port));
    });
  });
}

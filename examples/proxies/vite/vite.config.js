// Mounts the mock at /mock of Vite's dev server: the browser meets one origin, and no CORS.
// Your code calls /mock/v3/profiles/ada; every link in a response begins with the dev server's address.
const mock = process.env.UNDERSTUDY_URL ?? 'http://127.0.0.1:8080';

export default {
  server: {
    proxy: {
      '^/mock/': {
        target: mock,
        rewrite: (path) => path.slice('/mock'.length),
        xfwd: true, // sends X-Forwarded-Host and -Proto, which the mock's links follow
        headers: { 'X-Forwarded-Prefix': '/mock' },
      },
    },
  },
};

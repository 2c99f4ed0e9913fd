// Mounts the mock at /mock of Next's server. Rewrites cannot set headers, so tell the mock its address:
//   understudy serve --public-url http://localhost:3000/mock
const mock = process.env.UNDERSTUDY_URL ?? 'http://127.0.0.1:8080';

export default {
  async rewrites() {
    return [{ source: '/mock/:path*', destination: `${mock}/:path*` }];
  },
};

// Leads what Node connects to by the host names of `understudy exec --as-host` to the mock, and refuses every
// other host: fetch uses no proxy before Node 24. Loaded by NODE_OPTIONS; no module of the application changes.
"use strict";
const { Socket } = require("node:net");

const hosts = process.env.UNDERSTUDY_AS_HOSTS.split(",");
const [mock, proxy] = process.env.UNDERSTUDY_AS_PORTS.split(",").map(Number);
const { connect } = Socket.prototype;
const isHere = (host) => /^(localhost|127\.[0-9.]+|::1|\[::1\])$/.test(host);

Socket.prototype.connect = function (...given) {
  const [options, ...others] = Array.isArray(given[0]) ? given[0] : given; // net hands on its arguments as an array
  const host = typeof options === "object" ? options?.host : typeof others[0] === "string" ? others[0] : undefined;
  if (host === undefined || isHere(host)) return connect.apply(this, given);
  const callback = others.filter((each) => typeof each === "function");
  if (hosts.includes(host.toLowerCase())) {
    const isSecure = Number(typeof options === "object" ? options.port : options) === 443;
    const there = { ...(typeof options === "object" && options), host: "127.0.0.1", port: isSecure ? mock : proxy };
    return connect.call(this, there, ...callback);
  }
  const message = `understudy exec answers for ${hosts.join(", ")} only; add --as-host ${host} for this one.`;
  process.nextTick(() => this.destroy(new Error(message)));
  return this;
};

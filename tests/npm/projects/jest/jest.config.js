module.exports = {
  globalSetup: "understudy-js/global-setup",
  globalTeardown: "understudy-js/global-teardown",
  transform: {},
  maxWorkers: 1,
  testTimeout: 120_000,
};

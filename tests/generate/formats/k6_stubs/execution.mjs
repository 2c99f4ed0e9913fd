export default { instance: { vusInitialized: 1 } };

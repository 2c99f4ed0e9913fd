const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Calls back when the process ends, by itself or by a signal, and returns a function that cancels it.
 *
 * Node emits no `exit` where a signal ends the process by default; where nobody else handles the signal, it is raised
 * again, so that the process ends by it all the same.
 */
export function onEnd(callback: () => void): () => void {
  process.once("exit", callback);
  const handlers = SIGNALS.map((signal) => {
    const handle = (): void => {
      callback();
      cancel();
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    };
    // First, so that a listener that runs once is still counted.
    process.prependListener(signal, handle);
    return [signal, handle] as const;
  });
  const cancel = (): void => {
    process.removeListener("exit", callback);
    for (const [signal, handle] of handlers) process.removeListener(signal, handle);
  };
  return cancel;
}

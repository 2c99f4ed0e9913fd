import { spawn } from "node:child_process";
import { constants } from "node:os";
import { isatty } from "node:tty";
import { UnderstudyError } from "../errors.js";
import type { Command } from "./locate.js";

const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
const OF_TERMINAL = new Set<NodeJS.Signals>(["SIGINT", "SIGQUIT"]);

/**
 * Runs a command in the foreground and returns its exit code, 128 and the signal's number if a signal ended it.
 *
 * Signals are passed on. Ctrl-C in a terminal reaches the whole foreground group, the command included; it would count
 * as a second one there, by which `verify` stops undoing what it changed.
 */
export function runInForeground({ program, args }: Command, rest: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args, ...rest], { stdio: "inherit" });
    const handlers = PASSED_ON.map((signal) => {
      const passOn = (): void => {
        if (!(OF_TERMINAL.has(signal) && isInTerminal())) child.kill(signal);
      };
      process.on(signal, passOn);
      return () => process.removeListener(signal, passOn);
    });
    const settle = (): void => handlers.forEach((remove) => remove());
    child.once("error", (cause) => {
      settle();
      reject(new UnderstudyError(`${program} cannot be run: ${cause.message}.`, { cause }));
    });
    child.once("exit", (code, signal) => {
      settle();
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
    });
  });
}

function isInTerminal(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor));
}

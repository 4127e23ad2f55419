/**
 * Ignores signals that a daemon does not use. Most of them end the process by default, and SIGUSR1 opens a debugger
 * that any local user can attach to.
 */
import { isatty } from 'node:tty';
import { hasCode } from './file-error.ts';

/**
 * Signals that end a process by default, apart from the orders to stop (SIGINT, SIGTERM, and SIGHUP from a terminal)
 * and reports of a crash.
 */
export const UNUSED_SIGNALS = [
  'SIGALRM',
  'SIGIO',
  'SIGPROF',
  'SIGPWR',
  'SIGQUIT',
  'SIGSTKFLT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGVTALRM',
  'SIGXCPU',
  'SIGXFSZ', // a write beyond the file size limit still fails with EFBIG
] as const satisfies readonly NodeJS.Signals[];

/** Makes signals only call `onSignal`. */
export function ignoreSignals(signals: readonly NodeJS.Signals[], onSignal?: (signal: string) => void): void {
  for (const signal of signals) process.on(signal, () => onSignal?.(signal));
}

/**
 * Whether a person watches this process, so that SIGHUP means that the terminal is gone. Checked at the start: a
 * terminal that is already lost does not count.
 */
export function hasTerminal(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor));
}

/** Whether a process with this id exists, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM'); // another user's
  }
}

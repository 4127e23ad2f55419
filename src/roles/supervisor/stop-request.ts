/** Requests to stop the service: by a signal, or because the program that started it is gone. docs/decisions/0450 */
import { hasTerminal, ignoreSignals, UNUSED_SIGNALS } from '#lib/signals.ts';

export interface StopRequest {
  /** Resolves once, with the source of the first request. */
  readonly requested: Promise<string>;
  /** Resolves at the second request: requests in flight are then cut off. */
  readonly repeated: Promise<void>;
  /** Calls `listener` with the name of each signal that is ignored. */
  onIgnored(listener: (signal: string) => void): void;
}

/** A terminal and npm both pass a Ctrl-C on, so that one may arrive twice. */
const SAME_REQUEST_MS = 1000;

export function listenForStop(): StopRequest {
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const ask = (what: string) => {
    firstAt ??= performance.now();
    first.resolve(what);
    if (performance.now() - firstAt > SAME_REQUEST_MS) second.resolve();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ask(signal));
  // A terminal that closes sends it; a service without one has nothing to do with it.
  const isAsked = hasTerminal();
  if (isAsked) process.on('SIGHUP', () => ask('SIGHUP'));
  const listeners: ((signal: string) => void)[] = [];
  ignoreSignals(isAsked ? UNUSED_SIGNALS : ['SIGHUP', ...UNUSED_SIGNALS], (signal) => {
    for (const listener of listeners) listener(signal);
  });
  if (process.connected) process.on('disconnect', () => ask('the exit of its parent process'));
  return { requested: first.promise, repeated: second.promise, onIgnored: (listener) => listeners.push(listener) };
}

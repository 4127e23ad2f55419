/** When the service is asked to stop: by a signal, or because the program that started it is gone. */

export interface StopRequest {
  /** Resolves, once, with what asked. */
  readonly requested: Promise<string>;
  /** Resolves when it was asked again: what is still under way is cut off. */
  readonly repeated: Promise<void>;
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
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ask(signal));
  if (process.connected) process.on('disconnect', () => ask('the end of the program that started it'));
  return { requested: first.promise, repeated: second.promise };
}

/** The lines of a log as they are written, from the address that `log.tail` gives. */
import { ClientError } from './client-error.ts';
import { addressOf, reach, type TransportOptions } from './transport.ts';

/** An object of the stream, as docs/interface.md has them. */
export type LogItem = Readonly<Record<string, string | number>>;

/** A line that is longer is not one of this service. */
const MAX_LINE_CHARS = 1 << 20;

/**
 * Reads until the service ends the stream; an interruption throws `ClientError`. Of the address only path and query are
 * used: it names the service as others reach it.
 */
export async function* followLog(options: TransportOptions, url: string, signal: AbortSignal): AsyncGenerator<LogItem> {
  const { pathname, search } = new URL(url);
  const never = new AbortController().signal;
  const guarded = <T>(work: () => Promise<T>) => reach(addressOf(options), never, signal, work);
  const send = options.fetch ?? fetch;
  const response = await guarded(() => send(addressOf(options) + pathname + search, { signal, redirect: 'error' }));
  if (!response.ok || response.body === null) throw refusalOf(response, await guarded(() => response.text()));
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await guarded(() => reader.read());
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE_CHARS) throw new ClientError('a line of the log has no end', { kind: 'unexpected' });
      // Empty lines keep the connection open.
      for (const line of lines) if (line !== '') yield JSON.parse(line);
    }
  } finally {
    await reader.cancel().catch(() => undefined); // it has failed already
  }
}

function refusalOf({ status, headers }: Response, text: string): ClientError {
  const requestId = headers.get('x-request-id') ?? undefined;
  const info = /"info":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return new ClientError(info === undefined ? `HTTP ${status}` : JSON.parse(info), {
    kind: info === undefined ? 'unexpected' : 'refused',
    http: status,
    requestId,
  });
}

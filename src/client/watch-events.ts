/** The stream of hints as a sequence of events. It ends when the service ends it; an interruption throws. */
import type { CallOf } from '../contract/operations.ts';
import { ClientError } from './client-error.ts';
import { readServerEvents, type ServerEvent } from './server-events.ts';
import { addressOf, post, reach, readAnswerText, readData, type TransportOptions } from './transport.ts';

const NAME = 'event.watch';
/** Comments come each 15 s: a stream that is silent for longer than two of them is dead. */
const SILENCE_MS = 40_000;

/** Throws `ClientError` if the stream is refused, cannot be opened, or falls silent. */
export async function* watchEvents(
  options: TransportOptions,
  request: CallOf<typeof NAME>,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const silence = new AbortController();
  const either = AbortSignal.any([signal, silence.signal]);
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const awaken = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  const guarded = <T>(work: () => Promise<T>) => reach(addressOf(options), silence.signal, signal, work);
  try {
    const response = await guarded(() => post(options, NAME, request, { signal: either }));
    if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true || response.body === null) {
      readData(NAME, response, await guarded(() => readAnswerText(response)), options.isData);
      throw new ClientError('the answer is no stream of events', { kind: 'unexpected', http: response.status });
    }
    const events = readServerEvents(response.body, awaken);
    for (;;) {
      const next = await guarded(() => events.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    clearTimeout(timer);
    silence.abort(); // also where the reader stops early
  }
}

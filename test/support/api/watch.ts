/** A client of the stream of hints. */
import { ROUTES } from '#contract/routes.ts';
import { readEvents } from '#feed/wire/sse.ts';
import { eventually } from '../eventually.ts';
import type { Cleanup } from '../temporary.ts';
import type { TestApi } from './api.ts';

export interface TestEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The last id that was sent with it, or before it. */
  readonly id: string;
}

export interface TestWatch {
  readonly events: readonly TestEvent[];
  /** Whether the service has ended it. */
  readonly isEnded: boolean;
  close(): void;
}

/** Resolves with the first event. */
export async function openWatch(
  t: Cleanup,
  api: Pick<TestApi, 'url'>,
  accessToken: string,
  request: Record<string, unknown> = {},
): Promise<TestWatch> {
  const stop = new AbortController();
  t.after(() => stop.abort());
  const response = await fetch(api.url + ROUTES['event.watch'].path, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', 'accept-language': 'en' },
    body: JSON.stringify({ access_token: accessToken, ...request }),
    signal: stop.signal,
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
    throw new Error(`not a stream: ${await response.text()}`);
  const events: TestEvent[] = [];
  const watch = { events, isEnded: false, close: () => stop.abort() };
  void read(response, events).then(
    () => {
      watch.isEnded = true;
    },
    () => undefined, // it was closed here
  );
  await eventually('the first event', () => events.length > 0);
  return watch;
}

async function read({ body }: Response, events: TestEvent[]): Promise<void> {
  let id = '';
  const chunks = async function* () {
    for await (const chunk of body ?? new ReadableStream<Uint8Array>()) {
      const text = Buffer.from(chunk);
      id = [...text.toString().matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? id;
      yield text;
    }
  };
  for await (const item of readEvents(chunks(), 64 * 1024))
    if (item.kind === 'event') events.push({ name: item.name, data: JSON.parse(item.data), id });
}

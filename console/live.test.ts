import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ServerEvent } from '#client/server-events.ts';
import { createLiveState, type Heard, type LiveParts, type LiveState, runLive } from './live.ts';

const HINT = { kind: 'domain', id: '1001', revision: '18', at: 1_769_832_000_000, hint: 'domain.change' } as const;

function event(name: string, data: object, id = ''): ServerEvent {
  return { id, event: name, data: JSON.stringify(data) };
}

type Stream = readonly (ServerEvent | Error)[];

/** Streams in their order; after the last the tab is closed. */
function tabWith(streams: readonly Stream[]) {
  const closing = new AbortController();
  const heard: Heard[] = [];
  const said: unknown[] = [];
  const asked: unknown[] = [];
  const pauses: number[] = [];
  const state = createLiveState();
  const parts: LiveParts = {
    state,
    onHeard: (one) => heard.push(one),
    channel: { postMessage: (message) => said.push(message), onmessage: null },
    lead: (work) => work(closing.signal),
    wait: async (ms) => {
      pauses.push(ms);
      if (asked.length >= streams.length) closing.abort();
    },
    watch: async function* (request) {
      const stream = streams[asked.push(request) - 1] ?? [];
      for (const one of stream) {
        if (one instanceof Error) throw one;
        yield one;
      }
    },
  };
  return { parts, heard, said, asked, pauses, state };
}

describe('the live stream of a tab', () => {
  test('hints are passed to this tab and to the others', async () => {
    const tab = tabWith([[event('ready', {}), event('domain', HINT, '7-3')]]);
    await runLive(tab.parts);
    assert.deepEqual(tab.heard, ['gap', HINT]);
    assert.deepEqual(tab.said, [
      'which state?',
      { state: 'streaming', heard: 'gap' },
      { state: 'streaming', heard: HINT },
    ]);
    tab.parts.channel.onmessage?.(new MessageEvent('message', { data: 'which state?' }) as never);
    assert.deepEqual(tab.said.at(-1), { state: 'streaming' }, 'a tab that was opened later asks');
  });

  test('a tab that begins to lead reads everything again once its stream is open', async () => {
    const tab = tabWith([[event('ready', {}), event('bye', {})], [event('ready', {})]]);
    await runLive(tab.parts);
    assert.deepEqual(tab.heard, ['gap']);
  });

  test('a stream that ends is gone on with where it ended', async () => {
    const tab = tabWith([[event('ready', {}), event('domain', HINT, '7-3'), event('bye', {})], [event('ready', {})]]);
    await runLive(tab.parts);
    assert.deepEqual(tab.asked, [{}, { after: '7-3' }]);
    assert.equal(tab.state.get(), 'streaming');
  });

  test('lost hints make the tabs read everything again', async () => {
    const tab = tabWith([[event('ready', {}), event('gap', {})]]);
    await runLive(tab.parts);
    assert.deepEqual(tab.heard, ['gap', 'gap']);
  });

  test('the tabs poll every 5 s after two failures, until the stream is back', async () => {
    const states: LiveState[] = [];
    const failed: Stream = [new Error('cut')];
    const tab = tabWith([failed, failed, failed, [event('ready', {})]]);
    tab.state.subscribe(() => states.push(tab.state.get()));
    await runLive(tab.parts);
    assert.deepEqual(tab.heard, ['gap', 'gap', 'gap']);
    assert.deepEqual(tab.pauses.slice(0, 3), [1000, 5000, 5000]);
    assert.deepEqual(states, ['streaming']);
  });

  test('a tab that does not lead hears what the leader says', async () => {
    const tab = tabWith([]);
    await runLive({ ...tab.parts, lead: async () => undefined });
    tab.parts.channel.onmessage?.(new MessageEvent('message', { data: { state: 'streaming', heard: HINT } }) as never);
    assert.deepEqual([tab.state.get(), tab.heard], ['streaming', [HINT]]);
  });
});

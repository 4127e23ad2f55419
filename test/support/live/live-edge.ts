/** An edge with a live domain behind a scripted live process, and viewers that read FLV as it comes. */
import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import type { TestContext } from 'node:test';
import type { LiveLimits } from '../../../src/edge/live/live.ts';
import { describeMedia } from '../../../src/fanout/media/describe.ts';
import { FlvReader } from '../../../src/fanout/media/flv.ts';
import type { MediaMessage } from '../../../src/fanout/media/message.ts';
import type { LiveKeys, LiveMark } from '../../../src/sites/live.ts';
import { SITE_HOST, startTestEdge, type TestEdge } from '../edge/edge.ts';
import { eventually } from '../eventually.ts';
import { type ScriptedOwner, startScriptedOwner } from './scripted-owner.ts';

type LiveEdgeOptions = Parameters<typeof startTestEdge>[2] & {
  readonly limits?: Partial<LiveLimits>;
  readonly keys?: LiveKeys;
  readonly mark?: LiveMark;
  readonly originPorts?: readonly number[];
};

export async function startLiveEdge(
  t: TestContext,
  { limits, keys, mark, originPorts = [], ...options }: LiveEdgeOptions = {},
): Promise<TestEdge & { readonly owner: ScriptedOwner }> {
  const owner = await startScriptedOwner(t);
  const live = {
    socketPath: owner.socketPath,
    worker: 'edge-worker-1',
    source: { getLiveKeys: () => keys, getLiveMark: () => mark },
    limits: { retryMs: 20, reportMs: 20, ...limits },
  };
  const edge = await startTestEdge(t, originPorts, { ...options, live });
  edge.put({ name: SITE_HOST, type: 'live' });
  await eventually('the table is synced', () => edge.get('/live/none.flv').then(({ status }) => status !== 503));
  owner.asked.length = 0;
  edge.log.length = 0;
  return { ...edge, owner };
}

export interface FlvClient {
  readonly response: IncomingMessage;
  readonly names: () => string;
  /** How it ended; `undefined`: it has not. */
  readonly ended: () => 'whole' | 'cut' | undefined;
  leave(): void;
}

/** Opens a stream that is there. */
export function openFlv(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<FlvClient> {
  const { promise, resolve, reject } = Promise.withResolvers<FlvClient>();
  const asked = request({ port, path, agent: false, headers: { host: SITE_HOST, ...headers } });
  asked.on('error', reject);
  asked.on('response', (response) => {
    const reader = new FlvReader();
    const got: MediaMessage[] = [];
    let ended: 'whole' | 'cut' | undefined;
    if (response.statusCode === 200) response.on('data', (bytes: Buffer) => got.push(...reader.push(bytes)));
    else response.resume();
    response.on('error', () => undefined); // shows as cut
    response.on('close', () => {
      ended = response.complete ? 'whole' : 'cut';
    });
    resolve({ response, names: () => got.map(nameOf).join(' '), ended: () => ended, leave: () => asked.destroy() });
  });
  asked.end();
  return promise;
}

export async function sees(client: Pick<FlvClient, 'names'>, names: string): Promise<void> {
  await eventually(`${names}, not ${client.names()}`, () => client.names() === names);
}

/** `V` a sequence header, `k` key frame, `v` other frame, `a` sound, each with its number. */
export function nameOf(message: MediaMessage): string {
  const { isKeyFrame, isSequenceHeader, payloadOffset } = describeMedia(message);
  const letter = isSequenceHeader ? 'V' : message.kind === 'audio' ? 'a' : isKeyFrame ? 'k' : 'v';
  return letter + message.data[payloadOffset];
}

/** What `nameOf` names so. */
export function media(...names: readonly string[]): MediaMessage[] {
  return names.map((name) => {
    const number = Number(name.slice(1));
    const heads: Readonly<Record<string, readonly number[]>> = {
      V: [0x17, 0, 0, 0, 0],
      k: [0x17, 1, 0, 0, 0],
      v: [0x27, 1, 0, 0, 0],
      a: [0xaf, 1],
    };
    const head = heads[name[0] ?? ''];
    assert.ok(head);
    return {
      kind: name.startsWith('a') ? 'audio' : 'video',
      timestampMs: number * 40,
      data: Buffer.from([...head, number]),
    };
  });
}

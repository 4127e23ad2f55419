/** Streams that are pulled from a domain's origins: which is asked, what a viewer gets, when it stops. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { describeMedia } from '#fanout/media/describe.ts';
import { FlvReader, flvHeader, writeFlvTag } from '#fanout/media/flv.ts';
import type { MediaMessage } from '#fanout/media/message.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveWorld, startLiveWorld } from '../support/live/live-world.ts';
import { sampleMessages } from '../support/live/rtmp-client.ts';

const LIMITS = { silenceMs: 300, pauseMs: 10 };
const STREAM = sampleMessages(60);

interface Origin {
  readonly port: number;
  readonly asked: IncomingMessage[];
  readonly answers: ServerResponse[];
}

type Answer = (response: ServerResponse) => void;

const notFound: Answer = (response) => void response.writeHead(404).end();
const broken: Answer = (response) => void response.writeHead(500).end();
const file: Answer = (response) => void response.writeHead(200, { 'content-length': 3 }).end('FLV');
const stream: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'video/x-flv' });
  response.write(flvHeader({ hasAudio: true, hasVideo: true }));
  for (const message of STREAM) response.write(writeFlvTag(message));
};
const silent: Answer = () => undefined;
/** An origin that sends bytes for ever, and no media. */
const dripping: Answer = (response) => {
  response.writeHead(200).write(flvHeader({ hasAudio: true, hasVideo: true }));
  const timer = setInterval(() => response.write(EMPTY_TAG), 20);
  response.on('close', () => clearInterval(timer));
};
const EMPTY_TAG = writeFlvTag({ kind: 'data', timestampMs: 0, data: Buffer.from([2, 0, 0]) });

async function startOrigin(t: TestContext, answer: Answer): Promise<Origin> {
  const asked: IncomingMessage[] = [];
  const answers: ServerResponse[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answers.push(response);
    answer(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const bound = server.address();
  return { port: typeof bound === 'object' ? (bound?.port ?? 0) : 0, asked, answers };
}

async function startWith(
  t: TestContext,
  primary: readonly number[],
  backup: readonly number[] = [],
  limits = {},
  pullLimits = {},
): Promise<LiveWorld> {
  const world = await startLiveWorld(t, { pullLimits: { ...LIMITS, ...pullLimits }, limits });
  const list = (ports: readonly number[]) => ports.map((port) => ({ host: '127.0.0.1', port }));
  world.setSite({
    origins: {
      protocol: 'http',
      primary: list(primary),
      backup: list(backup),
      hostHeader: 'origin.example',
      probePath: '',
    },
  });
  return world;
}

const pulled = (world: LiveWorld, name = 'a') =>
  world.get(`/streams/7/live/${name}/flv?origin=http&host=live.example.com`);

describe('a stream that nobody publishes', () => {
  const rows: readonly (readonly [string, readonly Answer[], number])[] = [
    ['is absent when no origin has it', [notFound, notFound], 404],
    ['is an ordinary file when the answer has a length', [file], 409],
    ['is an error when an origin fails', [notFound, broken], 502],
    ['times out when an origin is silent', [silent], 504],
    ['times out when an origin sends everything but media', [dripping], 504],
    ['is pulled from the next origin when one sends everything but media', [dripping, stream], 200],
    ['is pulled from the first origin that has it', [notFound, broken, stream], 200],
  ];
  for (const [name, answers, status] of rows)
    test(`an unpublished stream ${name}`, async (t) => {
      const origins = await Promise.all(answers.map((answer) => startOrigin(t, answer)));
      const world = await startWith(
        t,
        origins.map(({ port }) => port),
        [],
        {},
        // Silence is short only where an origin is silent: a crowded machine is slow to answer, too.
        answers.some((answer) => answer === silent || answer === dripping) ? {} : { silenceMs: 60_000 },
      );
      assert.equal((await pulled(world)).statusCode, status);
      assert.deepEqual(
        origins.map(({ asked }) => asked.length > 0),
        answers.map(() => true),
      );
    });

  test('a stream cannot be pulled when its domain has its share of the pulls, also of those on air', async (t) => {
    const origin = await startOrigin(t, stream);
    const world = await startWith(t, [origin.port], [], {}, { silenceMs: 60_000, maxPulls: 2 });
    assert.equal((await pulled(world)).statusCode, 200);
    assert.equal((await pulled(world, 'b')).statusCode, 429);
    assert.equal((await pulled(world)).statusCode, 200);
    assert.equal(origin.asked.length, 1);
  });

  test('a stream cannot be pulled while too many pulls of its domain have not begun', async (t) => {
    const origin = await startOrigin(t, silent);
    const world = await startWith(t, [origin.port], [], {}, { silenceMs: 60_000, maxStarting: 2 });
    const waiting = ['a', 'b'].map((name) => pulled(world, name).catch(() => undefined)); // until the end
    await eventually('asked', () => origin.asked.length === 2);
    assert.equal((await pulled(world, 'c')).statusCode, 429);
    assert.equal(origin.asked.length, 2);
    for (const answer of origin.answers) notFound(answer);
    await Promise.all(waiting);
    const fourth = pulled(world, 'd');
    await eventually('asked again', () => origin.asked.length === 3);
    for (const answer of origin.answers.slice(2)) notFound(answer);
    assert.equal((await fourth).statusCode, 404);
  });

  test('a stream that is not published is absent when the domain has no origin', async (t) => {
    const world = await startWith(t, []);
    assert.equal((await pulled(world)).statusCode, 404);
  });

  test('a pulled stream is requested by its path, for the host of the settings; a backup origin comes last', async (t) => {
    const [first, second] = [await startOrigin(t, notFound), await startOrigin(t, stream)];
    const world = await startWith(t, [first.port], [second.port]);
    const viewers = await Promise.all([pulled(world), pulled(world)]);
    assert.deepEqual(
      viewers.map(({ statusCode }) => statusCode),
      [200, 200],
    );
    const [asked] = second.asked;
    assert.deepEqual([asked?.url, asked?.headers.host, second.asked.length], ['/live/a.flv', 'origin.example', 1]);
    await eventually('control knows', () => world.report()?.streams?.[0]?.source === 'origin');
    assert.equal(world.report()?.streams?.[0]?.address, `127.0.0.1:${second.port}`);
  });
});

describe('a pulled stream', () => {
  test('a pulled stream continues from another origin when its own fails, and viewers are kept', async (t) => {
    const [first, second] = [await startOrigin(t, stream), await startOrigin(t, stream)];
    const world = await startWith(t, [first.port, second.port]);
    const viewer = await pulled(world);
    let bytes = 0;
    viewer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await eventually('media', () => bytes > 1000);
    const before = bytes;
    first.answers[0]?.destroy();
    await eventually('media of the second one', () => second.asked.length === 1 && bytes > before);
    assert.deepEqual(world.told, ['began a']);
  });

  // ossrs/srs#4678
  test('later viewers of a pulled stream get metadata, sequence headers and a key frame first', async (t) => {
    const origin = await startOrigin(t, stream);
    const world = await startWith(t, [origin.port]);
    const names = async () => {
      const reader = new FlvReader();
      const seen: string[] = [];
      const viewer = await pulled(world);
      viewer.on('data', (bytes: Buffer) => seen.push(...reader.push(bytes).map(kindOf)));
      return await eventually('three messages and a frame', () => seen.length > 3 && seen.slice(0, 4));
    };
    const first = await names();
    assert.deepEqual(first, ['data', 'video header', 'audio header', 'video key']);
    await eventually('it is known', () => world.states.get('a') === 'live');
    assert.deepEqual(await names(), first);
    assert.equal(origin.asked.length, 1);
  });

  test('a pulled stream ends when its last viewer has left', async (t) => {
    const origin = await startOrigin(t, (response) => {
      stream(response);
      const timer = setInterval(() => response.write(writeFlvTag(STREAM[4] ?? assert.fail())), 50);
      response.on('close', () => clearInterval(timer));
    });
    const world = await startWith(t, [origin.port], [], { unwatchedMs: 300 });
    const viewer = await pulled(world);
    viewer.destroy();
    await eventually('it has ended', () => world.told.includes('ended a unwatched'));
    await eventually('the origin is left', () => origin.answers[0]?.closed);
  });

  test('a stream is pulled for a player by RTMP too', async (t) => {
    const origin = await startOrigin(t, stream);
    const world = await startWith(t, [origin.port]);
    const player = await world.publisher();
    assert.equal((await player.play('a')).code, 'NetStream.Play.Start');
    await eventually('media', () => player.media.some(({ kind }) => kind === 'video'));
  });

  test('a pulled stream yields to a publisher', async (t) => {
    const origin = await startOrigin(t, stream);
    const world = await startWith(t, [origin.port]);
    const viewer = await pulled(world);
    const ended = once(viewer.resume(), 'end');
    await world.publisher().then(async (client) => {
      assert.equal((await client.publish('a')).code, 'NetStream.Publish.Start');
      for (const message of sampleMessages(10)) client.send(message);
    });
    await ended;
    await eventually('another broadcast', () => world.told.length === 3);
    assert.deepEqual(world.told, ['began a', 'ended a replaced', 'began a']);
  });

  test('a pulled stream stops when it is forbidden, and is not pulled again', async (t) => {
    const origin = await startOrigin(t, stream);
    const world = await startWith(t, [origin.port]);
    const viewer = await pulled(world);
    const closed = new Promise((resolve) => viewer.resume().on('close', resolve));
    world.setMark('a', { forbidden: true, until: 0, kicked: '' });
    await closed;
    assert.equal((await pulled(world)).statusCode, 403);
    await eventually('the origin is left', () => origin.answers[0]?.closed);
  });

  // ZLMediaKit/ZLMediaKit#2955
  test('a forbidden stream stops its pull, also between two origins', async (t) => {
    const [first, second] = [await startOrigin(t, stream), await startOrigin(t, silent)];
    const world = await startWith(t, [first.port, second.port], [], {}, { silenceMs: 60_000 });
    const viewer = await pulled(world);
    const closed = new Promise((resolve) => viewer.resume().on('close', resolve));
    first.answers[0]?.destroy();
    await eventually('the other origin is asked', () => second.asked.length === 1);
    world.setMark('a', { forbidden: true, until: 0, kicked: '' });
    await closed;
    await eventually('the other origin is left', () => second.answers[0]?.closed);
    assert.equal(world.states.get('a'), 'paused');
    assert.deepEqual([first.asked.length, second.asked.length], [1, 1]);
  });

  test('a pull is dropped if the domain was closed, or the stream forbidden, before its origin answered', async (t) => {
    const origin = await startOrigin(t, silent);
    const world = await startWith(t, [origin.port], [], {}, { silenceMs: 60_000 });
    const answers = ['a', 'b'].map((name) => pulled(world, name));
    await eventually('asked', () => origin.asked.length === 2);
    world.setMark('b', { forbidden: true, until: 0, kicked: '' });
    world.setSite({ state: 'closed' });
    for (const answer of origin.answers) stream(answer);
    for (const answer of answers) assert.equal((await answer).statusCode, 404);
    await eventually('the origin is left', () => origin.answers.every(({ closed }) => closed));
    assert.deepEqual(world.told, []);
  });

  test('a pull that is requested while the live process stops is refused', async (t) => {
    const origin = await startOrigin(t, stream);
    const world = await startWith(t, [origin.port]);
    await world.publish('b'); // this publisher ignores FIN, so that stopping takes a moment
    const restarting = world.restart(1_000);
    assert.equal((await pulled(world)).statusCode, 404);
    await restarting;
    await world.publish('c');
    await eventually('control knows', () => world.told.includes('began c'));
    assert.deepEqual(
      world.told.filter((event) => event.startsWith('began')),
      ['began b', 'began c'],
    );
  });
});

/** Names a message by its role for a decoder. */
function kindOf(message: MediaMessage): string {
  const { isSequenceHeader, isKeyFrame } = describeMedia(message);
  return `${message.kind}${isSequenceHeader ? ' header' : isKeyFrame ? ' key' : ''}`;
}

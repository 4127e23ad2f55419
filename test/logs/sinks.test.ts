/** The way from a worker's spool to sinks: real files, real posts over guarded connections, a receiver that misbehaves. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { steadyClock } from '#lib/clock.ts';
import { createLocalTime } from '#lib/local-time.ts';
import { createLogger } from '#lib/logger.ts';
import { LineSinks, type LineSinksOptions } from '#logs/sinks/line-sinks.ts';
import { openSinkPlaces } from '#logs/sinks/places.ts';
import { openSpool } from '#logs/spool.ts';
import { formatSpooledLine } from '#logs/spooled-line.ts';
import { type LineSink, SINK_FIELDS } from '#model/line-sink.ts';
import { createWebhookSender } from '#roles/process/webhook-sender.ts';
import { eventually } from '../support/eventually.ts';
import { HIT } from '../support/logs/access-record.ts';
import { type ReceivedPost, startSinkReceiver } from '../support/logs/sink-receiver.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ZONE = createLocalTime('Asia/Shanghai');
const LOG = createLogger({ level: 'silent', name: 'test' });

const SINK = {
  ...{ headers: [{ name: 'Authorization', value: 'Bearer 4f9c' }], fields: SINK_FIELDS },
  ...{ samplePercent: 100, domainIds: [], maxBytes: 1_048_576, maxRecords: 5_000, maxSeconds: 1 },
} satisfies Omit<LineSink, 'url'>;

interface Bench {
  readonly spools: string;
  readonly links: string;
  /** Sinks by name, which take effect at the next look. */
  readonly sinks: Map<string, LineSink>;
  /** Writes lines with these targets, and ends the file if `isEnded`. */
  write(
    targets: readonly string[],
    options?: { readonly domainId?: number; readonly isEnded?: boolean },
  ): Promise<void>;
  /** Starts what an edge has; the former is to be disposed of before. */
  start(options?: Partial<LineSinksOptions>): LineSinks;
}

function open(t: TestContext): Bench {
  const folder = temporaryFolder(t);
  const spools = join(folder, 'logs');
  const sender = createWebhookSender({ allow: ['0.0.0.0/0'], refuse: [{ host: '127.0.0.1', port: 1 }] });
  t.after(() => sender[Symbol.asyncDispose]());
  let number = 0;
  const openOwn = () => {
    const name = `worker-${++number}`;
    const log = { directory: spools, name, maxQueueBytes: 1e7, keepBytes: 1e9, zone: ZONE, clock: Date.now, log: LOG };
    return openSpool({ ...log, format: (id, record) => formatSpooledLine(id, record, ZONE) });
  };
  let spool = openOwn();
  t.after(() => spool.close());
  const sinks = new Map<string, LineSink>();
  return {
    spools,
    links: join(spools, 'sinks'),
    sinks,
    async write(targets, { domainId = 7, isEnded = false } = {}) {
      for (const target of targets) spool.write(domainId, { ...HIT, target, endedAt: Date.now() });
      await spool.flush();
      if (!isEnded) return;
      await spool.close();
      spool = openOwn();
    },
    start(options) {
      const running = new LineSinks({
        ...{ spools, directory: join(spools, 'sinks'), edge: 'fra1', keepBytes: 1e9, steadyClock, log: LOG },
        openPlaces: () => openSinkPlaces(join(folder, 'sinks.db'), () => undefined),
        listSinks: () => sinks,
        post: sender.post,
        ...options,
      });
      t.after(() => running[Symbol.asyncDispose]());
      return running;
    },
  };
}

const targets = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `/${from + n}`);
const targetsOf = (posts: readonly ReceivedPost[]) =>
  posts.flatMap(({ records }) => records.map((one) => one['target']));

/** A sink must be known before lines are written: it begins with what comes then. */
async function begun(running: LineSinks, names: readonly string[] = ['a']): Promise<void> {
  await eventually('the sinks run', () => names.every((name) => running.states.some((state) => state.name === name)));
}

describe('sinks', { concurrency: true, timeout: 180_000 }, () => {
  test('lines arrive as records within seconds, each once, and are not kept any longer', async (t) => {
    await using receiver = await startSinkReceiver();
    const bench = open(t);
    bench.sinks.set('a', { ...SINK, url: receiver.url });
    bench.sinks.set('few', { ...SINK, url: receiver.url, fields: ['target', 'status'], domainIds: [9] });
    await bench.write(['/before']);
    const running = bench.start();
    await begun(running, ['a', 'few']);
    const writtenAt = Date.now();
    await bench.write(['/é\u{1f600}', '/b'].map((text) => Buffer.from(text).toString('latin1')));
    await bench.write(['/nine'], { domainId: 9, isEnded: true });
    await eventually('they arrive', () => receiver.accepted.flatMap(({ records }) => records).length === 4);
    const whole = receiver.accepted.filter(({ records }) => records[0]?.['edge'] === 'fra1');
    assert.deepEqual(targetsOf(whole), ['/é\u{1f600}', '/b', '/nine']);
    const [record] = whole[0]?.records ?? [];
    assert.deepEqual(Object.keys(record ?? {}), [...SINK_FIELDS]);
    assert.deepEqual(
      [record?.['domain_id'], record?.['client'], record?.['status'], record?.['cache'], record?.['response_bytes']],
      [7, '203.0.113.9', 200, 'TCP_MEM_HIT', 100],
    );
    assert.ok(Date.parse(String(record?.['time'])) >= writtenAt - 1);
    const others = receiver.accepted.filter((post) => !whole.includes(post));
    assert.deepEqual(
      others.flatMap(({ records }) => records),
      [{ target: '/nine', status: 200 }],
    );
    const { headers, key } = whole[0] ?? assert.fail();
    assert.match(key, /^fra1\.worker-1-\d{8}T\d{9}Z-\d{4}\.\d+-\d+$/);
    assert.deepEqual(
      [headers['authorization'], headers['content-type'], headers['content-encoding'], headers['x-causeway-records']],
      ['Bearer 4f9c', 'application/x-ndjson', 'gzip', String(whole[0]?.records.length)],
    );
    await eventually('the ended file is not kept', () => readdirSync(bench.links).length === 0);
    bench.sinks.clear();
    await eventually('no sink runs', () => running.states.length === 0);
    await bench.write(['/after'], { isEnded: true });
    await running[Symbol.asyncDispose]();
    assert.equal(receiver.accepted.flatMap(({ records }) => records).length, 4);
  });

  test('what a receiver that is down has missed arrives when it is back, also what was shipped and deleted', async (t) => {
    const first = await startSinkReceiver();
    const { port } = first;
    await first[Symbol.asyncDispose]();
    await using healthy = await startSinkReceiver();
    const bench = open(t);
    bench.sinks.set('a', { ...SINK, url: first.url });
    bench.sinks.set('b', { ...SINK, url: healthy.url });
    const running = bench.start();
    await begun(running, ['a', 'b']);
    await bench.write(targets(0, 50), { isEnded: true });
    const stems = readdirSync(bench.spools).flatMap((file) => (file.endsWith('.log') ? [file.slice(0, -4)] : []));
    for (const stem of stems) {
      await running.keep(stem);
      for (const ending of ['.log', '.done']) rmSync(join(bench.spools, stem + ending), { force: true });
    }
    await eventually('the other sink has all', () => targetsOf(healthy.accepted).length === 50);
    const trouble = await eventually('the edge says so', () => running.troubles[0]);
    assert.deepEqual([trouble.sink, trouble.state], ['a', 'failing']);
    await using second = await startSinkReceiver(port);
    await bench.write(targets(50, 60));
    await eventually('all arrive', () => targetsOf(second.accepted).length === 60);
    assert.deepEqual(new Set(targetsOf(second.accepted)), new Set(targets(0, 60)));
    assert.deepEqual(running.troubles, []);
    const state = running.states.find(({ name }) => name === 'a');
    assert.deepEqual([state?.sent, state?.dropped], [60, { refused: 0, spool: 0 }]);
    assert.ok((state?.failures ?? 0) > 0);
  });

  test('a post that is too large goes in halves, and one that the receiver puts off comes when it says', async (t) => {
    await using receiver = await startSinkReceiver();
    let puts = 0;
    receiver.answer = ({ records }) => {
      if (records.length > 30) return { status: 413 };
      return puts++ === 0 ? { status: 429, headers: { 'retry-after': '2' } } : { status: 202 };
    };
    const bench = open(t);
    bench.sinks.set('a', { ...SINK, url: receiver.url });
    const running = bench.start();
    await begun(running);
    await bench.write(targets(0, 100));
    await eventually('all arrive', () => targetsOf(receiver.accepted).length === 100);
    assert.deepEqual(targetsOf(receiver.accepted), targets(0, 100));
    assert.deepEqual(
      receiver.accepted.map(({ records }) => records.length),
      [25, 25, 25, 25],
    );
    const [putOff, again] = receiver.posts.filter(({ key }) => key === receiver.accepted[0]?.key);
    assert.ok((again?.at ?? 0) - (putOff?.at ?? 0) >= 2_000);
    assert.deepEqual(again?.records, putOff?.records, 'the same key stands for the same records');
  });

  test('records that are refused three times are dropped and counted, and the next ones are sent', async (t) => {
    await using receiver = await startSinkReceiver();
    receiver.answer = ({ records }) => ({ status: records.some(({ target }) => target === '/bad') ? 400 : 200 });
    const bench = open(t);
    bench.sinks.set('a', { ...SINK, url: receiver.url, maxRecords: 2 });
    const running = bench.start();
    await begun(running);
    await bench.write(['/1', '/2', '/bad', '/3', '/4', '/5']);
    await eventually('the others arrive', () => targetsOf(receiver.accepted).length === 4);
    assert.deepEqual(targetsOf(receiver.accepted), ['/1', '/2', '/4', '/5']);
    assert.equal(receiver.posts.filter((post) => targetsOf([post]).includes('/bad')).length, 3);
    await eventually('it is counted', () => running.states[0]?.dropped.refused === 2);
    assert.deepEqual(running.troubles, [{ sink: 'a', state: 'dropping', reason: '400' }]);
  });

  test('the oldest files are dropped beyond the room for them, and each line was sent or counted as dropped', async (t) => {
    await using receiver = await startSinkReceiver();
    receiver.answer = () => ({ status: 503 });
    const bench = open(t);
    bench.sinks.set('a', { ...SINK, url: receiver.url });
    const running = bench.start({ keepBytes: 20_000 });
    await begun(running);
    for (let file = 0; file < 4; file++) await bench.write(targets(file * 100, file * 100 + 100), { isEnded: true });
    await eventually('files are dropped', () => (running.states[0]?.dropped.spool ?? 0) > 0);
    assert.equal(running.troubles[0]?.reason, 'spool');
    receiver.answer = () => ({ status: 200 });
    await eventually('the rest arrives', () => {
      const [state] = running.states;
      return state !== undefined && state.sent + state.dropped.spool === 400 && state.behindBytes === 0;
    });
    assert.ok(targetsOf(receiver.accepted).includes('/399'));
    assert.ok(!targetsOf(receiver.accepted).includes('/0'));
  });

  test('an edge that ends in the middle of a post loses no line, and a key never stands for other records', async (t) => {
    await using receiver = await startSinkReceiver();
    const bench = open(t);
    bench.sinks.set('a', { ...SINK, url: receiver.url, maxRecords: 40 });
    const written = new Set<string>();
    const write = async (from: number) => {
      await bench.write(targets(from, from + 100));
      for (const target of targets(from, from + 100)) written.add(target);
    };
    for (let run = 0; run < 4; run++) {
      const held = Promise.withResolvers<void>();
      let posts = 0;
      receiver.answer = () => ({ status: 200, ...(posts++ > 0 && { after: held.promise }) });
      const running = bench.start();
      await begun(running);
      await write(run * 100);
      await eventually('a post is held', () => posts > 1);
      await running[Symbol.asyncDispose]();
      held.resolve();
    }
    receiver.answer = () => ({ status: 200 });
    const running = bench.start();
    await eventually('all arrive', () => written.difference(new Set(targetsOf(receiver.accepted))).size === 0);
    await running[Symbol.asyncDispose]();
    const byKey = Map.groupBy(receiver.posts, ({ key }) => key);
    for (const [key, posts] of byKey)
      for (const { records } of posts) assert.deepEqual(records, posts[0]?.records, key);
  });

  test('a sample has about its share of the lines, and half a line of a killed worker is no record', async (t) => {
    await using receiver = await startSinkReceiver();
    const bench = open(t);
    bench.sinks.set('a', { ...SINK, url: receiver.url, samplePercent: 25 });
    const running = bench.start();
    await begun(running);
    await bench.write(targets(0, 4_000));
    await eventually('some arrive', () => running.states[0]?.behindBytes === 0 && receiver.accepted.length > 0);
    const sampled = targetsOf(receiver.accepted).length;
    assert.ok(sampled > 800 && sampled < 1_200, `${sampled} of 4000`);
    const [log = ''] = readdirSync(bench.spools).filter((file) => file.endsWith('.log'));
    appendFileSync(join(bench.spools, log), '7\t203.0.113.9\thalf');
    await bench.write([], { isEnded: true });
    await eventually('the file is done with', () => !existsSync(join(bench.links, log)));
    assert.deepEqual(running.troubles, []);
  });

  test('a slow receiver gets a few posts at a time, and delays no other sink', async (t) => {
    await using slow = await startSinkReceiver();
    await using quick = await startSinkReceiver();
    let [underWay, most] = [0, 0];
    slow.answer = () => {
      most = Math.max(most, ++underWay);
      return { status: 200, after: delay(300).then(() => underWay--) };
    };
    const bench = open(t);
    bench.sinks.set('a', { ...SINK, url: slow.url, maxRecords: 10 });
    bench.sinks.set('b', { ...SINK, url: quick.url });
    const running = bench.start();
    await begun(running, ['a', 'b']);
    for (let file = 0; file < 8; file++) await bench.write(targets(file * 20, file * 20 + 20), { isEnded: true });
    await eventually('the quick one has all', () => targetsOf(quick.accepted).length === 160);
    await eventually('the slow one has all', () => targetsOf(slow.accepted).length === 160);
    assert.ok(most <= 4, `${most} posts at once`);
    assert.equal(new Set(targetsOf(slow.accepted)).size, 160);
  });
});

/** The edge's side of the feed against a control that says right and wrong things. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import type { StoredChange } from '#feed/client/confirmations.ts';
import { openSocketLink } from '#feed/client/control-link.ts';
import { requestFeed } from '#feed/client/feed-request.ts';
import { type ResourceChange, UNKNOWN_POSITION } from '#feed/wire/protocol.ts';
import { createLogger } from '#lib/logger.ts';
import { eventually } from '../support/eventually.ts';
import { startTestEdge } from '../support/feed/feed.ts';
import { makeSnapshot, put, startScriptedControl } from '../support/feed/scripted-control.ts';
import { temporaryFolder } from '../support/temporary.ts';

const A1 = put(1, 'a.example.com', 1);
const B1 = put(2, 'b.example.com', 1);

describe('feed client', () => {
  test("a delta that does not begin at the edge's position makes it reconnect and report its position", async (t) => {
    await using c = await start(t, A1);
    const { control, edge } = c;
    await control.sayDelta(2, 3, put(3, 'c.example.com', 3));
    await eventually('it comes back', () => control.streams.length === 2);
    assert.deepEqual(control.streams, ['epoch=e1&revision=1&tag=t1', 'epoch=e1&revision=1&tag=t1']);
    assert.equal(edge.store.getSpec('c.example.com'), undefined);
    await control.sayDelta(1, 3, put(3, 'c.example.com', 3));
    await eventually('it goes on', () => edge.client.appliedRevision === 3);
    await control.sayDelta(1, 3, put(3, 'c.example.com', 3));
    await eventually('a delta told twice is a gap too', () => control.streams.length === 3);
    assert.equal(control.streams[2], 'epoch=e1&revision=3&tag=t3');
    assert.equal(control.snapshots, 1);
  });

  test('an invalid message ends the connection and changes nothing', async (t) => {
    await using c = await start(t, A1);
    const { control, edge } = c;
    const bad: readonly string[] = [
      'event: delta\ndata: {"from":1,\n\n',
      'event: delta\ndata: null\n\n',
      'event: delta\ndata: {"from":1,"to":2,"tag":"t2"}\n\n',
      'event: delta\ndata: {"from":1,"to":2,"changes":[]}\n\n',
      'event: delta\ndata: {"from":1,"to":1,"tag":"t1","changes":[]}\n\n',
      'event: delta\ndata: {"from":1,"to":"2","tag":"t2","changes":[]}\n\n',
      'event: delta\ndata: {"from":1,"to":2,"tag":"t2","changes":[{"kind":"site","key":"a.example.com","revision":2,"op":"put"}]}\n\n',
      'event: delta\ndata: {"from":1,"to":2,"tag":"t2","changes":[{"kind":"site","key":"","revision":2,"op":"delete"}]}\n\n',
      'event: delta\ndata: {"from":1,"to":2,"tag":"t2","changes":[{"kind":"site","key":"a.example.com","revision":2,"op":"drop"}]}\n\n',
    ];
    for (const [n, words] of bad.entries()) {
      await control.say(words);
      await eventually(`it comes back after ${words}`, () => control.streams.length === n + 2);
    }
    assert.deepEqual(edge.store.head(), { epoch: 'e1', revision: 1, tag: 't1' });
    await control.say(
      'event: newer-than-we-know\ndata: x\n\nid: 2\nevent: delta\ndata: {"from":1,\ndata: "to":2,"tag":"t2","changes":[]}\n\n',
    );
    await eventually('it goes on', () => edge.client.appliedRevision === 2);
    assert.equal(control.streams.length, bad.length + 1);
  });

  test('an incomplete snapshot changes nothing, and is requested again', async (t) => {
    await using c = await start(t, A1, B1);
    const { control, edge } = c;
    const whole = makeSnapshot({ revision: 9, epoch: 'e2' }, A1);
    const bad: readonly (readonly [string, Buffer])[] = [
      ['another hash', makeSnapshot({ revision: 9, epoch: 'e2', hash: '0'.repeat(64) }, A1)],
      ['a count too high', makeSnapshot({ revision: 9, epoch: 'e2', count: 2 }, A1)],
      ['a count too low', makeSnapshot({ revision: 9, epoch: 'e2', count: 0 }, A1)],
      ['no epoch', makeSnapshot({ revision: 9, epoch: '' }, A1)],
      ['the same resource twice', makeSnapshot({ revision: 9, epoch: 'e2' }, A1, A1)],
      ['a deletion', makeSnapshot({ revision: 9, epoch: 'e2' }, { kind: 'site', key: 'a', revision: 1, op: 'delete' })],
      ['cut short', whole.subarray(0, whole.length - 5)],
      ['not compressed', Buffer.from('{"epoch":"e2"}\n')],
      ['not JSON', zstdCompressSync('hello\n')],
      ['empty', Buffer.alloc(0)],
    ];
    for (const [name, snapshot] of bad) {
      control.snapshot = snapshot;
      const before = control.snapshots;
      await control.say('event: reset\ndata: {}\n\n');
      await eventually(`the snapshot is asked for: ${name}`, () => control.snapshots > before);
      await eventually(
        `the edge comes back: ${name}`,
        () => edge.client.isConnected && control.streams.length > before,
      );
      assert.deepEqual([edge.store.head()?.epoch, edge.store.countSites()], ['e1', 2], name);
    }
    control.snapshot = whole;
    await control.say('event: reset\ndata: {}\n\n');
    await eventually('the whole one is taken', () => edge.client.appliedRevision === 9);
    assert.deepEqual([edge.store.head(), edge.store.countSites()], [{ epoch: 'e2', revision: 9, tag: 't9' }, 1]);
  });

  test('a site that does not compile keeps its last version and is reported until it compiles or is gone', async (t) => {
    await using c = await start(t, A1, B1);
    const { control, edge } = c;
    const reported = async (revision: number) =>
      await eventually(`revision ${revision} is reported`, () =>
        control.reports.find((report) => report.appliedRevision === revision),
      );
    await control.sayDelta(1, 2, put(1, 'a.example.com', 2, { id: 'x' }), put(3, 'c.example.com', 2));
    const [rejection] = (await reported(2)).rejected;
    assert.deepEqual({ ...rejection, error: '' }, { kind: 'site', key: 'a.example.com', revision: 2, error: '' });
    assert.match(rejection?.error ?? '', /expected/);
    assert.equal(edge.store.getSpec('a.example.com')?.revision, 1);
    assert.equal(edge.store.getSpec('c.example.com')?.revision, 2);
    const snapshot = [
      put(1, 'a.example.com', 2, { id: 'x' }),
      put(2, 'b.example.com', 3, {}),
      put(9, 'n.example.com', 3, 1),
    ];
    control.snapshot = makeSnapshot({ revision: 3 }, ...snapshot);
    await control.say('event: reset\ndata: {}\n\n');
    assert.deepEqual(
      (await reported(3)).rejected.map(({ key }) => key),
      ['a.example.com', 'b.example.com', 'n.example.com'],
    );
    const alarm = JSON.parse(c.said.at(-1) ?? '{}');
    assert.deepEqual([alarm.rejected, alarm.first[1].key], [3, 'b.example.com']);
    assert.match(alarm.first[1].error, /expected/);
    const kept = ['a', 'b', 'c', 'n'].map((name) => edge.store.getSpec(`${name}.example.com`)?.revision);
    assert.deepEqual(kept, [1, 1, undefined, undefined]);
    const gone = { kind: 'site', key: 'b.example.com', revision: 4, op: 'delete' } as const;
    await control.sayDelta(3, 4, put(1, 'a.example.com', 4), gone, put(1, 'wrong.example.com', 4, { ...A1 }));
    assert.deepEqual(
      (await reported(4)).rejected.map(({ key }) => key),
      ['n.example.com', 'wrong.example.com'],
    );
  });

  test('the acknowledged revision stays before the first of more than a thousand refusals that has no place', async (t) => {
    await using c = await start(t, A1);
    const bad = Array.from({ length: 1002 }, (_, n) => put(n + 1, `d${n}.example.com`, n + 2, {}));
    await c.control.sayDelta(1, 1003, ...bad);
    await eventually('all are refused', () => c.edge.store.countRejections() === 1002);
    const alarms = c.said.map((line) => JSON.parse(line)).filter(({ rejected }) => rejected !== undefined);
    assert.deepEqual(
      alarms.map(({ rejected, first }) => [rejected, first.length, first[0].key]),
      [[1002, 10, 'd0.example.com']],
    );
    const report = await eventually('it is reported', () =>
      c.control.reports.find(({ rejected }) => rejected.length > 0),
    );
    assert.deepEqual([report.rejected.length, report.appliedRevision], [1000, 1001]);
  });

  test('a change is acknowledged only when it is confirmed; later changes are confirmed together', async (t) => {
    const asked: StoredChange[] = [];
    let answer = Promise.withResolvers<void>();
    const confirm = async (change: StoredChange) => {
      asked.push(change);
      await answer.promise;
    };
    await using c = await start(t, confirm, A1);
    const { control, edge } = c;
    await eventually('the snapshot is to be confirmed', () => asked.length === 1);
    for (let to = 2; to <= 40; to += 1) await control.sayDelta(to - 1, to, put(1, `d${to % 3}.example.com`, to));
    await eventually('all are stored', () => edge.store.head()?.revision === 40);
    assert.deepEqual([control.reports, edge.client.appliedRevision, asked.length], [[], undefined, 1]);
    const first = answer;
    answer = Promise.withResolvers();
    first.resolve();
    await eventually('the rest is asked for', () => asked.length === 2);
    await eventually('the first is reported', () =>
      control.reports.some(({ appliedRevision }) => appliedRevision === 1),
    );
    answer.resolve();
    await eventually('the rest is reported', () =>
      control.reports.some(({ appliedRevision }) => appliedRevision === 40),
    );
    assert.deepEqual(asked[0], { revision: 1, names: undefined });
    assert.deepEqual(asked[1], { revision: 40, names: ['d2.example.com', 'd0.example.com', 'd1.example.com'] });
  });

  test('a confirmation that fails is requested again, with the changes since then', async (t) => {
    const asked: StoredChange[] = [];
    const confirm = async (change: StoredChange) => {
      asked.push(change);
      if (asked.length === 2) throw new Error('a worker died');
    };
    await using c = await start(t, confirm, A1);
    await eventually('the snapshot is confirmed', () => c.edge.client.appliedRevision === 1);
    await c.control.sayDelta(1, 2, put(3, 'c.example.com', 2));
    await eventually('it is in force in the end', () => c.edge.client.appliedRevision === 2);
    assert.deepEqual(asked.slice(1), [
      { revision: 2, names: ['c.example.com'] },
      { revision: 2, names: ['c.example.com'] },
    ]);
  });

  test('closing does not wait for an overdue confirmation', async (t) => {
    const c = await start(t, () => new Promise(() => undefined), A1);
    await eventually('it is stored', () => c.edge.store.head()?.revision === 1);
    await c[Symbol.asyncDispose]();
  });

  test('an edge that starts without control has its last set, and reports it once control is there', async (t) => {
    const folder = temporaryFolder(t);
    const socketPath = join(folder, 'feed.sock');
    {
      await using control = await startScriptedControl(socketPath);
      control.snapshot = makeSnapshot({ revision: 5 }, A1);
      await using edge = startTestEdge(folder, socketPath);
      await eventually('it is stored', () => edge.store.head()?.revision === 5);
    }
    await using edge = startTestEdge(folder, socketPath);
    assert.equal(edge.store.getSpec('a.example.com')?.spec.id, 1);
    await eventually('it tries on', () => edge.client.reconnects > 1);
    assert.equal(edge.client.appliedRevision, 5);
    await using control = await startScriptedControl(socketPath);
    await eventually('it reports', () => control.reports.some(({ appliedRevision }) => appliedRevision === 5));
    assert.deepEqual([control.snapshots, control.streams], [0, ['epoch=e1&revision=5&tag=t5']]);
  });

  test('a control without a common version is logged once; the edge serves its last set on', async (t) => {
    const folder = temporaryFolder(t);
    const socketPath = join(folder, 'feed.sock');
    await using control = await startScriptedControl(socketPath);
    control.snapshot = makeSnapshot({ revision: 5 }, put(1, 'a.example.com', 5));
    {
      await using edge = startTestEdge(folder, socketPath);
      await eventually('it has the set', () => edge.client.appliedRevision === 5);
    }
    const offered: (string | undefined)[] = [];
    control.beforeAnswer = (request, response) => {
      offered.push(request.headers['causeway-feed']?.toString());
      response.writeHead(426, { 'causeway-feed': '3-4' }).end('causeway-feed: this control speaks 3-4, not 1-2\n');
    };
    const said: string[] = [];
    const log = createLogger({ level: 'error', name: 'test', destination: { write: (line) => void said.push(line) } });
    await using edge = startTestEdge(folder, socketPath, { log });
    await eventually('it asks', () => offered.length > 0 && said.length > 0);
    assert.deepEqual(new Set(offered), new Set(['1-2']));
    assert.match(said.join(''), /no version of the feed/);
    assert.equal(edge.client.appliedRevision, 5);
    assert.equal(edge.store.getSpec('a.example.com')?.revision, 5);
  });

  test('a stream that ends with goaway is opened again without an error', async (t) => {
    await using c = await start(t, A1);
    await c.control.say('event: goaway\ndata: {"spreadMs":0}\n\n');
    await eventually('it comes back', () => c.control.streams.length === 2);
    assert.deepEqual(c.said, []);
  });

  test('an edge follows a control that announced its end until it leaves, and does not hurry if that ends', async (t) => {
    await using c = await start(t, A1);
    await c.control.say('event: goaway\ndata: {"spreadMs":30000}\n\n');
    await c.control.sayDelta(1, 2, put(2, 'b.example.com', 2));
    await eventually('it has the change', () => c.edge.client.appliedRevision === 2);
    assert.deepEqual([c.control.streams.length, c.said], [1, []]);
  });

  test('a silent control is given up', async (t) => {
    const socketPath = join(temporaryFolder(t), 'silent.sock');
    const silent = createServer((socket) => socket.on('error', () => undefined)).listen(socketPath);
    t.after(() => silent.close());
    const { signal } = new AbortController();
    await assert.rejects(
      requestFeed({ link: openSocketLink(socketPath), path: '/', signal, silenceMs: 50 }),
      /sent nothing for 50 ms/,
    );
    const half = join(temporaryFolder(t), 'half.sock');
    const server = createServer((socket) => {
      socket.on('error', () => undefined); // it is to be cut
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n:');
    }).listen(half);
    t.after(() => server.close());
    const response = await requestFeed({ link: openSocketLink(half), path: '/', signal, silenceMs: 1_000 });
    await assert.rejects(response.toArray(), /sent nothing for 1000 ms/);
  });
});

test('the loss of control is logged once, and its return, each with the control', async (t) => {
  const folder = temporaryFolder(t);
  const socketPath = join(folder, 'feed.sock');
  const said: string[] = [];
  const write = (line: string) => {
    const { level, msg, control } = JSON.parse(line);
    if (control !== undefined) said.push(`${level} ${msg}`);
    if (control !== undefined) assert.equal(control, socketPath);
  };
  const log = createLogger({ level: 'info', name: 'test', destination: { write } });
  await using edge = startTestEdge(folder, socketPath, { log });
  const { client } = edge;
  await eventually('it tries on', () => client.reconnects > 2);
  for (let times = 0; times < 2; times++) {
    await using control = await startScriptedControl(socketPath);
    control.snapshot = makeSnapshot({ revision: 1 }, A1);
    await eventually('it follows', () => client.isConnected);
    const before = client.reconnects;
    await control[Symbol.asyncDispose]();
    await eventually('it tries on', () => client.reconnects > before + 2);
  }
  const [connected, lost] = [
    'info connected to control',
    'warn connection to control lost; retrying, with the last settings in force',
  ];
  assert.deepEqual(said, [
    'warn cannot connect to control; retrying, with the last settings in force',
    ...[connected, lost],
    ...[connected, lost],
  ]);
});

test('a control that stops a moment before the edge is not logged as lost', async (t) => {
  const isToldOf = async () => {
    const socketPath = join(temporaryFolder(t), 'feed.sock');
    await using control = await startScriptedControl(socketPath);
    const said: string[] = [];
    const log = createLogger({ level: 'warn', name: 'test', destination: { write: (line) => void said.push(line) } });
    await using edge = startTestEdge(temporaryFolder(t), socketPath, { log });
    await eventually('it follows', () => edge.client.isConnected);
    control.hangUp();
    while (edge.client.reconnects === 0) await setImmediate();
    await edge[Symbol.asyncDispose]();
    return said.length > 0;
  };
  // A machine that stands still for a moment makes a loss of it: one of several will do.
  for (let tries = 0; await isToldOf(); tries++) assert.ok(tries < 5, 'each of them was told of');
});

test('a control that does not count the edge is logged once, apart from one whose database was restored', async (t) => {
  const rows = [
    [UNKNOWN_POSITION, /"level":"?(40|warn).*restored/],
    ['edge: another edge reports as e', /"level":"?(50|error).*rejects the reports of this edge/],
  ] as const;
  for (const [refusal, expected] of rows) {
    const folder = temporaryFolder(t);
    const socketPath = join(folder, 'feed.sock');
    await using control = await startScriptedControl(socketPath);
    control.refusal = refusal;
    const said: string[] = [];
    const log = createLogger({ level: 'warn', name: 'test', destination: { write: (line) => void said.push(line) } });
    await using _edge = startTestEdge(folder, socketPath, { confirm: async () => undefined, log });
    await eventually('it is said', () => said.length > 0);
    await control.sayDelta(1, 2);
    await eventually('it has reported again', () => control.reports.length > 1);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', expected);
  }
});

/** An edge that has taken these by snapshot as revision 1, and follows. */
async function start(
  t: TestContext,
  ...given: readonly (ResourceChange | ((change: StoredChange) => Promise<void>))[]
) {
  const folder = temporaryFolder(t);
  const socketPath = join(folder, 'feed.sock');
  const control = await startScriptedControl(socketPath);
  control.snapshot = makeSnapshot({ revision: 1 }, ...given.filter((item) => typeof item !== 'function'));
  const [confirm = async () => undefined] = given.filter((item) => typeof item === 'function');
  const said: string[] = [];
  const log = createLogger({ level: 'error', name: 'test', destination: { write: (line) => void said.push(line) } });
  const edge = startTestEdge(folder, socketPath, { confirm, log });
  await eventually('it follows', () => edge.client.isConnected);
  return {
    control,
    edge,
    /** What the edge's log has, errors alone. */
    said,
    async [Symbol.asyncDispose]() {
      await edge[Symbol.asyncDispose]();
      await control[Symbol.asyncDispose]();
    },
  };
}

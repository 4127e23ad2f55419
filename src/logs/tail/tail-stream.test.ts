/** The stream of somebody who follows a log, without sockets: rates, hostile edges, and the end. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { MAX_LINES_PER_SECOND, TailStream } from './tail-stream.ts';

const LINE = [
  '192.0.2.1',
  'time',
  '15',
  '412',
  '20931',
  'h',
  'GET',
  '/a',
  'HTTP/1.1',
  'TCP_HIT/200',
  '-',
  '-',
  '-',
].join('\t');

function start(t: TestContext, isOwn = async () => true) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const at = { now: 0 };
  let ends = 0;
  const stream = new TailStream({
    seconds: 60,
    monotonic: () => at.now,
    isOwn,
    onEnd: () => {
      ends += 1;
    },
  });
  const items = () => {
    let text = '';
    for (let piece = stream.body.read(); piece !== null; piece = stream.body.read()) text += piece;
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  };
  const pass = async (ms: number) => {
    at.now += ms;
    t.mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stream, items, pass, ends: () => ends };
}

test('lines beyond 200 a second are left out and counted, and so are those that edges leave out', async (t) => {
  const { stream, items, pass } = start(t);
  assert.deepEqual(items(), [{ start: 60 }]);
  for (let n = 0; n < 5; n++) stream.take('e1', { lines: Array(50).fill(LINE), skipped: n });
  assert.equal(items().length, MAX_LINES_PER_SECOND);
  await pass(1000);
  assert.deepEqual(items(), [{ dropped: 60 }]);
  stream.take('e1', { lines: [LINE], skipped: 0 });
  const [{ edge, client, status, cache, duration_ms }] = items();
  assert.deepEqual([edge, client, status, cache, duration_ms], ['e1', '192.0.2.1', 200, 'TCP_HIT', 15]);
});

test('a quiet log has an empty line every other second, by which a client that has left is noticed', async (t) => {
  const { stream, pass } = start(t);
  stream.body.read();
  const seen: string[] = [];
  for (let second = 1; second <= 6; second++) {
    await pass(1000);
    seen.push(String(stream.body.read() ?? ''));
  }
  assert.deepEqual(seen, ['', '\n', '', '\n', '', '\n']);
});

test('messages that no edge sends are not taken', (t) => {
  const { stream, items } = start(t);
  items();
  for (const content of [
    null,
    7,
    'x',
    {},
    { lines: 'x' },
    { lines: Array(1000).fill(LINE) },
    { lines: [7, 'x'.repeat(9000)] },
  ])
    stream.take('e1', content);
  stream.take('e1', { lines: [], skipped: -5 });
  stream.take('e1', { lines: [], skipped: 1e300 });
  assert.deepEqual(items(), []);
});

test('the stream ends when the time is over, when the account loses the domain, and once', async (t) => {
  const { stream, items, pass, ends } = start(t);
  await pass(59_000);
  assert.equal(ends(), 0);
  await pass(1000);
  stream.end('stopping');
  stream.take('e1', { lines: [LINE], skipped: 0 });
  assert.deepEqual([items().at(-1), ends()], [{ end: 'time' }, 1]);
  t.mock.timers.reset();

  let isOwn = true;
  const lost = start(t, async () => isOwn);
  await lost.pass(1000);
  assert.equal(lost.ends(), 0);
  isOwn = false;
  await lost.pass(1000);
  assert.deepEqual([lost.items().at(-1), lost.ends()], [{ end: 'domain' }, 1]);
});

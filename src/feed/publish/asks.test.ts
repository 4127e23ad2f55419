/** Questions to edges: which answers count, for how long, and how two controls share them. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { createLogger } from '#lib/logger.ts';
import { type AskedEdges, Asks } from './asks.ts';
import type { Peer } from './peer.ts';

const ASKED: AskedEdges = { groups: ['eu'], isOne: false };
const peerOf = (group: string): Peer => ({ kind: 'edge', edge: 'e1', serial: '1', group });

function startControls() {
  const at = { now: 0 };
  const listeners: ((message: string) => void)[] = [];
  const log = createLogger({ level: 'silent', name: 'test' });
  const start = () => {
    const events: string[] = [];
    const own = { listener: (_: string) => {} };
    const asks = new Asks({
      db: {
        onMessage: (listener) => {
          own.listener = listener;
          listeners.push(listener);
          return () => undefined;
        },
        tellControls: async (message) => {
          for (const listener of listeners) if (listener !== own.listener) listener(message);
        },
      },
      streams: { sendTo: (event) => events.push(event) },
      monotonic: () => at.now,
      log,
    });
    return { asks, events };
  };
  return { at, first: start(), second: start() };
}

test('an answer counts while its question is open, from edges of the groups that were asked', () => {
  const { at, first } = startControls();
  const answers: unknown[] = [];
  const open = first.asks.ask({ content: 'why', limitMs: 1000, asked: ASKED }, (answer) => answers.push(answer));
  assert.ok(open !== undefined);
  const answer = { edge: 'e1', content: 'because' };
  first.asks.takeAnswer(open.id, answer, peerOf('us'));
  first.asks.takeAnswer('another id', answer, peerOf('eu'));
  assert.deepEqual(answers, []);
  first.asks.takeAnswer(open.id, answer, peerOf('eu'));
  first.asks.takeAnswer(open.id, answer, undefined);
  assert.deepEqual(answers, [answer, answer]);
  at.now = 400;
  const [later = ''] = first.asks.eventsFor(() => true);
  assert.match(later, /"limitMs":600,"content":"why"/);
  assert.deepEqual(
    first.asks.eventsFor(() => false),
    [],
  );
  open[Symbol.dispose]();
  first.asks.takeAnswer(open.id, answer, peerOf('eu'));
  assert.deepEqual([answers.length, first.asks.eventsFor(() => true)], [2, []]);
  assert.match(first.events.at(-1) ?? '', /"limitMs":0/);
});

test('another control asks its edges too, passes their answers back, and withdraws the question', () => {
  const { first, second } = startControls();
  const answers: unknown[] = [];
  const open = first.asks.ask({ content: 'why', limitMs: 1000, asked: ASKED }, (answer) => answers.push(answer));
  assert.ok(open !== undefined);
  assert.equal(second.events.length, 1);
  second.asks.takeAnswer(open.id, { edge: 'e2', content: 'there' }, peerOf('eu'));
  assert.deepEqual(answers, [{ edge: 'e2', content: 'there' }]);
  open[Symbol.dispose]();
  assert.match(second.events.at(-1) ?? '', /"limitMs":0/);
});

test('the number of open questions has a bound, and those whose time is over make room', () => {
  const { at, first } = startControls();
  const ask = () => first.asks.ask({ content: 1, limitMs: 1000, asked: ASKED }, () => undefined);
  for (let n = 0; n < 200; n++) assert.ok(ask() !== undefined);
  assert.equal(ask(), undefined);
  at.now = 1000;
  assert.ok(ask() !== undefined);
});

test('an upload is taken by the control that asks, from an edge of the groups that were asked, and only if it is wanted', () => {
  const { first, second } = startControls();
  const upload = { edge: 'e1', body: Readable.from([]) };
  const isWanted = [true, false];
  const open = first.asks.ask(
    { content: 'send it', limitMs: 1000, asked: ASKED },
    () => undefined,
    () => isWanted.shift() ?? assert.fail(),
  );
  const plain = first.asks.ask({ content: 'why', limitMs: 1000, asked: ASKED }, () => undefined);
  assert.ok(open !== undefined && plain !== undefined);
  assert.equal(first.asks.takeUpload(open.id, upload, peerOf('us')), 'unknown');
  assert.equal(first.asks.takeUpload(plain.id, upload, peerOf('eu')), 'unknown');
  assert.equal(second.asks.takeUpload(open.id, upload, peerOf('eu')), 'unknown');
  assert.equal(first.asks.takeUpload(open.id, upload, peerOf('eu')), 'taken');
  assert.equal(first.asks.takeUpload(open.id, upload, undefined), 'unwanted');
  open[Symbol.dispose]();
  assert.equal(first.asks.takeUpload(open.id, upload, undefined), 'unknown');
});

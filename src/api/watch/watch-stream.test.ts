import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HINT_KINDS, type Hint } from '#model/hint.ts';
import { COMMENT_MS, MAX_UNREAD_BYTES, type WatchEnd, WatchStream } from './watch-stream.ts';

const HINT: Hint = { kind: 'domain', id: '7', at: 1, hint: 'domain.change', accountId: 2 };

function open(whyEnded: () => Promise<string | undefined> = async () => undefined) {
  const ends: WatchEnd[] = [];
  const clock = { now: 0 };
  const stream = new WatchStream({
    watcher: { accountId: 2, domainIds: undefined, kinds: HINT_KINDS, ids: [] },
    monotonic: () => clock.now,
    whyEnded,
    position: () => ({ audit: 5, event: 6 }),
    onEnd: (why) => void ends.push(why),
  });
  return { stream, ends, clock };
}

function readAll({ body }: WatchStream): string {
  let text = '';
  for (let piece = body.read(); piece !== null; piece = body.read()) text += piece;
  return text;
}

test('a reader that falls behind loses hints, is told of the gap when it has read, and goes on', async () => {
  const { stream, ends } = open();
  let sent = 0;
  while (stream.offer(HINT)) sent += 1;
  assert.ok(stream.body.readableLength >= MAX_UNREAD_BYTES && stream.body.readableLength < MAX_UNREAD_BYTES + 200);
  await stream.tick();
  assert.ok(sent > 100);
  const unread = readAll(stream);
  assert.doesNotMatch(unread, /event: gap/);
  assert.equal(stream.offer(HINT), false, 'the gap goes first');
  await stream.tick();
  assert.equal(stream.offer(HINT), true);
  assert.match(readAll(stream), /^event: gap\ndata: \{\}\n\nid: 5-6\nevent: domain\n/);
  assert.deepEqual(ends, []);
});

test('a reader that takes nothing for 30 s is cut once it has left too much', async () => {
  const { stream, ends, clock } = open();
  clock.now = 100_000;
  await stream.tick();
  assert.deepEqual(ends, [], 'it has left nothing');
  while (stream.offer(HINT));
  clock.now += 31_000;
  await stream.tick();
  assert.deepEqual(ends, ['stalled']);
  assert.equal(stream.body.destroyed, true);
});

test('each 15 s there is a comment with the position, and the caller is asked about', async () => {
  let asked = 0;
  const { stream, clock } = open(async () => {
    asked += 1;
    return asked === 2 ? 'tokenRevoked' : undefined;
  });
  for (clock.now = 0; clock.now < COMMENT_MS; clock.now += 1000) await stream.tick();
  assert.equal(asked, 0);
  await stream.tick();
  assert.deepEqual([asked, readAll(stream)], [1, 'id: 5-6\n:\n\n']);
  clock.now += COMMENT_MS;
  await stream.tick();
  assert.match(readAll(stream), /event: bye\ndata: \{"reason":"tokenRevoked"\}\n\n$/);
});

test('a caller that cannot be asked about keeps its stream', async () => {
  const { stream, ends } = open(async () => {
    throw new Error('the database is away');
  });
  await stream.askAgain();
  assert.deepEqual(ends, []);
  stream.end('stopping');
  stream.end('stopping');
  assert.deepEqual(ends, ['bye']);
});

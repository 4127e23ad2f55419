import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { RecordingSpool } from './spool.ts';

const FACTS = { app: 'live', stream: 'a', broadcast: 'b1', beganAt: 1, baseMs: 0 };

test('a domain gets at most half of the spool, and all together the whole', async (t) => {
  const spool = new RecordingSpool(temporaryFolder(t), 100, () => undefined);
  const [one, two] = [1, 2].map((domainId) => spool.begin({ id: `r${domainId}`, domainId, ...FACTS }));
  assert.ok(one !== undefined && two !== undefined);
  const rows = [
    [one, 0, 1, 50, true],
    [one, 0, 1, 51, false],
    [one, 50, 1, 1, false],
    [two, 0, 2, 50, true],
    [two, 49, 2, 1, true],
    [one, 0, 3, 2, false],
    [one, -10, 1, 10, true],
  ] as const;
  for (const [spooled, written, domainId, bytes, hasRoom] of rows) {
    spool.count(spooled, written);
    assert.equal(spool.hasRoom(domainId, bytes), hasRoom, `${domainId} ${bytes}`);
  }
  await spool.forget(one);
  await spool.forget(two);
  assert.equal(spool.bytes, 0);
});

test('a folder without facts is deleted; any other is sent, as crashed unless it has an end', async (t) => {
  const directory = temporaryFolder(t);
  const folder = (name: string, files: Readonly<Record<string, string>>) => {
    mkdirSync(join(directory, name));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, name, file), text);
  };
  const facts = (id: string) => JSON.stringify({ id, domainId: 7, ...FACTS });
  folder('7.empty', {});
  folder('7.half', { 'init.mp4': 'x', 'facts.json.new': '{' });
  folder('7.open', { 'init.mp4': 'x', 'facts.json': facts('open'), '9.piece': '12345', '10.open': '123' });
  folder('7.whole', { 'init.mp4': 'x', 'facts.json': facts('whole'), '0.piece': '1', 'end.ended': '' });
  folder('7.told', { 'init.mp4': 'x', 'facts.json': facts('told'), 'end.full': '' });
  const deleted: string[] = [];
  const spool = new RecordingSpool(directory, 1_000, (path) => deleted.push(path));
  assert.deepEqual(deleted.sort(), [join(directory, '7.empty'), join(directory, '7.half')]);
  const found = new Map(
    [0, 1, 2].map(() => {
      const next = spool.next();
      return [next?.facts.id, [next?.pieces, next?.nextPiece, next?.end]];
    }),
  );
  assert.deepEqual(found.get('open'), [[9, 10], 11, 'crashed']);
  assert.deepEqual(found.get('whole'), [[0], 1, 'ended']);
  assert.deepEqual(found.get('told'), [[], 0, 'full']);
  assert.equal(spool.bytes, 9);
  assert.equal(spool.waitingPieces, 3);
  for (let next = spool.next(); next !== undefined; next = spool.next()) await spool.forget(next);
  assert.equal(spool.bytes, 0);
  assert.deepEqual(readdirSync(directory), []);
});

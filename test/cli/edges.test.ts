/** `causeway edge` and `causeway fleet` against a running control, to which edges report. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startControl } from '../support/cli/control.ts';
import { eventually } from '../support/eventually.ts';
import { READY, startTestEdge } from '../support/feed/feed.ts';
import { runCommand } from '../support/process/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('an edge is listed, shown, drained, put back and removed', async (t) => {
  const control = await startControl(t);
  const runAny = (args: readonly string[]) => runCommand(t, [...args, '--data-dir', control.dataDir]);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runAny(args);
    assert.deepEqual([code, stderr], [0, ''], args.join(' '));
    return stdout;
  };
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await runAny(args);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    return stderr;
  };
  const vitals = { ...READY, clockOffsetMs: 15, health: [{ check: 'disk', ok: false, detail: 'EROFS' }] as const };
  const edge = startTestEdge(temporaryFolder(t), join(control.dataDir, 'run/feed.sock'), {
    edgeId: 'fra1',
    describeVitals: () => vitals,
  });
  t.after(() => edge[Symbol.asyncDispose]());
  await eventually('the edge has reported', async () => /fra1 +default +ready/.test(await run('edge', 'list')));
  assert.match(
    await run('edge', 'list', '--status', 'away'),
    /^EDGE +GROUP +STATUS +SEEN +REVISION +LAG +REQ\/S +BUILD\n$/,
  );
  assert.match(await run('edge', 'show', 'fra1'), /check disk +failed: EROFS/);
  assert.match(await run('edge', 'show', 'fra1'), /clock +15 ms ahead of control/);
  assert.match(await refused('edge', 'show', 'par1'), /edge par1 does not exist/);

  assert.equal(await run('edge', 'drain', 'fra1'), 'edge fra1 is draining\n');
  assert.match(await refused('edge', 'drain'), /name an edge/);
  assert.match((await runAny(['edge', 'drain', 'fra1', '--wait', '--max', '2d'])).stderr, /expected 1m to 24h/);
  const waiting = runAny(['edge', 'drain', 'fra1', '--wait', '--max', '1h']);
  assert.match(await run('fleet', 'status'), /default +draining +1/);
  await eventually('the edge knows it', () => edge.store.ordersOf('fra1')?.isDraining);
  assert.equal(await run('edge', 'undrain', 'fra1'), 'edge fra1 is ready\n');
  await eventually('the edge knows it', () => edge.store.ordersOf('fra1') === undefined);
  const { code, stderr } = await waiting;
  assert.equal(code, 1);
  assert.match(stderr, /edge fra1 is ready: its drain was ended/);
  assert.match(await refused('edge', 'remove', 'fra1'), /fra1 is ready and serves viewers/);
  const removed = JSON.parse(await run('edge', 'remove', 'fra1', '--force', '--json'));
  assert.deepEqual(removed, { status: 'removed' });
  const events = await run('fleet', 'events', 'fra1');
  assert.deepEqual(
    [...events.matchAll(/fra1 +(drain|undrain|remove) /g)].map(([, event]) => event),
    ['remove', 'undrain', 'drain'],
  );
});

test('an edge is drained by itself, in its data directory, without a control', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const run = (...args: string[]) => runCommand(t, ['edge', ...args, '--self', '--data-dir', dataDir]);
  const { code, stderr } = await run('drain');
  assert.equal(code, 1);
  assert.match(stderr, /no edge has run from/);
  mkdirSync(join(dataDir, 'edge'), { recursive: true });
  assert.deepEqual(await run('drain'), { code: 0, stdout: 'this edge drains itself\n', stderr: '' });
  assert.ok(existsSync(join(dataDir, 'edge/drain')));
  assert.match((await run('drain', 'fra1')).stderr, /name no other/);
  assert.deepEqual(await run('undrain', '--json'), { code: 0, stdout: '{"drains_itself":"0"}\n', stderr: '' });
  assert.ok(!existsSync(join(dataDir, 'edge/drain')));
  assert.equal((await run('undrain')).code, 0);
});

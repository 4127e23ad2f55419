/** `causeway edge` and `causeway fleet` against a running control, to which edges report. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { startControl } from '../support/cli/control.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { READY, startTestEdge } from '../support/feed/feed.ts';
import { createFleet, newMachine } from '../support/fleet/fleet.ts';
import { runCommand, spawnCommand } from '../support/process/service.ts';
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
  const vitals = { ...READY, clockOffsetMs: -15, health: [{ check: 'disk', ok: false, detail: 'EROFS' }] as const };
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
  assert.match(await run('edge', 'show', 'fra1'), /clock +15 ms behind control/);
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
  assert.match(stderr, /edge fra1 is ready: its drain was canceled/);
  assert.match(await refused('edge', 'remove', 'fra1'), /fra1 is ready and serves viewers/);
  const removed = JSON.parse(await run('edge', 'remove', 'fra1', '--force', '--json'));
  assert.deepEqual(removed, { status: 'removed' });
  assert.doesNotMatch(await run('edge', 'list'), /fra1/);
  assert.match(await run('edge', 'list', '--status', 'removed'), /fra1 +default +removed/);
  const events = await run('fleet', 'events', 'fra1');
  assert.deepEqual(
    [...events.matchAll(/fra1 +(drain|undrain|remove) /g)].map(([, event]) => event),
    ['remove', 'undrain', 'drain'],
  );
});

test('a wait outlives a restart of control and ends when the edge is drained; a drain outlives its wait', async (t) => {
  const control = await startControl(t);
  const settings = { CAUSEWAY_DATA_DIR: control.dataDir };
  let requests = 40;
  const edge = startTestEdge(temporaryFolder(t), join(control.dataDir, 'run/feed.sock'), {
    edgeId: 'fra1',
    describeVitals: () => ({ ...READY, load: { ...READY.load, requests } }),
  });
  t.after(() => edge[Symbol.asyncDispose]());
  await eventually('the edge is ready', async () =>
    /fra1 +default +ready/.test((await runCommand(t, ['edge', 'list'], { settings })).stdout),
  );
  const wait = () => spawnCommand(t, ['edge', 'drain', 'fra1', '--wait'], { settings });
  const order = () => edge.store.ordersOf('fra1')?.isDraining;

  const interrupted = wait();
  await eventually('the edge drains', order);
  interrupted.child.kill('SIGINT');
  assert.notEqual(await interrupted.exit, 0);
  assert.equal(order(), true);

  assert.equal((await runCommand(t, ['edge', 'undrain', 'fra1'], { settings })).code, 0);
  await eventually('the edge is back', () => order() !== true);
  const waiting = wait();
  await eventually('control has taken the order to drain', order);
  await control.restart(() => {
    using database = new DatabaseSync(join(control.dataDir, 'causeway.db'));
    database.exec("update edge set drain_at = drain_at - 60000 where id = 'fra1'");
  });
  await eventually('it drains on: it still answers 40 requests a second', async () =>
    /status +draining/.test((await runCommand(t, ['edge', 'show', 'fra1'], { settings })).stdout),
  );
  requests = 9;
  assert.equal(await waiting.exit, 0, waiting.stderr());
  assert.equal(waiting.stdout(), 'edge fra1 is drained\n');
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
  assert.match((await run('drain', 'fra1')).stderr, /do not name another/);
  assert.deepEqual(await run('undrain', '--json'), { code: 0, stdout: '{"drains_itself":"0"}\n', stderr: '' });
  assert.ok(!existsSync(join(dataDir, 'edge/drain')));
  assert.equal((await run('undrain')).code, 0);
});

test('the identity of a machine is shown, and that it is a copy', async (t) => {
  const fleet = await createFleet(t, await newSqlite(t));
  const { dataDir, identity } = await fleet.enrol('fra1');
  const run = (...args: string[]) => runCommand(t, ['edge', 'identity', '--data-dir', ...args]);
  const shown = JSON.parse((await run(dataDir, '--json')).stdout);
  assert.deepEqual(
    [shown.edge_id, shown.group, shown.serial, shown.controls, shown.is_copy],
    ['fra1', 'default', identity.serial, [fleet.control], '0'],
  );
  const { stdout } = await run(dataDir);
  assert.match(stdout, new RegExp(`^serial +${identity.serial}$`, 'm'));
  assert.match(stdout, /^renewed +from \d{4}-/m);
  assert.doesNotMatch(stdout, /copy/);
  const copy = newMachine(t);
  cpSync(dataDir, copy, { recursive: true });
  assert.match((await run(copy)).stdout, /^copy +yes/m);
  const { code, stderr } = await run(newMachine(t));
  assert.equal(code, 1);
  assert.match(stderr, /no identity of an edge in .*causeway edge enrol/);
});

test('a group is added by one command and changed by another, and no edge is put into one that is not there', async (t) => {
  const control = await startControl(t);
  const run = (...args: string[]) => runCommand(t, [...args, '--data-dir', control.dataDir]);
  assert.equal((await run('group', 'create', 'eu')).stdout, 'group eu added\n');
  const rows: readonly (readonly [args: readonly string[], refusal: RegExp])[] = [
    [['group', 'create', 'eu', '--default'], /group eu exists already; change it with "causeway group set"/],
    [['group', 'set', 'us'], /no group us; add it with "causeway group create"/],
    [['group', 'remove', 'us'], /edge group us does not exist/],
    [['edge', 'token', 'create', '--group', 'us'], /edge group us does not exist/],
    [['edge', 'add', 'fra1', '--group', 'us'], /edge group us does not exist/],
  ];
  for (const [args, refusal] of rows) {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    assert.match(stderr, refusal);
  }
  assert.equal((await run('group', 'set', 'eu', '--default')).stdout, 'group eu set\n');
  assert.match((await run('group', 'list')).stdout, /^eu +yes +- +0 +0$/m);
  assert.equal((await run('domain', 'add', 'a.example', 'origin.example')).code, 0);
  const served = await run('operator', 'domain', 'groups', '1', 'a.example', 'eu');
  assert.equal(served.stdout, 'groups of domain 1 set\ngroup eu has no edge yet\n');
});

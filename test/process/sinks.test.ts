/** Sinks of a whole service, set by the command: lines within seconds, also across kills of every process that takes part. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fetchFrom } from '../support/edge/edge.ts';
import { FRESH, reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { type ReceivedPost, startSinkReceiver } from '../support/logs/sink-receiver.ts';
import { type RunningService, runCommand } from '../support/process/service.ts';
import { startWithDomain } from '../support/process/service-with-domain.ts';

function commandOf(t: TestContext, { dataDir }: RunningService) {
  return (...args: readonly string[]) => runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: dataDir } });
}

const targetsOf = (posts: readonly ReceivedPost[]) =>
  posts.flatMap(({ records }) => records.map((one) => one['target']));

test('lines of requests arrive at a sink within seconds, and none is lost when processes are killed', async (t) => {
  await using receiver = await startSinkReceiver();
  const origin = await startOrigin(t, reply('hello', FRESH));
  const { service, edgePort, domain_id } = await startWithDomain(t, origin.port);
  const command = commandOf(t, service);
  const set = await command(
    'sink',
    'set',
    'own',
    receiver.url,
    '--header',
    'Authorization: Bearer 4f9c',
    '--max-seconds',
    '1',
  );
  assert.equal(set.code, 0, set.stderr);
  const tried = await command('sink', 'test', 'own');
  assert.match(tried.stdout, /^the sink own answered 200 in \d+ ms/);
  assert.deepEqual(
    receiver.accepted.map(({ records: [record] }) => [record?.['edge'], record?.['host']]),
    [['control', 'test.invalid']],
  );
  // The edge takes the sink with the next settings, and begins with the lines from then on.
  let n = 0;
  await eventually('lines arrive', async () => {
    await fetchFrom(edgePort, `/first-${n++}`);
    return targetsOf(receiver.accepted).some((target) => String(target).startsWith('/first-'));
  });
  const asked: string[] = [];
  const ask = async (path: string) => {
    assert.equal((await fetchFrom(edgePort, path)).status, 200);
    asked.push(path);
  };
  for (const part of ['edge-feed', 'control', 'edge-feed'] as const) {
    for (let i = 0; i < 20; i++) await ask(`/${part}/${asked.length}?q=1`);
    const before = service.pids()[part] ?? assert.fail(part);
    process.kill(before, 'SIGKILL');
    for (let i = 0; i < 20; i++) await ask(`/${part}/${asked.length}?q=1`);
    await eventually('it is back', () => ![undefined, before].includes(service.pids()[part]));
  }
  await eventually('all arrive', () => new Set(asked).difference(new Set(targetsOf(receiver.accepted))).size === 0);
  for (const [key, posts] of Map.groupBy(receiver.posts, (post) => post.key))
    for (const { records } of posts) if (key !== 'test') assert.deepEqual(records, posts[0]?.records, key);
  const records = receiver.accepted.flatMap((post) => post.records);
  assert.ok(
    records
      .filter(({ target }) => asked.includes(String(target)))
      .every((record) => record['domain_id'] === Number(domain_id)),
  );

  receiver.answer = () => ({ status: 403 });
  await ask('/refused');
  await eventually('the list says so', async () => {
    const { stdout } = await command('sink', 'list');
    return /own .*: dropping \(403\)/.test(stdout);
  });
  const failed = await command('sink', 'test', 'own');
  assert.deepEqual([failed.code, failed.stderr], [1, 'causeway: the sink own answered 403: \n']);
  const metrics = await (await fetch(`${service.metricsUrl}`)).text();
  assert.match(metrics, /causeway_sink_dropped_records_total\{.*sink="own".*reason="refused".*\} [1-9]/);
  assert.equal((await command('sink', 'remove', 'own')).code, 0);
  assert.match((await command('sink', 'list')).stdout, /^NAME/);
});

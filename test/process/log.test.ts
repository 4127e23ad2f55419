/** The service whose standard error is a full disk, a pipe that nobody reads, or gone: it serves on, and says what was lost. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { makePipe, opened, readSome } from '../support/process/pipe.ts';
import { type RunningService, runProcess, spawnCommand, startService } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const FREE_PORTS = { CAUSEWAY_CONTROL_LISTEN: '127.0.0.1:0', CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0' };
/** Every request is a line. */
const TRACE = { CAUSEWAY_LOG_LEVEL: 'trace' };

test('a full disk under the log costs lines, which are counted, and nothing else', async (t) => {
  const service = await startService(t, { settings: TRACE, stderr: opened(t, '/dev/full', constants.O_WRONLY) });
  const pids = service.pids();
  await ask(service, 50);
  await eventually('lines are lost', async () => (await lostLines(service)) > 0);
  assert.deepEqual(service.pids(), pids);
  assert.equal(await service.stop(), 0);
});

test('the log resumes when the disk has room again, and says how much it lost', needs('mounts'), async (t) => {
  const folder = temporaryFolder(t);
  const script = `mount -t tmpfs -o size=64k tmpfs ${folder} && head -c 64k /dev/zero > ${folder}/filler
    exec 2> ${folder}/log; ${process.execPath} --input-type=module -e '
      const { createLogger, openLogSink } = await import("${join(import.meta.dirname, '../../src/lib/logger.ts')}");
      const { readFileSync, rmSync } = await import("node:fs"); const { setTimeout: delay } = await import("node:timers/promises");
      const sink = openLogSink("test");
      const log = createLogger({ level: "info", name: "test", destination: sink });
      log.info("lost"); while (sink.lostLines === 0) await delay(5);
      rmSync("${folder}/filler"); log.info("kept"); while (!readFileSync("${folder}/log", "utf8").includes("lostLines")) await delay(5);
      log.info("last");
    '; cat ${folder}/log`;
  const lines = execFileSync(obtain('mounts'), ['-rm', 'sh', '-c', script], { encoding: 'utf8' }).trim().split('\n');
  const [kept, told, last] = lines.map((line) => JSON.parse(line));
  assert.deepEqual([kept.msg, told.lostLines, last.msg, lines.length], ['kept', 1, 'last', 3]);
});

test('a pipe that is not read blocks nothing, neither while the service runs nor when it stops', async (t) => {
  const pipe = makePipe(t);
  const reader = opened(t, pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const service = await startService(t, { settings: TRACE, stderr: opened(t, pipe, constants.O_WRONLY) });
  await eventually(
    'lines are lost',
    async () => {
      await ask(service, 200);
      return (await lostLines(service)) > 0;
    },
    60_000,
  );
  assert.equal((await fetch(`${service.controlUrl}/readyz`)).status, 200);
  let text = '';
  await eventually('its number is told', () => {
    text += readSome(reader);
    return /"lostLines":\d+/.test(text);
  });
  await ask(service, 500);
  const startedAt = performance.now();
  assert.equal(await service.stop(), 0);
  assert.ok(performance.now() - startedAt < 11_000, 'no part was killed, as one that is held up would be after 12 s');
});

test('a socket that is not read, as an init system passes one, blocks nothing', async (t) => {
  const service = await startService(t, { settings: TRACE });
  const { stderr } = service.process.child;
  stderr?.pause();
  await eventually(
    'lines are lost',
    async () => {
      await ask(service, 200);
      return (await lostLines(service)) > 0;
    },
    60_000,
  );
  assert.equal((await fetch(`${service.controlUrl}/readyz`)).status, 200);
  stderr?.resume();
  await eventually('their number is told', () => /"lostLines":\d+/.test(service.process.stderr()));
  assert.equal(await service.stop(), 0);
});

test('a reader that has gone away ends nothing', async (t) => {
  const pipe = makePipe(t);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const service = await startService(t, { settings: TRACE, stderr: opened(t, pipe, constants.O_WRONLY) });
  closeSync(reader);
  await ask(service, 50);
  await eventually('lines are lost', async () => (await lostLines(service)) > 0);
  assert.equal(await service.stop(), 0);
});

test('a full disk under standard output does not end the service, and fails a command', async (t) => {
  const stdout = opened(t, '/dev/full', constants.O_WRONLY);
  const { code, stderr } = await runProcess(t, ['config'], { stdout });
  assert.deepEqual([code, stderr], [1, 'causeway: cannot write the output: ENOSPC\n']);
  const command = spawnCommand(t, ['serve'], { stdout, settings: { ...FREE_PORTS, CAUSEWAY_ROLES: 'control' } });
  await eventually('it runs', () => /"msg":"ready"/.test(command.stderr()), 60_000);
  command.child.kill('SIGTERM');
  assert.equal(await command.exit, 0);
});

async function ask({ controlUrl, edgeUrl }: RunningService, times: number): Promise<void> {
  const AT_ONCE = 25;
  const askOnce = async () => {
    await (await fetch(`${controlUrl}/sdk/none`)).text();
    await (await fetch(edgeUrl)).text();
  };
  for (let asked = 0; asked < times; asked += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, askOnce));
}

async function lostLines({ metricsUrl }: RunningService): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  const samples = [...text.matchAll(/^causeway_log_lost_lines_total\{.*\} (\d+)/gm)];
  assert.equal(samples.length, 4, 'one of each process');
  return samples.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** The service as processes: start, stop, what dies and comes back, what refuses to start and why. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createClient } from '#client/client.ts';
import { UNUSED_SIGNALS } from '#lib/signals.ts';
import { eventually } from '../support/eventually.ts';
import {
  COMMAND,
  isAlive,
  type RunningService,
  runProcess,
  spawnCommand,
  startService,
  surroundings,
  WITH_LIVE,
} from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Every kind of part. */
const WHOLE = { settings: { ...WITH_LIVE, CAUSEWAY_EDGE_WORKERS: '2' } };
const BOOTSTRAP = 'a-bootstrap-token-of-forty-characters-xx';

describe('the service', () => {
  test('the service starts, serves, and ends with code 0 on SIGTERM', async (t) => {
    const service = await startService(t, WHOLE);
    assert.deepEqual(Object.keys(service.pids()).sort(), [
      'control',
      'edge-feed',
      'edge-worker-1',
      'edge-worker-2',
      'live',
    ]);
    assert.equal((await fetch(`${service.controlUrl}/readyz`)).status, 200);
    assert.ok((await fetch(service.edgeUrl)).status >= 400, 'the edge answers for a host that it does not know');
    const pids = Object.values(service.pids());
    assert.equal(await service.stop(), 0);
    assert.deepEqual(pids.filter(isAlive), []);
    assert.match(service.process.stdout(), /causeway is stopping: .* 10 s .*\ncauseway has stopped\n$/);
    assert.deepEqual(warningsOf(service), []);
    assert.equal(existsSync(join(service.dataDir, 'run', 'control.json')), false);
  });

  test('npm start stops the service on SIGTERM, and leaves nothing behind', async (t) => {
    const folder = temporaryFolder(t);
    const listen = ['CONTROL', 'METRICS', 'EDGE_HTTP', 'RTMP', 'DNS'].map((name) => [
      `CAUSEWAY_${name}_LISTEN`,
      '127.0.0.1:0',
    ]);
    const settings = {
      CAUSEWAY_DATA_DIR: join(folder, 'data'),
      CAUSEWAY_EDGE_HTTPS_LISTEN: 'off',
      CAUSEWAY_EDGE_WORKERS: '1',
    };
    const child = spawn('npm', ['start'], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...surroundings(), HOME: folder, ...Object.fromEntries(listen), ...settings },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    const { pid } = child;
    assert.ok(pid !== undefined);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    let isClosed = false;
    const closed = once(child, 'close').then(() => {
      isClosed = true;
    });
    t.after(() => isClosed || process.kill(-pid, 'SIGKILL'));
    await eventually('it is ready', () => output.includes('causeway is ready'), 60_000);
    child.kill('SIGTERM');
    await eventually('npm and all that it started have ended', () => isClosed, 60_000);
    await closed;
    assert.match(output, /causeway has stopped\n$/);
  });

  test('a service with control alone', async (t) => {
    const dataDir = join(temporaryFolder(t), 'data');
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o755);
    const service = await startService(t, { dataDir, settings: { CAUSEWAY_ROLES: 'control' } });

    await t.test('the service closes a data directory that others could enter, and says so', () => {
      assert.equal(statSync(dataDir).mode & 0o777, 0o700);
      assert.match(service.process.stderr(), /was accessible to other users/);
    });

    await t.test('the first access token is stored for its owner only, and its place is printed', async () => {
      assert.match(service.token, /^cwy_[\w-]{43}$/);
      assert.equal(statSync(join(dataDir, 'first-token')).mode & 0o777, 0o600);
      assert.match(service.process.stdout(), /the first access token is kept in .*first-token/);
      assert.doesNotMatch(service.process.stdout() + service.process.stderr(), new RegExp(service.token));
      await mayDoEverything(service.controlUrl, service.token);
    });

    await t.test('a start on a data directory in use is refused, and names it', async (t) => {
      const second = await runProcess(t, ['serve', '--data-dir', dataDir]);
      assert.equal(second.code, 1);
      assert.match(second.stderr, new RegExp(`the data directory ${dataDir} is in use by another causeway`));
      assert.equal((await fetch(`${service.controlUrl}/readyz`)).status, 200);
    });
  });

  test('a service with every kind of child process', async (t) => {
    const service = await startService(t, {
      settings: { ...WHOLE.settings, CAUSEWAY_BOOTSTRAP_TOKEN: BOOTSTRAP, KEPT: 'yes' },
    });

    await t.test('the service keeps its files from other users', async () => {
      for (const name of ['run/feed.sock', 'edge/outbox.db', 'live/live.db'])
        await eventually(`${name} is there`, () => existsSync(join(service.dataDir, name)));
      const names = ['.', ...readdirSync(service.dataDir, { recursive: true, encoding: 'utf8' })];
      const open = names.filter((name) => {
        const found = lstatSync(join(service.dataDir, name), { throwIfNoEntry: false });
        return found !== undefined && !found.isSymbolicLink() && (found.mode & 0o077) !== 0;
      });
      assert.deepEqual(open, []);
    });

    await t.test('settings are not in the environment of the child processes', () => {
      const pids = Object.values(service.pids());
      assert.equal(pids.length, 5);
      for (const pid of pids) {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        assert.match(environment, /KEPT=yes/);
        assert.doesNotMatch(environment, /CAUSEWAY_|DATABASE_/);
      }
    });

    await t.test('signals that the service does not support end nothing and open no debugger', async () => {
      const pids = service.pids();
      const { pid } = service.process.child;
      assert.ok(pid !== undefined);
      for (const signal of ['SIGHUP', ...UNUSED_SIGNALS] as const)
        for (const each of [pid, ...Object.values(pids)]) process.kill(each, signal);
      await eventually('all were noticed', () =>
        ['SIGHUP', ...UNUSED_SIGNALS].every((signal) => service.process.stderr().includes(`"signal":"${signal}"`)),
      );
      assert.equal((await fetch(`${service.controlUrl}/readyz`)).status, 200);
      assert.ok((await fetch(service.edgeUrl)).status >= 400);
      assert.deepEqual(service.pids(), pids);
      assert.doesNotMatch(service.process.stderr(), /Debugger listening/);
    });

    await t.test('a child process that is killed is started again, and the service continues', async () => {
      for (const part of ['edge-worker-1', 'edge-feed', 'live', 'control']) {
        const before = service.pids()[part] ?? 0;
        process.kill(before, 'SIGKILL');
        await eventually(`${part} is back`, () => (service.pids()[part] ?? before) !== before);
      }
      await eventually('control answers', async () => (await fetch(`${service.controlUrl}/readyz`)).status === 200);
      await eventually('the edge answers', async () => (await fetch(service.edgeUrl)).status >= 400);
      await eventually('the metrics show it', async () => {
        const text = await (await fetch(service.metricsUrl)).text();
        return /causeway_part_restarts_total\{part="control".*\} 1/.test(text);
      });
    });

    assert.equal(await service.stop(), 0);
  });

  test('a child process that cannot be spawned is tried again, and the rest of the service continues', async (t) => {
    const node = join(temporaryFolder(t), 'node');
    copyFileSync(process.execPath, node);
    const service = await startService(t, { node });
    const { pid } = service.process.child;
    const before = service.pids()['edge-worker-1'] ?? 0;
    rmSync(node);
    symlinkSync(node, node); // ELOOP, one of the errors for which `fork` throws
    process.kill(before, 'SIGKILL');
    await eventually(
      'it was tried twice',
      () => (service.process.stderr().match(/"how":"spawn ELOOP"/g) ?? []).length > 1,
    );
    assert.equal((await fetch(`${service.controlUrl}/readyz`)).status, 200);
    rmSync(node);
    copyFileSync(process.execPath, node);
    await eventually('the part is back', () => (service.pids()['edge-worker-1'] ?? before) !== before);
    assert.equal(service.process.child.pid, pid);
    assert.equal(await service.stop(), 0);
  });

  test('SIGHUP stops the service if it has a terminal', needs('script', 'pgrep'), async (t) => {
    const folder = temporaryFolder(t);
    const settings = {
      CAUSEWAY_ROLES: 'control',
      CAUSEWAY_CONTROL_LISTEN: '127.0.0.1:0',
      CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0',
    };
    const child = spawn(obtain('script'), ['-qefc', `exec ${process.execPath} ${COMMAND} serve`, '/dev/null'], {
      cwd: folder,
      env: { ...surroundings(), HOME: folder, ...settings },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.after(() => child.kill('SIGKILL'));
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await eventually('it is ready', () => output.includes('causeway is ready'), 60_000);
    const pid = Number(execFileSync(obtain('pgrep'), ['-P', String(child.pid)], { encoding: 'utf8' }).trim());
    process.kill(pid, 'SIGHUP');
    await eventually('it has ended', () => !isAlive(pid), 60_000);
    await eventually('its last line has come', () => output.includes('causeway has stopped'));
  });

  test('the child processes end when the supervisor is killed, and a new service can start', async (t) => {
    const service = await startService(t, WHOLE);
    const pids = Object.values(service.pids());
    assert.equal(pids.length, 5);
    service.process.child.kill('SIGKILL');
    await eventually('its parts have ended', () => !pids.some(isAlive));
    const { host } = new URL(service.controlUrl);
    const settings = { CAUSEWAY_CONTROL_LISTEN: host, CAUSEWAY_EDGE_HTTP_LISTEN: new URL(service.edgeUrl).host };
    const next = await startService(t, { dataDir: service.dataDir, settings });
    assert.deepEqual([next.controlUrl, next.edgeUrl], [service.controlUrl, service.edgeUrl]);
    assert.equal(next.token, service.token);
  });
});

describe('a start that is refused', () => {
  test('a start on a cache directory of another service is refused, and names it', async (t) => {
    const cache = join(temporaryFolder(t), 'cache');
    const settings = {
      CAUSEWAY_ROLES: 'edge',
      CAUSEWAY_EDGE_ID: 'other',
      CAUSEWAY_FEED_SOCKET: join(cache, 'feed'),
      CAUSEWAY_EDGE_HTTP_LISTEN: '127.0.0.1:0',
      CAUSEWAY_EDGE_HTTPS_LISTEN: 'off',
      CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0',
      CAUSEWAY_CACHE_DISK: cache,
    };
    const first = await startService(t, { settings: { CAUSEWAY_CACHE_DISK: cache } });
    const dataDir = join(temporaryFolder(t), 'other');
    const second = await runProcess(t, ['serve', '--data-dir', dataDir], { settings });
    assert.equal(second.code, 1);
    assert.match(second.stderr, new RegExp(`the cache directory ${cache} is in use by another causeway service`));
    assert.equal((await fetch(`${first.controlUrl}/readyz`)).status, 200);
  });

  test('a start on addresses in use is refused, and names all of them with their settings', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    t.after(() => taken.close());
    const bound = taken.address();
    const address = `127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`;
    const dataDir = join(temporaryFolder(t), 'new');
    const { code, stderr } = await runProcess(t, ['serve', '--data-dir', dataDir], {
      settings: {
        CAUSEWAY_CONTROL_LISTEN: address,
        CAUSEWAY_EDGE_HTTP_LISTEN: address,
        CAUSEWAY_EDGE_HTTPS_LISTEN: 'off',
        CAUSEWAY_RTMP_LISTEN: address,
        CAUSEWAY_DNS_LISTEN: address,
        CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0',
      },
    });
    assert.equal(code, 1);
    assert.equal(
      stderr,
      `causeway: control cannot listen on ${address}: the address is already in use (setting control-listen)\n` +
        `causeway: the edge cannot listen on ${address}: the address is already in use (setting edge-http-listen)\n` +
        `causeway: live cannot listen on ${address}: the address is already in use (setting rtmp-listen)\n` +
        `causeway: the name server cannot listen on ${address}: the address is already in use (setting dns-listen)\n`,
    );
    assert.ok(!existsSync(dataDir), 'nothing is left behind');
  });

  test('a start with an unreachable database is refused, without showing its password', async (t) => {
    const { code, stderr } = await runProcess(t, ['serve', '--roles', 'control'], {
      settings: {
        DATABASE_URL: 'postgres://me:a@hush@127.0.0.1:1/none?password=hush',
        CAUSEWAY_CONTROL_LISTEN: '127.0.0.1:0',
        CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0',
      },
    });
    assert.equal(code, 1);
    assert.match(stderr, /^causeway: control cannot start: cannot use the database .*ECONNREFUSED/m);
    assert.doesNotMatch(stderr, /hush|"stack"/);
  });

  test('a start with wrong settings is refused, and names all of them', async (t) => {
    const { code, stdout, stderr } = await runProcess(t, ['serve', '--edge-workers', 'many'], {
      settings: { CAUSEWAY_EDGEID: 'a', CAUSEWAY_LOCALE: 'fr', CAUSEWAY_BOOTSTRAP_TOKEN: 'short' },
    });
    assert.deepEqual([code, stdout], [1, '']);
    assert.deepEqual(stderr.split('\n').sort().slice(1), [
      'causeway: CAUSEWAY_EDGEID (environment): unknown setting; did you mean CAUSEWAY_EDGE_ID?',
      'causeway: bootstrap-token (CAUSEWAY_BOOTSTRAP_TOKEN): expected at least 32 printable characters without spaces',
      'causeway: edge-workers (--edge-workers): expected auto or a whole number from 1 to 256, not "many"',
      'causeway: locale (CAUSEWAY_LOCALE): expected zh-CN or en, not "fr"',
    ]);
  });
});

describe('the first access token', () => {
  test('the first access token of a failed start is mentioned by the next one, until it is moved', async (t) => {
    const folder = temporaryFolder(t); // no file for keys
    const dataDir = join(folder, 'data');
    const settings = { CAUSEWAY_ROLES: 'control' };
    await assert.rejects(
      startService(t, { dataDir, settings: { ...settings, CAUSEWAY_KEYRING: folder } }),
      /control cannot start: the key ring/,
    );
    assert.ok(existsSync(join(dataDir, 'first-token')));
    const next = await startService(t, { dataDir, settings });
    assert.match(next.process.stdout(), /the first access token is kept in .*first-token/);
    await mayDoEverything(next.controlUrl, next.token);
    await next.stop();
    rmSync(join(dataDir, 'first-token'));
    const last = await startService(t, { dataDir, settings });
    assert.doesNotMatch(last.process.stdout(), /token/);
  });

  test('the first access token is the one of the settings if there is no account yet, and only then', async (t) => {
    const settings = { CAUSEWAY_ROLES: 'control', CAUSEWAY_BOOTSTRAP_TOKEN: BOOTSTRAP };
    const service = await startService(t, { settings });
    assert.equal(existsSync(join(service.dataDir, 'first-token')), false);
    assert.doesNotMatch(service.process.stdout() + service.process.stderr(), new RegExp(BOOTSTRAP));
    await mayDoEverything(service.controlUrl, BOOTSTRAP);
    await service.stop();
    const other = `${BOOTSTRAP}-other`;
    const next = await startService(t, {
      dataDir: service.dataDir,
      settings: { ...settings, CAUSEWAY_BOOTSTRAP_TOKEN: other },
    });
    await mayDoEverything(next.controlUrl, BOOTSTRAP);
    await assert.rejects(mayDoEverything(next.controlUrl, other), { code: 'tokenUnknown' });
  });

  test('the first access token survives a start that was killed at any moment', async (t) => {
    const dataDir = join(temporaryFolder(t), 'data');
    for (const delayMs of [300, 450, 600]) {
      const killed = spawnCommand(t, [
        'serve',
        '--data-dir',
        dataDir,
        '--roles',
        'control',
        '--control-listen',
        '127.0.0.1:0',
      ]);
      setTimeout(() => killed.child.kill('SIGKILL'), delayMs);
      await killed.exit;
    }
    const service = await startService(t, { dataDir, settings: { CAUSEWAY_ROLES: 'control' } });
    await mayDoEverything(service.controlUrl, service.token);
  });
});

async function mayDoEverything(baseUrl: string, accessToken: string): Promise<void> {
  const client = createClient({ baseUrl, accessToken });
  await client.call('domain.list', {});
  await client.call('operator.listAccounts', {});
}

/**
 * What it has logged that somebody should look at, apart from a control that took longer to start than the edge waits for it: of that
 * the feed tells a moment later, when control may be ready already, but before it has its first settings.
 */
function warningsOf({ process: { stderr } }: RunningService): readonly string[] {
  const lines = stderr().split('\n').filter(Boolean);
  const settingsAt = lines.findIndex((line) => line.includes('"msg":"snapshot applied"'));
  const isOfStart = (line: string, at: number) => line.includes('feed.sock') && (at < settingsAt || settingsAt === -1);
  return lines.filter((line, at) => /"level":"(warn|error|fatal)"/.test(line) && !isOfStart(line, at));
}

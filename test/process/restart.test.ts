/** The supervisor holds the sockets of all listeners: workers are replaced, or die, and no connection is refused. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { connectRaw } from '../support/edge/edge.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import {
  COMMAND,
  isAlive,
  type RunningService,
  runCommand,
  spawnCommand,
  startService,
  surroundings,
  WITH_LIVE,
} from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ASK_ONCE = 'GET / HTTP/1.1\r\nHost: nobody.example\r\nConnection: close\r\n\r\n';
const TWO_WORKERS = { CAUSEWAY_EDGE_WORKERS: '2', CAUSEWAY_DRAIN_IDLE_SECONDS: '1' };

describe('a restart of the edge workers', () => {
  test('clients with new and kept connections lose no request, and the earlier workers end', async (t) => {
    const service = await startService(t, { settings: TWO_WORKERS });
    const before = service.pids();
    const clients = startClients(service.edgeUrl);
    await eventually('requests are answered', () => clients.answered() > 50);
    for (const letter of ['-b', '-c']) {
      const { code, stdout, stderr } = await restart(t, service);
      assert.equal(stderr, '');
      assert.match(stdout, /^new processes have taken over/);
      assert.equal(code, 0);
      const pids = service.pids();
      assert.ok(pids[`edge-worker-1${letter}`] && pids[`edge-worker-2${letter}`], JSON.stringify(pids));
      const seen = clients.answered();
      await eventually('requests go on', () => clients.answered() > seen + 50);
    }
    await eventually('the first workers have ended', () =>
      [before['edge-worker-1'], before['edge-worker-2']].every((pid) => pid !== undefined && !isAlive(pid)),
    );
    assert.deepEqual(await clients.stop(), []);
    const { control, 'edge-feed': feed } = service.pids();
    assert.deepEqual([control, feed], [before['control'], before['edge-feed']]);
    const metrics = await (await fetch(service.metricsUrl)).text();
    assert.match(metrics, /^causeway_part_up\{part="edge-worker-1-c".*\} 1$/m);
    assert.doesNotMatch(metrics, /part="edge-worker-1"/);
    assert.equal(await service.stop(), 0);
    assert.doesNotMatch(service.process.stderr(), /"level":"(error|fatal)"/);
  });

  test('a changed setting is in force after a restart, and the answer names those that are not', async (t) => {
    const file = join(temporaryFolder(t), 'causeway.toml');
    writeFileSync(file, 'cache-memory = "64MB"\n');
    const service = await startService(t, { args: ['--config', file] });
    writeFileSync(file, 'cache-memory = "128MB"\norigin-allow = ["10.0.0.0/8"]\nlocale = "en"\n');
    const feed = service.pids()['edge-feed'];
    const first = await restart(t, service, '--json');
    assert.deepEqual(JSON.parse(first.stdout), {
      kind: 'restarted',
      taken: ['cache-memory', 'origin-allow'],
      pending: ['locale', 'origin-allow'],
    });
    assert.notEqual(service.pids()['edge-feed'], feed, 'the feed probes the origins of the new networks');
    writeFileSync(file, 'cache-memory = "much"\n');
    const second = await restart(t, service);
    assert.equal(second.code, 1);
    assert.match(second.stderr, /^causeway: cache-memory .* not "much"$/m);
    writeFileSync(file, 'cache-memory = "128MB"\norigin-allow = ["10.0.0.0/8"]\n');
    assert.deepEqual(JSON.parse((await restart(t, service, '--json')).stdout), {
      kind: 'restarted',
      taken: [],
      pending: [],
    });
  });

  test('the present workers go on if the new ones cannot start', async (t) => {
    const node = join(temporaryFolder(t), 'node');
    copyFileSync(process.execPath, node);
    const service = await startService(t, { node });
    const pids = service.pids();
    rmSync(node);
    symlinkSync(node, node);
    const { code, stderr } = await restart(t, service);
    assert.equal(code, 1);
    assert.match(stderr, /^causeway: edge-worker-1-b: it died \(spawn ELOOP\)/);
    assert.deepEqual(service.pids(), pids);
    assert.ok((await fetch(service.edgeUrl)).status >= 400);
  });

  test('a generation that outlives the next one keeps its names to itself', async (t) => {
    const service = await startService(t, { settings: { ...TWO_WORKERS, CAUSEWAY_EDGE_WORKERS: '1' } });
    const held = await holdRequest(service);
    const first = service.pids()['edge-worker-1'] ?? 0;
    for (const name of ['edge-worker-1-b', 'edge-worker-1-c']) {
      assert.equal((await restart(t, service)).code, 0);
      assert.ok(service.pids()[name] !== undefined, JSON.stringify(service.pids()));
    }
    await eventually('the second has ended', () => service.pids()['edge-worker-1-b'] === undefined);
    assert.equal((await restart(t, service)).code, 0);
    assert.deepEqual([service.pids()['edge-worker-1'], isAlive(first), held.destroyed], [first, true, false]);
    assert.ok((await fetch(service.edgeUrl)).status >= 400);
    held.destroy();
  });

  test('a restart waits while two generations have connections, or cuts the oldest', async (t) => {
    const service = await startService(t);
    const kept: Socket[] = [];
    for (let generation = 0; generation < 2; generation++) {
      kept.push(await holdRequest(service));
      const { code, stderr } = await restart(t, service);
      assert.deepEqual([code, stderr], [0, '']);
    }
    const waiting = spawnCommand(t, ['restart', '--data-dir', service.dataDir]);
    await eventually('it waits', () => waiting.stdout().startsWith('two earlier generations still have'));
    const forced = await restart(t, service, '--force');
    assert.equal(forced.code, 0, forced.stderr);
    await eventually('the oldest is cut', () => kept[0]?.destroyed);
    assert.equal(kept[1]?.destroyed, false);
    kept[1]?.destroy();
    assert.equal(await waiting.exit, 0);
    assert.equal(await service.stop(), 0);
  });

  test('a restart without a service, or without an edge, is refused with the reason', async (t) => {
    const dataDir = join(temporaryFolder(t), 'none');
    assert.match((await runCommand(t, ['restart', '--data-dir', dataDir])).stderr, /no service is running/);
    const service = await startService(t, { settings: { CAUSEWAY_ROLES: 'control' } });
    assert.equal((await restart(t, service)).stderr, 'causeway: this service has neither an edge nor live streams\n');
  });
});

describe('a process that listens and dies', () => {
  test('connections that a killed worker has not accepted are answered by the next one', async (t) => {
    const service = await startService(t);
    const worker = service.pids()['edge-worker-1'] ?? 0;
    process.kill(worker, 'SIGSTOP');
    const { port } = new URL(service.edgeUrl);
    const clients = Array.from({ length: 50 }, () => connectRaw(Number(port), ASK_ONCE));
    await Promise.all(clients.map(({ socket }) => once(socket, 'connect')));
    process.kill(worker, 'SIGKILL');
    for (const { closed } of clients) assert.match(await closed, /^HTTP\/1\.1 4/);
  });

  test('publishers wait for the next live process', async (t) => {
    const service = await startService(t, { settings: WITH_LIVE });
    const live = service.pids()['live'] ?? 0;
    process.kill(live, 'SIGSTOP');
    const { port } = new URL(service.rtmpUrl);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(Buffer.concat([Buffer.from([3]), Buffer.alloc(1536)])); // C0 and C1
    process.kill(live, 'SIGKILL');
    const [answer] = await once(socket, 'data');
    assert.equal(answer[0], 3); // S0
    socket.destroy();
  });
});

describe('sockets from systemd', needs('systemdSocketActivate'), () => {
  test('a connection that was made before the service started is answered', async (t) => {
    const [port, metrics, control] = [await freePort(), await freePort(), await freePort()];
    const settings = {
      DATA_DIR: join(temporaryFolder(t), 'data'),
      CONTROL_LISTEN: `127.0.0.1:${control}`,
      METRICS_LISTEN: `127.0.0.1:${metrics}`,
      EDGE_HTTPS_LISTEN: 'off',
      EDGE_WORKERS: '2',
      ROLES: 'control,edge',
    };
    const { NODE_COMPILE_CACHE = '' } = surroundings();
    const environment = Object.entries(settings).flatMap(([name, value]) => ['-E', `CAUSEWAY_${name}=${value}`]);
    const activate = spawn(
      obtain('systemdSocketActivate'),
      [
        '-l',
        `127.0.0.1:${port}`,
        '--fdname=http',
        '-E',
        `NODE_COMPILE_CACHE=${NODE_COMPILE_CACHE}`,
        ...environment,
        process.execPath,
        COMMAND,
        'serve',
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], cwd: temporaryFolder(t) },
    );
    let output = '';
    for (const stream of [activate.stdout, activate.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    const ended = once(activate, 'close');
    t.after(() => activate.kill('SIGKILL'));
    await eventually('it listens', () => output.includes('Listening on'));
    assert.match(await connectRaw(port, ASK_ONCE).closed, /^HTTP\/1\.1 4/);
    await eventually('ready', () => output.includes('causeway is ready'));
    assert.match(output, new RegExp(`^edge +http://127\\.0\\.0\\.1:${port} `, 'm'));
    const { code, stderr } = await runCommand(t, ['restart', '--data-dir', settings.DATA_DIR]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(await connectRaw(port, ASK_ONCE).closed, /^HTTP\/1\.1 4/);
    activate.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  });
});

async function restart(t: TestContext, { dataDir }: RunningService, ...options: readonly string[]) {
  return await runCommand(t, ['restart', '--data-dir', dataDir, ...options]);
}

/** Opens a connection whose request never ends, so that its worker drains for long. */
async function holdRequest({ edgeUrl }: RunningService): Promise<Socket> {
  const socket = connect(Number(new URL(edgeUrl).port), '127.0.0.1');
  socket.on('error', () => undefined); // shows as destroyed
  socket.on('data', () => undefined);
  await once(socket, 'connect');
  socket.write('POST / HTTP/1.1\r\nHost: nobody.example\r\nContent-Length: 9\r\n\r\n');
  return socket;
}

/** Clients that ask without end, half of them on kept connections. */
function startClients(url: string) {
  const problems: string[] = [];
  const agents = [new Agent({ keepAlive: true, maxSockets: 1 }), new Agent({ keepAlive: false })];
  let answered = 0;
  let isStopping = false;
  const ask = (agent: Agent) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const request = get(url, { agent }, (response) => {
      response.resume().once('close', () => {
        if (response.complete) answered++;
        else problems.push('an answer was cut');
        resolve();
      });
    });
    request.on('error', (error) => {
      problems.push(error.message);
      resolve();
    });
    return promise;
  };
  const run = async (agent: Agent) => {
    while (!isStopping) await ask(agent);
  };
  const running = Promise.all([...agents, ...agents].map(run));
  return {
    answered: () => answered,
    stop: async () => {
      isStopping = true;
      await running;
      for (const agent of agents) agent.destroy();
      return problems;
    },
  };
}

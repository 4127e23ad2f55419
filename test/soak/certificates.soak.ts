/**
 * Ten thousand certificates in use at one edge worker, which keeps three thousand in memory: every client gets the one of the
 * name, sessions continue whose certificate was evicted meanwhile, and the worker's memory is bounded.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect, createSecureContext, type SecureContext } from 'node:tls';
import { openEdgeStore } from '#feed/store/edge-store.ts';
import { createQuickAuthority } from '../support/certificates/quick-authority.ts';
import { loopback, NO_ORIGINS } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { type RunningService, startService } from '../support/process/service.ts';
import { residentMib, watchMemory } from '../support/resident.ts';
import { temporaryFolder } from '../support/temporary.ts';

const CERTIFICATES = 10_000;
const AT_ONCE = 16;
const SESSIONS = 1_000;
/** Memory of the whole worker: 64 MiB of cache, and some 120 before the first certificate. */
const ALLOWED_MIB = 550;
const MIB = 2 ** 20;

test('ten thousand certificates are served under load', async (t) => {
  const authority = createQuickAuthority();
  const hosts = Array.from({ length: CERTIFICATES }, (_, i) => `host-${i}.example.com`);
  const serials = new Map<string, string>();
  const origin = await startOrigin(t, (request, response) =>
    reply(request.headers['host'] ?? '', { 'cache-control': 'max-age=3600' })(request, response),
  );
  const dataDir = fill(t, hosts, origin.port, (host) => {
    const pair = authority.issue(host);
    serials.set(host, new X509Certificate(pair.certificate).serialNumber);
    return pair;
  });
  const service = await startService(t, {
    dataDir,
    settings: {
      CAUSEWAY_ROLES: 'edge',
      CAUSEWAY_EDGE_ID: 'soak',
      CAUSEWAY_FEED_SOCKET: join(dataDir, 'none.sock'),
      CAUSEWAY_EDGE_WORKERS: '1',
      CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
      CAUSEWAY_CACHE_MEMORY: String(64 * MIB),
      CAUSEWAY_CACHE_DISK_SIZE: '0',
    },
  });
  const worker = service.pids()['edge-worker-1'] ?? 0;
  const idleMib = residentMib(worker);
  const memory = watchMemory(worker);
  const port = Number(new URL(service.edgeHttpsUrl).port);
  const secureContext = createSecureContext({ ca: authority.ca });
  const sessions = new Map<string, Buffer>();
  const pass = async (what: string, order: readonly string[], isResumed: boolean) => {
    const [startedAt, cpuBefore] = [performance.now(), cpuMs(worker)];
    const left = order.values();
    const client = async () => {
      for (const host of left) {
        const session = isResumed ? sessions.get(host) : undefined;
        const seen = await ask({ port, host, secureContext, session });
        // A session that is taken up shows no certificate again.
        const serial = isResumed ? '' : serials.get(host);
        const { session: latest, ...rest } = seen;
        assert.deepEqual(rest, { serial, body: host, isResumed });
        if (sessions.size < SESSIONS && latest !== undefined) sessions.set(host, latest);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    const [seconds, cpu] = [(performance.now() - startedAt) / 1000, cpuMs(worker) - cpuBefore];
    const perSecond = Math.round(order.length / seconds);
    const cpuMicros = Math.round((cpu * 1000) / order.length);
    t.diagnostic(JSON.stringify({ what, perSecond, cpuMicros, mib: residentMib(worker) }));
  };
  await pass('each for the first time', shuffled(hosts, 1), false);
  await pass('each again, in another order', shuffled(hosts, 2), false);
  const few = Array.from({ length: 20 }, () => hosts.slice(0, 300)).flat();
  await pass('three hundred that stay in memory', shuffled(few, 3), false);
  await pass('sessions of long ago', shuffled([...sessions.keys()], 4), true);
  const mostMib = memory.stop();
  t.diagnostic(JSON.stringify({ idleMib, mostMib }));
  assert.deepEqual(await outcomes(service), { full: 2 * CERTIFICATES + few.length, resumed: SESSIONS });
  assert.ok(mostMib < ALLOWED_MIB, `${mostMib} MiB`);
});

interface Asked {
  readonly port: number;
  readonly host: string;
  readonly secureContext: SecureContext;
  readonly session: Buffer | undefined;
}

interface Seen {
  readonly serial: string;
  readonly body: string;
  readonly isResumed: boolean;
  readonly session: Buffer | undefined;
}

/** Rejects where the certificate is not for the host, or of another authority. */
function ask({ port, host, secureContext, session }: Asked): Promise<Seen> {
  const { promise, resolve, reject } = Promise.withResolvers<Seen>();
  const socket = connect({ port, host: '127.0.0.1', servername: host, secureContext, ...(session && { session }) });
  let [text, latest, serial, isResumed]: [string, Buffer | undefined, string, boolean] = ['', undefined, '', false];
  socket.on('secureConnect', () => {
    serial = socket.getPeerX509Certificate()?.serialNumber ?? '';
    isResumed = socket.isSessionReused();
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
  socket.on('session', (given: Buffer) => {
    latest = given;
  });
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', reject);
  socket.on('close', () => {
    const [head = '', body = ''] = text.split('\r\n\r\n');
    if (!head.startsWith('HTTP/1.1 200 ')) reject(new Error(`for ${host}: ${head}`));
    resolve({ serial, body, isResumed, session: latest });
  });
  return promise;
}

/** A data directory of an edge that has had all this from control. */
function fill(
  t: TestContext,
  hosts: readonly string[],
  originPort: number,
  issue: (host: string) => { readonly certificate: string; readonly key: string },
): string {
  const dataDir = join(temporaryFolder(t), 'data');
  mkdirSync(join(dataDir, 'edge'), { recursive: true, mode: 0o700 });
  writeFileSync(join(dataDir, 'lock'), ''); // by which a data directory is known as ours
  using store = openEdgeStore(join(dataDir, 'edge', 'sites.db'), () => undefined);
  using staging = store.stageSnapshot();
  const origins = { ...NO_ORIGINS, primary: loopback([originPort]) };
  let revision = 0;
  const add = (resource: 'site' | 'certificate', key: string, body: object) =>
    staging.add({ kind: 'put', resource, key, revision: ++revision, body: JSON.stringify(body) });
  for (const [i, name] of hosts.entries()) {
    add('site', name, { id: i + 1, name, type: 'static', state: 'open', origins, tls: { certificate: name } });
    add('certificate', name, issue(name));
  }
  staging.commit({ epoch: 'soak', revision, tag: 'soak', continues: false }, Date.now());
  return dataDir;
}

async function outcomes({ metricsUrl }: RunningService): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(metricsUrl)).text();
  const counts: Record<string, number> = {};
  for (const [, outcome = '', count] of text.matchAll(/tls_handshakes_total\{.*outcome="(\w+)".*\} (\d+)/g))
    counts[outcome] = (counts[outcome] ?? 0) + Number(count);
  return counts;
}

function cpuMs(pid: number): number {
  // Behind the name in brackets: the 14th and 15th field of all. proc(5)
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The same order for the same seed. */
function shuffled<T>(values: readonly T[], seed: number): T[] {
  const all = [...values];
  let state = seed;
  for (let i = all.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const j = Math.floor((state / 2 ** 32) * (i + 1));
    // `as`: both are inside the list.
    [all[i], all[j]] = [all[j] as T, all[i] as T];
  }
  return all;
}

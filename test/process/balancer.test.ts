/** Two edges behind HAProxy, as docs/balancers.md says: one that is drained gets no more viewers, and no request fails. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { startHaproxyWith } from '../support/process/haproxy.ts';
import { runCommand, startService } from '../support/process/service.ts';
import { addDomain } from '../support/process/service-with-domain.ts';
import { needs } from '../support/runner/needs.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/balancers.md'), 'utf8');
const EDGE = { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8', CAUSEWAY_EDGE_TRUSTED_PROXIES: '127.0.0.1' };
/** Requests that are under way at once. */
const CLIENTS = 4;

test('HAProxy takes a drained edge out and brings it back, and no request fails', needs('haproxy'), async (t) => {
  const origin = await startOrigin(t, reply('of the origin', { 'Cache-Control': 'max-age=60' }));
  const first = await startService(t, { settings: EDGE });
  const second = await startService(t, {
    settings: {
      ...EDGE,
      CAUSEWAY_ROLES: 'edge',
      CAUSEWAY_EDGE_ID: 'second',
      CAUSEWAY_FEED_SOCKET: join(first.dataDir, 'run', 'feed.sock'),
    },
  });
  await addDomain(first, origin.port);
  const ports = [first, second].map(({ edgeUrl }) => new URL(edgeUrl).port);
  const port = await startHaproxyWith(t, (own) => documented(own, ports));
  const operate = (...args: string[]) => runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: first.dataDir } });
  /** Ports of the edges that answered, the newest last. */
  const answers: string[] = [];
  const failures: string[] = [];
  const stop = new AbortController();
  const clients = Array.from({ length: CLIENTS }, () => askOn(port, stop.signal, answers, failures));
  const lately = () => new Set(answers.slice(-40));
  await eventually('both edges answer', () => lately().size === 2, 60_000);

  assert.equal((await operate('edge', 'drain', 'second')).stdout, 'edge second is draining\n');
  await eventually('one edge answers alone', () => answers.length > 40 && lately().size === 1, 60_000);
  assert.deepEqual([...lately()], [ports[0]]);
  assert.equal((await operate('edge', 'undrain', 'second')).code, 0);
  await eventually('both edges answer again', () => lately().size === 2, 60_000);
  stop.abort();
  await Promise.all(clients);
  assert.deepEqual(failures, []);
  t.diagnostic(`${answers.length} requests`);
});

/** The first configuration of the document, for this machine; each answer says which server gave it. */
function documented(port: number, servers: readonly string[]): string {
  const [, text = ''] = /```haproxy\n([\s\S]*?)```/.exec(DOCUMENT) ?? [];
  const lines = text.split('\n').filter((line) => !/^ {2}server /.test(line));
  const configuration = lines.join('\n').replace('bind :80', `bind 127.0.0.1:${port}`);
  assert.ok(configuration !== lines.join('\n'));
  const added = servers.map((own, n) => `  server s${n} 127.0.0.1:${own}`);
  return `${configuration}\n  http-response set-header X-Server %sp\n${added.join('\n')}\n`;
}

/** Sends one request after the other until the signal, each with a query of its own half of the time. */
async function askOn(port: number, signal: AbortSignal, answers: string[], failures: string[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let n = 0; !signal.aborted; n++) {
    try {
      const { status, server, body } = await ask(agent, port, `/a?${n % 2 === 0 ? 0 : n}`);
      if (status !== 200 || body !== 'of the origin') failures.push(`${status} ${body}`);
      answers.push(server);
    } catch (error) {
      failures.push(String(error));
    }
  }
  agent.destroy();
}

function ask(agent: Agent, port: number, path: string) {
  return new Promise<{ status: number; server: string; body: string }>((resolve, reject) => {
    const request = get({ agent, port, path, host: '127.0.0.1', headers: { host: 'www.example.com' } });
    request.on('error', reject).on('response', async (response: IncomingMessage) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        const server = String(response.headers['x-server']);
        resolve({ status: response.statusCode ?? 0, server, body: Buffer.concat(chunks).toString() });
      } catch (error) {
        reject(error);
      }
    });
  });
}

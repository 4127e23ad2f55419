/** The name server as a part of the service: domains, edges that die or drain, and a control that is gone. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { dig } from '../support/dns/dig.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, runCommand, startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';

const WITH_DNS = { CAUSEWAY_ROLES: 'control,edge,dns', CAUSEWAY_EDGE_ADDRESSES: '127.0.0.1' };

function dnsPort({ process: { stdout } }: RunningService): number {
  return Number(/^dns +127\.0\.0\.1:(\d+)$/m.exec(stdout())?.[1]);
}

test(
  'the CNAME of a domain answers as soon as the domain is in force, and without control',
  needs('dig'),
  async (t) => {
    const service = await startService(t, { settings: WITH_DNS });
    const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
    const port = dnsPort(service);
    const { domain_id } = await client.call('domain.add', {
      domain: 'www.example.com',
      cdn_type: '1',
      data: '192.0.2.1',
    });
    const { cname } = await eventually('the domain is in force', async () => {
      const domain = await client.call('domain.get', { domain_id });
      return domain.domain_status === 2 && domain;
    });
    const asked = await dig(port, cname, 'A');
    assert.equal(asked.answer[0], 'www.example.com.cdn.localhost. 300 IN CNAME default.r.localhost.');
    const answersWell = async () =>
      (await dig(port, cname, 'A')).answer[1] === 'default.r.localhost. 30 IN A 127.0.0.1';
    await eventually('the edge of this machine is handed out', answersWell);

    const { stdout: status } = await runCommand(t, ['dns', 'status', '--data-dir', service.dataDir]);
    assert.match(status, /^zone of the CNAMEs +cdn\.localhost \(1 names\)$/m);
    assert.match(status, /^local +- +100 +127\.0\.0\.1 +up$/m);
    const { stdout: why } = await runCommand(t, ['dns', 'explain', cname, '--data-dir', service.dataDir]);
    assert.match(why, /^points to +default\.r\.localhost/m);
    assert.match(why, /^IPv4 +127\.0\.0\.1$/m);
    const metrics = await (await fetch(service.metricsUrl)).text();
    assert.match(metrics, /^causeway_dns_responses_total\{[^}]*code="NOERROR"[^}]*\} [1-9]/m);

    process.kill(service.pids()['control'] ?? 0, 'SIGSTOP');
    t.after(() => process.kill(service.pids()['control'] ?? 0, 'SIGCONT'));
    assert.ok(await answersWell());

    // The feed's process finds no control, as after the death of both.
    renameSync(join(service.dataDir, 'run', 'feed.sock'), join(service.dataDir, 'run', 'feed.away'));
    const { 'edge-feed': killed = 0 } = service.pids();
    process.kill(killed, 'SIGKILL');
    await eventually(
      'the name server answers again',
      async () => service.pids()['edge-feed'] !== killed && (await answersWell()),
    );
  },
);

test('an edge that dies or drains is no longer handed out, and is again when it is back', needs('dig'), async (t) => {
  const service = await startService(t, { settings: WITH_DNS });
  const port = dnsPort(service);
  const second = () =>
    startService(t, {
      settings: {
        CAUSEWAY_ROLES: 'edge',
        CAUSEWAY_EDGE_ID: 'second',
        CAUSEWAY_EDGE_HTTP_LISTEN: '127.0.0.2:0',
        CAUSEWAY_FEED_SOCKET: join(service.dataDir, 'run', 'feed.sock'),
      },
    });
  const handsOut = async (addresses: readonly string[]) => {
    const { answer } = await dig(port, 'default.r.localhost', 'A');
    return (
      answer
        .map((line) => line.split(' ').at(-1))
        .sort()
        .join() === addresses.join()
    );
  };
  const both = ['127.0.0.1', '127.0.0.2'];
  const edge = await second();
  await eventually('both edges are handed out', () => handsOut(both));

  const run = (...words: readonly string[]) => runCommand(t, [...words, '--data-dir', service.dataDir]);
  assert.equal((await run('edge', 'drain', 'second')).code, 0);
  await eventually('the edge that drains is not handed out', () => handsOut(['127.0.0.1']));
  assert.match((await run('dns', 'status')).stdout, /^second .* out: it drains$/m);
  assert.equal((await run('edge', 'undrain', 'second')).code, 0);
  await eventually('it is handed out again', () => handsOut(both));

  for (const pid of Object.values(edge.pids())) process.kill(pid, 'SIGSTOP');
  await eventually('the frozen edge is not handed out', () => handsOut(['127.0.0.1']));
  for (const pid of Object.values(edge.pids())) process.kill(pid, 'SIGCONT');
  await eventually('it is handed out after it thaws', () => handsOut(both));
});

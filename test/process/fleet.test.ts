/** An edge as a service of its own: enrolled by a token, following control over TLS, revoked. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { runCommand, runProcess, startService } from '../support/process/service.ts';
import { addDomain } from '../support/process/service-with-domain.ts';
import { temporaryFolder } from '../support/temporary.ts';

const HEALTH = '/.well-known/causeway/health';
const EDGE = { CAUSEWAY_ROLES: 'edge', CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8' };

test('an edge on another machine enrols, serves what control sets, and is cut off when it is revoked', async (t) => {
  const control = await startService(t, {
    settings: { CAUSEWAY_ROLES: 'control', CAUSEWAY_FLEET_LISTEN: '127.0.0.1:0' },
  });
  const fleet = /^fleet +(\S+)/m.exec(control.process.stdout())?.[1] ?? '';
  const operate = (...args: string[]) => runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: control.dataDir } });
  const { stdout: token } = await operate('edge', 'token', 'create', '--edge-id', 'fra1');
  const [dataDir, tokenFile] = [join(temporaryFolder(t), 'edge'), join(temporaryFolder(t), 'token')];
  writeFileSync(tokenFile, token);
  const order = ['edge', 'enrol', '--data-dir', dataDir, '--control', fleet, '--token-file', tokenFile];
  assert.deepEqual(await runCommand(t, order), {
    code: 0,
    stdout: 'enrolled as edge fra1 of group default\n',
    stderr: '',
  });
  const again = await runCommand(t, order);
  assert.deepEqual([again.code, /^causeway: token: /.test(again.stderr)], [1, true], again.stderr);

  const other = await runProcess(t, ['serve'], {
    settings: { ...EDGE, CAUSEWAY_DATA_DIR: dataDir, CAUSEWAY_EDGE_ID: 'fra2' },
  });
  assert.deepEqual(
    [other.code, other.stderr],
    [
      1,
      'causeway: edge-id is fra2, and this machine is enrolled as edge fra1: remove the setting, or enrol the machine as fra2\n',
    ],
  );
  const edge = await startService(t, { dataDir, settings: { ...EDGE, CAUSEWAY_EDGE_ID: 'fra1' } });
  assert.match(edge.process.stdout(), new RegExp(`^follows +${fleet} \\(connected\\)$`, 'm'));
  assert.deepEqual(Object.keys(edge.pids()).sort(), ['edge-feed', 'edge-worker-1']);
  const origin = createServer((_, response) => response.end('of the origin')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  const address = origin.address();
  assert.ok(typeof address === 'object' && address !== null);
  await addDomain(control, address.port);
  assert.equal(await read(`${edge.edgeUrl}/a`), 'of the origin');

  const { pids } = control;
  assert.equal((await operate('edge', 'drain', 'fra1')).stdout, 'edge fra1 is draining\n');
  await eventually('its health page says so', async () => (await read(`${edge.edgeUrl}${HEALTH}`)) === 'draining\n');
  assert.equal(await edge.stop(), 0);
  for (const pid of Object.values(pids())) process.kill(pid, 'SIGSTOP');
  const later = await startService(t, { dataDir, settings: EDGE });
  assert.match(later.process.stdout(), new RegExp(`^follows +${fleet} \\(not connected; retrying, .*\\)$`, 'm'));
  const word = await eventually('it has checked itself, without control', async () => {
    const said = await read(`${later.edgeUrl}${HEALTH}`);
    return said !== 'syncing\n' && said;
  });
  assert.equal(word, 'draining\n');
  assert.equal(await read(`${later.edgeUrl}/a`), 'of the origin');
  for (const pid of Object.values(pids())) process.kill(pid, 'SIGCONT');

  const revoked = await operate('edge', 'revoke', 'fra1', '--reason', 'a test');
  assert.equal(revoked.stdout, 'edge fra1 revoked\n');
  await eventually('the edge is told', () => /revoked/.test(later.process.stderr() + later.process.stdout()));

  const copy = join(temporaryFolder(t), 'copy');
  cpSync(dataDir, copy, { recursive: true, filter: (source) => !/\/run\/./.test(source) });
  const refused = await runProcess(t, ['serve'], { settings: { ...EDGE, CAUSEWAY_DATA_DIR: copy } });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /is a copy of that of the edge fra1; enrol this machine/);
});

async function read(url: string): Promise<string> {
  // `as`: what the event `response` of a client request carries.
  const [response] = (await once(get(url, { headers: { host: 'www.example.com' } }), 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

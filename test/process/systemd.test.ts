/** The service as a unit of systemd starts it: with sockets that have the unit's name, and news of when it is ready. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fetchFrom } from '../support/edge/edge.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { COMMAND } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

test(
  'a service gets the sockets of its unit by their ports, and says when it is ready and when it stops',
  needs('systemdSocketActivate', 'systemdNotify'),
  async (t) => {
    const folder = temporaryFolder(t);
    const news = listenForNews(t, join(folder, 'notify'));
    await eventually('the receiver listens', () => news().includes('Listening on'));
    const [http, https] = [await freePort(), await freePort()];
    const settings = {
      NOTIFY_SOCKET: join(folder, 'notify'),
      CAUSEWAY_DATA_DIR: join(folder, 'data'),
      CAUSEWAY_ROLES: 'control,edge',
      CAUSEWAY_EDGE_WORKERS: '1',
      CAUSEWAY_CONTROL_LISTEN: `127.0.0.1:${await freePort()}`,
      CAUSEWAY_METRICS_LISTEN: `127.0.0.1:${await freePort()}`,
      CAUSEWAY_EDGE_HTTP_LISTEN: `127.0.0.1:${http}`,
      CAUSEWAY_EDGE_HTTPS_LISTEN: `127.0.0.1:${https}`,
    };
    const sockets = ['-l', `127.0.0.1:${https}`, '-l', `127.0.0.1:${http}`, '--fdname=causeway.socket:causeway.socket'];
    const variables = Object.entries(settings).flatMap(([name, value]) => ['-E', `${name}=${value}`]);
    const service = spawn(
      obtain('systemdSocketActivate'),
      [...sockets, ...variables, process.execPath, COMMAND, 'serve'],
      { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder },
    );
    const output = collect(service);
    const ended = once(service, 'close');
    t.after(() => service.kill('SIGKILL'));
    await eventually('systemd listens', () => output().match(/Listening on/g)?.length === 2);
    const { body } = await fetchFrom(http, '/.well-known/causeway/health');
    assert.match(body, /^(ok|syncing)\n$/, output());
    await eventually('it has said that it is ready', () => news().includes('READY=1'));
    assert.match(output(), new RegExp(`^edge +http://127\\.0\\.0\\.1:${http} `, 'm'));
    assert.match(output(), new RegExp(`^edge +https://127\\.0\\.0\\.1:${https}$`, 'm'));
    assert.doesNotMatch(news(), /STOPPING=1/);
    service.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
    await eventually('it has said that it stops', () => news().includes('STOPPING=1'));
  },
);

/** Reads what is sent to a datagram socket. Node has none of this kind: systemd's own program opens it. */
function listenForNews(t: TestContext, path: string): () => string {
  const words = ['--datagram', '-l', path, 'sh', '-c', 'exec cat <&3'];
  const receiver = spawn(obtain('systemdSocketActivate'), words, { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => receiver.kill('SIGKILL'));
  return collect(receiver);
}

function collect(child: ReturnType<typeof spawn>): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return () => output;
}

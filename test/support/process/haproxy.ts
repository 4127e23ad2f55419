/** Debian's HAProxy before controls, or before PostgreSQL under Patroni. Declare the test with `needs('haproxy')`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { obtain } from '../runner/needs.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';

interface HaproxyOptions {
  readonly mode: 'http' | 'tcp';
  /** Path whose answer 200 says that a server may be used; asked every 500 ms. */
  readonly check: string;
  /** Ports of 127.0.0.1. `checkPort`: of another listener, if that answers the check. */
  readonly servers: readonly { readonly port: number; readonly checkPort?: number }[];
}

/** Starts one that ends with the test. Returns its port of 127.0.0.1. */
export function startHaproxy(t: Cleanup, options: HaproxyOptions): Promise<number> {
  return startHaproxyWith(t, (port) => configuration(port, options));
}

/** Starts one with a configuration that listens on the given port of 127.0.0.1, which is returned. */
export async function startHaproxyWith(t: Cleanup, configure: (port: number) => string): Promise<number> {
  const port = await freePort();
  const file = join(temporaryFolder(t), 'haproxy.cfg');
  writeFileSync(file, configure(port));
  const child = spawn(obtain('haproxy'), ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'ignore'] });
  t.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await eventually('HAProxy listens', async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    return true;
  });
  return port;
}

/** A server that is taken out loses its connections: otherwise queries would wait for a host that is gone. */
function configuration(port: number, { mode, check, servers }: HaproxyOptions): string {
  return `
global
  maxconn 1000
defaults
  mode ${mode}
  timeout connect 1s
  timeout client 60s
  timeout server 60s
  timeout check 2s
listen all
  bind 127.0.0.1:${port}
  balance roundrobin
  option httpchk GET ${check}
  http-check expect status 200
  default-server check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.map((server, n) => `  server s${n} 127.0.0.1:${server.port}${checkPort(server)}`).join('\n')}
`;
}

function checkPort({ checkPort: port }: HaproxyOptions['servers'][0]): string {
  return port === undefined ? '' : ` port ${port}`;
}

/** Debian's nginx as a real origin, or as an independent witness of what reaches a server. Declare with `needs('nginx')`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { obtain } from './runner/needs.ts';
import { temporaryFolder } from './temporary.ts';

export interface Nginx {
  readonly port: number;
  /** `host:port`, as an origin is written. */
  readonly address: string;
  /** Folder that the server's `root` names; write files here. */
  readonly root: string;
  /** Lines of the access log so far, in the format of `logFormat`. */
  readonly logLines: () => readonly string[];
}

export interface NginxOptions {
  /** Directives of the `server` block beside `listen`, `root` and `access_log`. */
  readonly server?: string;
  /** Default: method, target, Host and status. */
  readonly logFormat?: string;
}

/** Starts an nginx of the test's own on a free loopback port; it ends with the test. */
export async function startNginx(t: Pick<TestContext, 'after'>, options: NginxOptions = {}): Promise<Nginx> {
  const program = obtain('nginx');
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755); // the worker processes run as another user
  const root = join(folder, 'root');
  mkdirSync(root);
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, options));
  const child = spawn(program, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], {
    stdio: 'inherit',
  });
  t.after(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await eventually('nginx answers', async () => {
    await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
    return true;
  });
  // It writes a line after the answer: one that came late would be taken for the test's.
  await eventually('nginx has logged it', () => readLines(folder).length > 0);
  const probes = readLines(folder).length;
  return { port, address: `127.0.0.1:${port}`, root, logLines: () => readLines(folder).slice(probes) };
}

function configuration(folder: string, port: number, { server = '', logFormat }: NginxOptions): string {
  return `
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  log_format own '${logFormat ?? '$request_method $request_uri $http_host $status'}';
  access_log ${folder}/access.log own;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  types { text/html html; text/css css; application/javascript js; image/jpeg jpg; }
  default_type text/plain;
  server {
    listen 127.0.0.1:${port};
    root ${folder}/root;
    ${server}
  }
}
`;
}

function readLines(folder: string): string[] {
  return readFileSync(join(folder, 'access.log'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

/** An nginx that stands for an origin: any URL below `/<kind>/<bytes>/` is a file of that many bytes, fresh for long or not to be stored. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';

export interface MissOrigin extends AsyncDisposable {
  readonly port: number;
  /** Requests answered since it was started, this one included. */
  requests(): Promise<number>;
}

const CACHE_CONTROL = { 'no-store': 'no-store', fresh: 'max-age=36000' } as const;

/** `sizes`: of the files. `/` is a fresh one of the first size. */
export async function openMissOrigin(folder: string, sizes: readonly number[]): Promise<MissOrigin> {
  const home = join(folder, 'nginx-origin');
  mkdirSync(home, { recursive: true });
  for (const bytes of sizes) writeFileSync(join(home, String(bytes)), Buffer.alloc(bytes, 'x'));
  const port = await freePort();
  const file = join(home, 'nginx.conf');
  writeFileSync(file, configuration(home, port, sizes));
  const child = spawn('nginx', ['-p', home, '-c', file, '-e', join(home, 'error.log')], { stdio: 'inherit' });
  await once(child, 'spawn');
  return {
    port,
    requests: async () => {
      const text = await (await fetch(`http://127.0.0.1:${port}/status`)).text();
      return Number(/\n \d+ \d+ (\d+)/.exec(text)?.[1]);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function configuration(home: string, port: number, sizes: readonly number[]): string {
  const locations = sizes.flatMap((bytes) =>
    Object.entries(CACHE_CONTROL).map(
      ([kind, value]) =>
        `location ~ ^/${kind}/${bytes}/ { alias ${home}/${bytes}; add_header Cache-Control "${value}"; }`,
    ),
  );
  return `
daemon off;
master_process off;
pid ${home}/pid;
worker_rlimit_nofile 20000;
events { worker_connections 8192; multi_accept on; }
http {
  client_body_temp_path ${home}/body; proxy_temp_path ${home}/proxy; fastcgi_temp_path ${home}/fastcgi;
  uwsgi_temp_path ${home}/uwsgi; scgi_temp_path ${home}/scgi;
  access_log off; default_type image/jpeg; sendfile on; tcp_nodelay on;
  keepalive_requests 1000000000; keepalive_timeout 600;
  open_file_cache max=100 inactive=1h; open_file_cache_valid 1h; open_file_cache_min_uses 1;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = / { root ${home}; try_files /${sizes[0]} =404; add_header Cache-Control "${CACHE_CONTROL.fresh}"; }
    location = /status { stub_status; }
    ${locations.join('\n    ')}
  }
}
`;
}

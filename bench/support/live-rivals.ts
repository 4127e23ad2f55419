/** Servers of live streams that the benchmark compares, each with one process for its media: started, measured, stopped. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import { fillEdgeStore, plainSite, startEdgeAlone } from './edge-alone.ts';
import { cpuMsOf, residentMibOf } from './service.ts';

export const HOST = 'site-1.example.com';
const RTMP_MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so';
const NODE_MEDIA_SERVER = 'node-media-server@4.4.3';
const START_MS = 20_000;

export interface LiveRival extends AsyncDisposable {
  readonly name: string;
  readonly rtmpPort: number;
  /** Absent: it has RTMP alone. */
  readonly httpPort?: number;
  readonly hasHls: boolean;
  /** Processor time of all its processes that handle media, since their start. */
  cpuMs(): number;
  /** Memory of the same processes. */
  memoryMib(): number;
}

export async function openCauseway(folder: string): Promise<LiveRival> {
  const dataDir = join(folder, 'causeway');
  const site = plainSite(1, 1);
  const origins = { ...site.origins, primary: [] };
  fillEdgeStore(dataDir, [{ ...site, type: 'live', origins }]);
  const rtmpPort = await freePort();
  const service = await startEdgeAlone(dataDir, {
    CAUSEWAY_ROLES: 'edge,live',
    CAUSEWAY_RTMP_LISTEN: `127.0.0.1:${rtmpPort}`,
  });
  const parts = ['live', 'edge-worker-1'];
  return {
    name: 'causeway',
    rtmpPort,
    httpPort: service.edgePort,
    hasHls: true,
    cpuMs: () => parts.reduce((sum, part) => sum + service.cpuMs(part), 0),
    memoryMib: () => parts.reduce((sum, part) => sum + service.memoryMib(part), 0),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

export async function openNginxRtmp(folder: string): Promise<LiveRival> {
  const rtmpPort = await freePort();
  const home = join(folder, 'nginx-rtmp');
  mkdirSync(home, { recursive: true });
  const file = join(home, 'nginx.conf');
  const application = 'application live { live on; wait_key on; interleave off; }';
  writeFileSync(
    file,
    `load_module ${RTMP_MODULE}; daemon off; master_process off; pid ${home}/pid; worker_rlimit_nofile 20000;
     events { worker_connections 8192; }
     rtmp { access_log off; server { listen 127.0.0.1:${rtmpPort}; chunk_size 60000; ${application} } }`,
  );
  const child = spawn('nginx', ['-p', home, '-c', file, '-e', join(home, 'error.log')], { stdio: 'inherit' });
  return await processRival({ name: 'nginx-rtmp', rtmpPort, hasHls: false }, child);
}

/** Installed into `folder` from the package registry that npm is set to. */
export async function openNodeMediaServer(folder: string): Promise<LiveRival> {
  const home = join(folder, 'node-media-server');
  mkdirSync(home, { recursive: true });
  const [rtmpPort, httpPort] = [await freePort(), await freePort()];
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', home, NODE_MEDIA_SERVER]);
  const settings = {
    bind: '127.0.0.1',
    notify: { url: '' },
    auth: { play: false, publish: false, secret: '', jwt: { expiresIn: '1h', refreshExpiresIn: '1h' } },
    rtmp: { port: rtmpPort },
    http: { port: httpPort },
    store: { path: home },
    record: { path: home },
  };
  const program = `new (require('node-media-server'))(${JSON.stringify(settings)}).run()`;
  writeFileSync(join(home, 'run.cjs'), program);
  const child = spawn(process.execPath, ['run.cjs'], { cwd: home, stdio: ['ignore', 'ignore', 'inherit'] });
  return await processRival({ name: 'node-media-server', rtmpPort, httpPort, hasHls: false }, child);
}

type Open = Pick<LiveRival, 'name' | 'rtmpPort' | 'httpPort' | 'hasHls'>;

async function processRival(rival: Open, child: ChildProcess): Promise<LiveRival> {
  await once(child, 'spawn');
  await waitForPort(rival.rtmpPort);
  return {
    ...rival,
    cpuMs: () => cpuMsOf(String(child.pid)),
    memoryMib: () => residentMibOf(String(child.pid)),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function waitForPort(port: number): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (!(await isListening(port))) {
    if (performance.now() > deadline) throw new Error(`nothing listens on port ${port}`);
    await delay(50);
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });
}

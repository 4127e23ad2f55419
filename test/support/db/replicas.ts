/** Two PostgreSQL servers of a test's own, one the standby of the other, which is promoted when the primary is killed. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { obtain } from '../runner/needs.ts';
import { postgresUser, roomyFolder } from '../runner/postgres-cluster.ts';
import type { Cleanup } from '../temporary.ts';

export interface Replicas {
  /** URL of both servers. */
  readonly url: string;
  /** URL of the present primary alone. */
  readonly primaryUrl: string;
  /** Kills the primary and promotes its standby. Nobody stands by after that, until `repair`. */
  failOver(): Promise<void>;
  /** Makes the server that was killed a standby of the primary. */
  repair(): Promise<void>;
  /** Stops the standby's receiver: what is written from now on it lacks, also when it is promoted. */
  stopReceiving(): Promise<void>;
  /** Promotes the standby while the primary lives, which goes on without knowing. */
  promoteStandby(): Promise<void>;
  /** Kills the standby. */
  killStandby(): Promise<void>;
}

interface Server {
  readonly data: string;
  readonly port: number;
  readonly url: string;
  process: ChildProcess | undefined;
}

const SETTINGS = [
  ...['fsync=off', 'full_page_writes=off', 'unix_socket_directories=', 'listen_addresses=127.0.0.1'],
  // A standby that is promoted while it waits to connect to the dead primary again may wait this long, 5 s by default.
  'wal_retrieve_retry_interval=500ms',
];

/** `isSynchronous`: a commit is acknowledged when the standby has it. Declare the test with `needs('postgresPrograms')`. */
export async function startReplicas(
  t: Cleanup,
  { isSynchronous }: { readonly isSynchronous: boolean },
): Promise<Replicas> {
  const programs = obtain('postgresPrograms');
  const user = postgresUser();
  const folder = mkdtempSync(join(roomyFolder(), 'causeway-replicas-'));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const options = { ...user, cwd: folder, stdio: 'ignore' } as const;
  const servers = [await newServer('a'), await newServer('b')];
  let [primary, standby] = servers as [Server, Server];
  t.after(async () => {
    for (const server of servers) await kill(server);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  async function newServer(name: string): Promise<Server> {
    const port = await freePort();
    return {
      data: join(folder, name),
      port,
      url: `postgres://causeway@127.0.0.1:${port}/postgres`,
      process: undefined,
    };
  }

  async function start(server: Server): Promise<void> {
    const settings = [...SETTINGS, `port=${server.port}`].flatMap((setting) => ['-c', setting]);
    server.process = spawn(join(programs, 'postgres'), ['-D', server.data, ...settings], options);
    await eventually('PostgreSQL answers', async () => (await ask(server, 'select 1')).length === 1);
  }

  async function repair(): Promise<void> {
    rmSync(standby.data, { recursive: true, force: true, maxRetries: 10 });
    const from = ['-D', standby.data, '-h', '127.0.0.1', '-p', String(primary.port), '-U', 'causeway'];
    execFileSync(join(programs, 'pg_basebackup'), [...from, '-R', '-c', 'fast', '-X', 'stream'], options);
    await start(standby);
    await eventually('the standby follows', async () => (await states()).includes('streaming'));
    if (!isSynchronous) return;
    await ask(primary, "alter system set synchronous_standby_names = '*'");
    await ask(primary, 'select pg_reload_conf()');
    await eventually('it confirms commits', async () => (await states()).includes('sync'));
  }

  async function states(): Promise<readonly unknown[]> {
    return (await ask(primary, 'select state, sync_state from pg_stat_replication')).flatMap(Object.values);
  }

  async function promoteStandby(): Promise<void> {
    await ask(standby, 'select pg_promote(true, 30)');
  }

  const made = ['-D', primary.data, '-U', 'causeway', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  execFileSync(join(programs, 'initdb'), made, options);
  await start(primary);
  await repair();
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    url: `postgres://causeway@${hosts}/postgres`,
    get primaryUrl() {
      return primary.url;
    },
    async failOver() {
      await kill(primary);
      await promoteStandby();
      [primary, standby] = [standby, primary];
    },
    repair,
    async stopReceiving() {
      await ask(standby, "alter system set primary_conninfo = ''");
      await ask(standby, 'select pg_reload_conf()');
      await eventually('it receives nothing', async () => {
        return (await ask(standby, 'select pid from pg_stat_wal_receiver')).length === 0;
      });
    },
    promoteStandby,
    killStandby: () => kill(standby),
  };
}

/** Ends a server at once, as when its machine fails: changes that the standby lacks are lost. */
async function kill(server: Server): Promise<void> {
  const { process } = server;
  if (process === undefined || process.exitCode !== null || process.signalCode !== null) return;
  const ended = once(process, 'exit');
  process.kill('SIGQUIT');
  await ended;
}

async function ask({ url }: Server, text: string): Promise<readonly object[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // the query fails
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/**
 * Two PostgreSQL servers under Debian's Patroni, with one etcd and HAProxy before them. Declare the test with
 * `needs('patroni', 'etcd', 'haproxy', 'postgresPrograms')`.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { startHaproxy } from '../process/haproxy.ts';
import { obtain } from '../runner/needs.ts';
import { postgresUser, roomyFolder } from '../runner/postgres-cluster.ts';
import type { Cleanup } from '../temporary.ts';

interface PatroniCluster {
  /** URL that leads through HAProxy to the leader. */
  readonly url: string;
  /** URL of the present leader alone. */
  leaderUrl(): Promise<string>;
  /** Makes the other one the leader, by patronictl. */
  switchOver(): Promise<void>;
  /** SIGKILL for the leader's PostgreSQL, for its Patroni, or for both: then resolves when another one leads. */
  killLeader(what: 'postgres' | 'patroni' | 'both'): Promise<void>;
  /** Starts Patroni again where it was killed; resolves when the leader has a synchronous standby. */
  repair(): Promise<void>;
}

interface Member {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly restPort: number;
  readonly configuration: string;
  process: ChildProcess | undefined;
}

/** The recommendation of docs/controls.md. */
const DCS = {
  ttl: 20,
  loop_wait: 5,
  retry_timeout: 5,
  maximum_lag_on_failover: 1_048_576,
  synchronous_mode: true,
  synchronous_node_count: 1,
  postgresql: {
    use_pg_rewind: true,
    parameters: { fsync: 'off', full_page_writes: 'on', wal_log_hints: 'on', wal_retrieve_retry_interval: '500ms' },
  },
};
const LIMIT_MS = 120_000;
const SCOPE = 'causeway';

export async function startPatroni(t: Cleanup): Promise<PatroniCluster> {
  const user = postgresUser();
  const folder = mkdtempSync(join(roomyFolder(), 'causeway-patroni-'));
  const members: Member[] = [];
  const etcd = await startEtcd(folder);
  t.after(async () => {
    for (const member of members) await killMember(member);
    await end(etcd.process);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  chmodSync(folder, 0o755);
  for (const name of ['a', 'b']) members.push(await prepareMember(folder, name, etcd.port, user));

  const start = (member: Member) => {
    const log = openSync(join(member.folder, 'log'), 'a');
    const stdio = ['ignore', log, log] as ['ignore', number, number]; // `as`: a tuple
    member.process = spawn(obtain('patroni'), [member.configuration], { ...environmentOf(member), stdio });
  };
  const environmentOf = (member: Member) => ({
    ...user,
    cwd: member.folder,
    env: { PATH: process.env['PATH'], HOME: member.folder, LC_ALL: 'C.UTF-8' },
  });
  const repair = async () => {
    for (const member of members) if (!isRunning(member.process)) start(member);
    await eventually('the leader has a synchronous standby', async () => await isWhole(members), LIMIT_MS);
  };
  const [first, second] = members as [Member, Member];
  start(first);
  await eventually('the first one leads', async () => (await findLeader(members)) === first, LIMIT_MS);
  start(second);
  await repair();
  const servers = members.map(({ port, restPort }) => ({ port, checkPort: restPort }));
  const port = await startHaproxy(t, { mode: 'tcp', check: '/primary', servers });
  return {
    url: `postgres://causeway:secret@127.0.0.1:${port}/postgres`,
    leaderUrl: async () => `postgres://causeway:secret@127.0.0.1:${(await expectLeader(members)).port}/postgres`,
    async switchOver() {
      const leader = await expectLeader(members);
      const candidate = members.find((member) => member !== leader)?.name ?? '';
      const words = ['switchover', SCOPE, '--leader', leader.name, '--candidate', candidate, '--force'];
      await promisify(execFile)(obtain('patronictl'), ['-c', leader.configuration, ...words], environmentOf(leader));
      await eventually('it has happened', async () => (await expectLeader(members)) !== leader, LIMIT_MS);
    },
    async killLeader(what) {
      const leader = await expectLeader(members);
      if (what !== 'postgres') await end(leader.process);
      if (what !== 'patroni') killPostgres(leader);
      const follows = async () => ((await findLeader(members)) ?? leader) !== leader;
      if (what !== 'postgres') await eventually('another one leads', follows, LIMIT_MS);
    },
    repair,
  };
}

async function startEtcd(folder: string): Promise<{ readonly port: number; readonly process: ChildProcess }> {
  const [port, peerPort] = [await freePort(), await freePort()];
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const words = [
    ...['--data-dir', join(folder, 'etcd'), '--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ];
  const process = spawn(obtain('etcd'), words, { stdio: 'ignore' });
  await eventually('etcd answers', async () => (await fetch(`${client}/health`)).ok);
  return { port, process };
}

async function prepareMember(
  folder: string,
  name: string,
  etcdPort: number,
  user: ReturnType<typeof postgresUser>,
): Promise<Member> {
  const own = join(folder, name);
  mkdirSync(own);
  const [port, restPort] = [await freePort(), await freePort()];
  const configuration = join(own, 'patroni.yml');
  const password = 'secret';
  const trusted = ['all', 'replication'].map((database) => `host ${database} all 127.0.0.1/32 trust`);
  // JSON is YAML.
  const settings = {
    scope: SCOPE,
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { hosts: [`127.0.0.1:${etcdPort}`] },
    bootstrap: { dcs: DCS, initdb: [{ encoding: 'UTF8' }, { locale: 'C' }], pg_hba: trusted },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(own, 'data'),
      bin_dir: obtain('postgresPrograms'),
      pgpass: join(own, 'pgpass'),
      pg_hba: trusted,
      parameters: { unix_socket_directories: '' },
      authentication: {
        superuser: { username: 'causeway', password },
        replication: { username: 'replicator', password },
        rewind: { username: 'rewinder', password },
      },
    },
  };
  writeFileSync(configuration, JSON.stringify(settings));
  if (user !== undefined) for (const path of [own, configuration]) chownSync(path, user.uid, user.gid);
  return { name, folder: own, port, restPort, configuration, process: undefined };
}

async function expectLeader(members: readonly Member[]): Promise<Member> {
  return await eventually('there is a leader', () => findLeader(members), LIMIT_MS);
}

/** Returns the member that HAProxy would choose. */
async function findLeader(members: readonly Member[]): Promise<Member | undefined> {
  for (const member of members) if (await isUp(member, 'primary')) return member;
  return undefined;
}

async function isWhole(members: readonly Member[]): Promise<boolean> {
  const leader = await findLeader(members);
  const others = members.filter((member) => member !== leader);
  const standbys = await Promise.all(others.map((member) => isUp(member, 'synchronous')));
  return leader !== undefined && standbys.includes(true);
}

async function isUp({ restPort }: Member, check: 'primary' | 'synchronous'): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${restPort}/${check}`)).ok;
  } catch {
    return false; // Patroni does not run there
  }
}

function isRunning(child: ChildProcess | undefined): boolean {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Ends a process at once. */
async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || !isRunning(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function killMember(member: Member): Promise<void> {
  await end(member.process);
  try {
    killPostgres(member);
  } catch {
    // It has ended already, or never began.
  }
}

/** Throws if it does not run. */
function killPostgres({ folder }: Member): void {
  const pid = Number.parseInt(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10);
  // The file stays when its process is killed, and then another one may have the number.
  if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)) throw new Error('PostgreSQL does not run');
  process.kill(pid, 'SIGKILL');
}

/**
 * A program: a PostgreSQL cluster of the tests' own, from what Debian's packages install. Prints its URL when it answers; stops and
 * removes it when its standard input ends, so also when the runner that holds the other end was killed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chownSync, constants, mkdtempSync, openSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { findPostgres } from './needs.ts';

/** What a run of all tests makes of it, and some. */
const ROOM_BYTES = 4e9;
/** No test pulls the machine's plug: what is written need not be on a disk. */
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'autovacuum=off', // databases live for seconds
  'max_connections=200',
  'unix_socket_directories=',
  'listen_addresses=127.0.0.1',
];

if (import.meta.main) {
  await run();
  process.exit(); // whatever still waits for an answer
}

async function run(): Promise<void> {
  const isOver = once(process.stdin.resume(), 'close');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.stdin.destroy());
  const folder = mkdtempSync(join(roomyFolder(), 'causeway-postgres-'));
  try {
    const { url, ended, end } = await startServer(folder);
    try {
      await Promise.race([
        isOver,
        ended,
        eventually('PostgreSQL answers', () => ask(url)).then(() => console.log(url)),
      ]);
      await Promise.race([isOver, ended]);
    } finally {
      end();
      await ended;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function startServer(folder: string) {
  const programs = findPostgres();
  if (programs === undefined) throw new Error('no PostgreSQL is installed');
  const user = postgresUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const made = ['-D', data, '-U', 'causeway', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  execFileSync(join(programs, 'initdb'), made, { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const port = await freePort();
  const settings = [...SETTINGS, `port=${port}`].flatMap((setting) => ['-c', setting]);
  const log = openSync(join(folder, 'log'), 'w');
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...settings], {
    ...user,
    cwd: folder,
    stdio: ['ignore', log, log],
  });
  let isEnding = false;
  return {
    url: `postgres://causeway@127.0.0.1:${port}/postgres`,
    ended: once(server, 'exit').then(() => {
      if (!isEnding)
        process.stderr.write(`PostgreSQL ended:\n${readFileSync(join(folder, 'log'), 'utf8').slice(-2000)}`);
    }),
    end: () => {
      isEnding = true;
      server.kill('SIGQUIT'); // at once: nothing of it is kept
    },
  };
}

/**
 * Returns a folder in memory if there is room: each test makes a database of 300 files and drops it, and ext4 visits each file
 * that was deleted in the last seconds.
 */
export function roomyFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize > ROOM_BYTES ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** PostgreSQL refuses to run as root: then it is the user whom its package made. */
export function postgresUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function ask(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.end();
  return true;
}

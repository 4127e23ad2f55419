/** Checks of the machine itself: the Node that runs, limits of the system, the clock, name servers. */
import { execFile } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DoctorFinding } from '#cli/command/doctor-finding.ts';
import { canBindSockets } from '#lib/node-internals/bound-sockets.ts';
import { messageOf, ok, problem, warning } from './findings.ts';

const run = promisify(execFile);
const PROGRAM_LIMIT_MS = 5000;

/** `root`: the folder of the program. Its own Node is tried, whichever Node runs this. */
export async function checkLibraries(root: string): Promise<readonly DoctorFinding[]> {
  const node = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  const findings = [await checkNode(node)];
  if (!canBindSockets())
    findings.push(
      warning(
        'libraries',
        `Node ${process.versions.node} does not let the service hold the sockets of its listeners`,
        'use the Node that comes with this release; otherwise "causeway restart" is refused',
      ),
    );
  return findings;
}

async function checkNode(node: string): Promise<DoctorFinding> {
  if (!existsSync(node))
    return ok('libraries', `Node ${process.versions.node} of the machine runs (${process.execPath})`);
  try {
    const { stdout } = await run(node, ['--version'], { timeout: PROGRAM_LIMIT_MS });
    return ok('libraries', `the bundled Node ${stdout.trim()} runs`);
  } catch (error) {
    const why = error instanceof Error && 'stderr' in error ? String(error.stderr).split('\n', 1)[0] : '';
    const found = `the bundled Node cannot be run: ${why || messageOf(error)}`;
    return problem('libraries', found, 'it needs glibc and libatomic: on Debian or Ubuntu, apt-get install libatomic1');
  }
}

/** A few thousand viewers exhaust a worker with less. */
const MIN_DESCRIPTORS = 4096;
/** 10,000 connections with WebSocket of a worker take 20,000; the rest are viewers, origins and files. */
const GOOD_DESCRIPTORS = 65_536;

/** `limits`: content of `/proc/<pid>/limits`. Node raises its own limit to the hard one. Pure. */
export function judgeFileLimit(limits: string, whose: string): DoctorFinding {
  const [, text = ''] = /^Max open files +\S+ +(\S+)/m.exec(limits) ?? [];
  const limit = text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text || Number.NaN);
  if (Number.isNaN(limit)) return warning('file limits', 'the limit of open files is not known', 'check "ulimit -Hn"');
  const found = `${whose} may have ${text} files and connections open`;
  const advice = `raise it to ${GOOD_DESCRIPTORS} or more (LimitNOFILE= of the unit, or "ulimit -Hn" of the shell)`;
  if (limit < MIN_DESCRIPTORS) return problem('file limits', found, advice);
  return limit < GOOD_DESCRIPTORS ? warning('file limits', found, advice) : ok('file limits', found);
}

/** `pid`: of the service, if it runs. */
export function checkFileLimits(pid: number | undefined): readonly DoctorFinding[] {
  const limits = readFileSync(`/proc/${pid ?? 'self'}/limits`, 'utf8');
  return [judgeFileLimit(limits, pid === undefined ? 'a process started from this shell' : 'the service')];
}

/** Time stamps may be a little ahead, as on a network file system. */
const CLOCK_TOLERANCE_MS = 60_000;
const SET_CLOCK = 'set the clock, for example with "timedatectl set-ntp true"';

/**
 * Compares the clock with the time stamps of files that were written before, and asks systemd whether it is
 * synchronized. `files` need not exist.
 */
export async function checkClock(now: number, files: readonly string[]): Promise<readonly DoctorFinding[]> {
  const stamps = files.map((file) => ({ file, at: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }));
  const newest = stamps.reduce((one, other) => (other.at > one.at ? other : one), { file: '', at: 0 });
  const said = `the clock says ${new Date(now).toISOString()}`;
  if (newest.at > now + CLOCK_TOLERANCE_MS)
    return [
      problem('clock', `${said}, before ${newest.file} was written (${new Date(newest.at).toISOString()})`, SET_CLOCK),
    ];
  const isSynchronized = await askTimeService();
  if (isSynchronized === 'no') return [warning('clock', `${said}, and it is not synchronized`, SET_CLOCK)];
  return [
    ok('clock', `${said}${isSynchronized === 'yes' ? ', and it is synchronized' : '; no time service answered'}`),
  ];
}

/** `undefined` on machines without systemd. */
async function askTimeService(): Promise<string | undefined> {
  try {
    const args = ['show', '--property=NTPSynchronized', '--value'];
    return (await run('timedatectl', args, { timeout: PROGRAM_LIMIT_MS })).stdout.trim();
  } catch {
    return undefined; // there is none, or it answers nobody
  }
}

/** Limit of a question to a name server, and how often it is asked. */
const DNS_LIMIT = { timeout: 2000, tries: 2 };
/** Codes of answers: the server works, whatever it knows. */
const DNS_ANSWERS = ['ENODATA', 'ENOTFOUND'];
/** Codes of servers that answer without an answer. */
const DNS_REFUSALS = ['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR'];

/** Asks each name server of the machine for the root zone. */
export async function checkDns(): Promise<readonly DoctorFinding[]> {
  const servers = new Resolver().getServers();
  const outcomes = await Promise.all(servers.map(async (server) => ({ server, code: await askServer(server) })));
  const silent = outcomes.filter(({ code }) => code !== 'ok' && !DNS_REFUSALS.includes(code));
  const refusing = outcomes.filter(({ code }) => DNS_REFUSALS.includes(code));
  const list = (some: typeof outcomes) => some.map(({ server, code }) => `${server} (${code})`).join(', ');
  const advice = 'mend /etc/resolv.conf or the server; origins given by name are not found otherwise';
  if (silent.length > 0) {
    const judge = silent.length === outcomes.length ? problem : warning;
    return [judge('DNS', `no answer from the name servers ${list(silent)}`, advice)];
  }
  if (refusing.length > 0) return [warning('DNS', `the name servers ${list(refusing)} do not resolve names`, advice)];
  return [ok('DNS', `the name servers answer: ${servers.join(', ')}`)];
}

/** Resolves to `ok`, or the code of the error. */
async function askServer(server: string): Promise<string> {
  const resolver = new Resolver(DNS_LIMIT);
  resolver.setServers([server]);
  try {
    await resolver.resolveNs('.');
    return 'ok';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
    return DNS_ANSWERS.includes(code) ? 'ok' : code;
  }
}

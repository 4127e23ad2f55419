/**
 * Machines of a test: network namespaces that are joined by a switch, which is a bridge in a namespace of its own. The
 * machine that runs the tests has no link to them, so their addresses may be any. All of it is removed with the test,
 * and what a killed test has left behind with the next one.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { isAlive } from '../process/service.ts';
import { obtain } from '../runner/needs.ts';
import type { Cleanup } from '../temporary.ts';

export interface Machine {
  readonly address: string;
  /** Words before a command that is to run there. */
  readonly inside: readonly string[];
  /** Drops every packet to and from other machines; connections stay open, as with a pulled cable. */
  cutOff(): void;
  /** Ends that. */
  mend(): void;
}

const PREFIX = 'causeway-test-';
const COMMAND_LIMIT_MS = 10_000;
const PREFIX_BITS = 24;

/** `addresses`: IPv4, all of one /24, by the names of the machines. Needs `namespaces`, and `nft` to cut one off. */
export function startMachines<N extends string>(
  t: Cleanup,
  addresses: Readonly<Record<N, string>>,
): Readonly<Record<N, Machine>> {
  const ip = (...args: readonly string[]) => runTool(obtain('namespaces'), args);
  const base = `${PREFIX}${process.pid}-${randomBytes(3).toString('hex')}`;
  removeLeftovers(ip);
  const network = `${base}-switch`;
  t.after(() => {
    for (const name of listNamespaces(ip)) if (name.startsWith(`${base}-`)) removeNamespace(ip, name);
  });
  ip('netns', 'add', network);
  ip('-n', network, 'link', 'add', 'bridge', 'type', 'bridge');
  ip('-n', network, 'link', 'set', 'bridge', 'up');
  // `as`: the keys of the parameter.
  const names = Object.keys(addresses) as N[];
  const machines = names.map((name, index) => {
    const space = `${base}-${name}`;
    ip('netns', 'add', space);
    ip('-n', network, 'link', 'add', `port${index}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
    ip('-n', network, 'link', 'set', `port${index}`, 'master', 'bridge', 'up');
    ip('-n', space, 'address', 'add', `${addresses[name]}/${PREFIX_BITS}`, 'dev', 'eth0');
    ip('-n', space, 'link', 'set', 'lo', 'up');
    ip('-n', space, 'link', 'set', 'eth0', 'up');
    const inside = [obtain('namespaces'), 'netns', 'exec', space];
    const nft = (rules: string) => runTool(inside[0] ?? '', [...inside.slice(1), obtain('nft'), '-f', '-'], rules);
    const machine: Machine = {
      address: addresses[name],
      inside,
      cutOff: () => nft(CUT_OFF),
      mend: () => nft(MEND),
    };
    return [name, machine] as const;
  });
  // `as`: one entry for each name.
  return Object.fromEntries(machines) as Record<N, Machine>;
}

const CUT_OFF = `
  table inet cut {
    chain in { type filter hook input priority 0; iifname "eth0" drop; }
    chain out { type filter hook output priority 0; oifname "eth0" drop; }
  }`;
const MEND = 'delete table inet cut';

/** Environment of a program whose clock is off by this, such as `+2h` or `-3d`; its timers run as always. */
export function clockOff(offset: string): Readonly<Record<string, string>> {
  return { LD_PRELOAD: obtain('faketime'), FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

type Ip = (...args: readonly string[]) => string;

function runTool(program: string, args: readonly string[], input = ''): string {
  return execFileSync(program, args, {
    encoding: 'utf8',
    input,
    timeout: COMMAND_LIMIT_MS,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

function listNamespaces(ip: Ip): readonly string[] {
  const lines = ip('netns', 'list').split('\n');
  return lines.map((line) => line.split(' ')[0] ?? '').filter((name) => name.startsWith(PREFIX));
}

/** Removes namespaces of tests that were killed: their names have the process id. */
function removeLeftovers(ip: Ip): void {
  for (const name of listNamespaces(ip)) {
    const pid = Number(name.slice(PREFIX.length).split('-')[0]);
    if (!isAlive(pid)) removeNamespace(ip, name);
  }
}

function removeNamespace(ip: Ip, name: string): void {
  for (const pid of ip('netns', 'pids', name).split('\n').filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
  spawnSync(obtain('namespaces'), ['netns', 'delete', name], { timeout: COMMAND_LIMIT_MS });
}

/** Checks of the addresses that the service listens on, or would. */
import { connect } from 'node:net';
import type { DoctorFinding } from '#cli/command/doctor-finding.ts';
import type { Config } from '#config';
import { formatListenAddress, type ListenAddress, reachableHost } from '#lib/listen-address.ts';
import { findPortOwner } from '#lib/listening-descriptor.ts';
import { settingName } from '#lib/settings.ts';
import { claimAddresses } from '../sockets/claim-address.ts';
import { type ListenKey, wantedAddresses } from '../sockets/listeners.ts';
import { ok, problem } from './findings.ts';

/** `isRunning`: whether the service of these settings runs, and should be listening. */
export async function checkPorts(config: Config, isRunning: boolean): Promise<readonly DoctorFinding[]> {
  return isRunning ? askRunning(config) : tryAddresses(config);
}

const CONNECT_LIMIT_MS = 2000;

async function askRunning(config: Config): Promise<readonly DoctorFinding[]> {
  const wanted = wantedAddresses(config).filter(({ address }) => address.port !== 0);
  return Promise.all(
    wanted.map(async ({ key, address }) => {
      const where = describe(key, address);
      return (await isListening(address))
        ? ok('ports', `${where}: the service listens`)
        : problem(
            'ports',
            `${where}: the service runs, and nobody listens there`,
            'it was started with other settings or with sockets of systemd: compare them, then restart the service',
          );
    }),
  );
}

function isListening({ host, port }: ListenAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: reachableHost(host), port });
    const end = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.setTimeout(CONNECT_LIMIT_MS, () => end(false));
    socket.on('connect', () => end(true)).on('error', () => end(false));
  });
}

/** Listens on each address for a moment. */
async function tryAddresses(config: Config): Promise<readonly DoctorFinding[]> {
  const wanted = wantedAddresses(config);
  const claims = await claimAddresses(wanted);
  const problems = new Map(claims.kind === 'refused' ? claims.problems.map(({ key, problem: why }) => [key, why]) : []);
  return wanted.map(({ key, address }) => {
    const why = problems.get(key);
    return why === undefined ? ok('ports', `${describe(key, address)} is free`) : explain(key, address, why);
  });
}

function explain(key: ListenKey, address: ListenAddress, why: string): DoctorFinding {
  const owner = findPortOwner(address.port);
  const where = describe(key, address);
  if (owner?.pid === 1) return ok('ports', `${where}: held by ${owner.program} for the service`);
  if (owner !== undefined)
    return problem(
      'ports',
      `${where}: in use by ${owner.program} (process ${owner.pid})`,
      `stop that program, or set ${settingName(key)} to another port`,
    );
  const advice = `set ${settingName(key)} to an address that the service may use (run this as root to see which program has a port)`;
  return problem('ports', `${where}: ${why}`, advice);
}

function describe(key: ListenKey, address: ListenAddress): string {
  return `${settingName(key)} ${formatListenAddress(address)}`;
}

/** The checks of an edge on its own machine. `model/edge-health.ts` decides from their results. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#config';
import { createAddressSet } from '#lib/cidr.ts';
import { type ListenAddress, reachableHost } from '#lib/listen-address.ts';
import { FULL_SHARE, type HealthCheck } from '#model/edge-health.ts';
import { askListener, HTTP_QUESTION, type Inquiry, TLS_QUESTION } from '../sockets/ask-listener.ts';

/** Resolves with the problem; `undefined` if there is none. Never rejects. */
export type Check = () => Promise<string | undefined>;

type CheckedConfig = Pick<
  Config,
  | 'roles'
  | 'dataDir'
  | 'cacheDirectory'
  | 'cacheDiskBytes'
  | 'edgeHttpListen'
  | 'edgeHttpsListen'
  | 'edgeProxyProtocol'
  | 'edgeTrustedProxies'
>;

/** The checks that this process can make alone. */
export function createOwnChecks(config: CheckedConfig): ReadonlyMap<HealthCheck, Check> {
  const { dataDir, edgeHttpListen, edgeHttpsListen } = config;
  const checks = new Map<HealthCheck, Check>([
    ['disk', () => checkDisk(join(dataDir, 'edge', 'own-check'))],
    ['space', () => checkSpace(config)],
  ]);
  if (!config.roles.includes('edge')) return checks;
  checks.set('http', () => askListener({ ...HTTP_QUESTION, ...reached(edgeHttpListen, config) }));
  if (edgeHttpsListen !== 'off')
    checks.set('https', () => askListener({ ...TLS_QUESTION, ...reached(edgeHttpsListen, config) }));
  return checks;
}

function reached(
  address: ListenAddress,
  { edgeProxyProtocol, edgeTrustedProxies }: CheckedConfig,
): Pick<Inquiry, 'address' | 'needsProxyHeader'> {
  const isTrusted = createAddressSet(edgeTrustedProxies).has(reachableHost(address.host));
  return { address, needsProxyHeader: edgeProxyProtocol === 'required' && isTrusted };
}

async function checkDisk(file: string): Promise<string | undefined> {
  try {
    await writeFile(file, '.', { mode: 0o600 });
    await rm(file);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A full disk of the cache costs hits; one of the data directory costs log lines and settings. */
async function checkSpace({ dataDir, cacheDirectory, cacheDiskBytes }: CheckedConfig): Promise<string | undefined> {
  for (const directory of cacheDiskBytes === 0 ? [dataDir] : [dataDir, cacheDirectory]) {
    const used = await usedShare(directory);
    if (used !== undefined && used >= FULL_SHARE) return `the file system of ${directory} is ${percent(used)} full`;
  }
  return undefined;
}

/** Share of the directory's file system that is in use, 0 to 1; `undefined` if it is not known. */
export async function usedShare(directory: string): Promise<number | undefined> {
  try {
    const { blocks, bavail } = await statfs(directory);
    return blocks === 0 ? undefined : 1 - bavail / blocks;
  } catch {
    return undefined; // the check `disk` reports it
  }
}

export function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

/**
 * Share of this process's file descriptors in use, 0 to 1, at least: a new one gets the lowest free number, so that all
 * below are in use. Costs one open file instead of a list of all. 1 if none is left.
 */
export function descriptorShare(limit: number): number {
  try {
    const lowestFree = openSync('/dev/null', 'r');
    closeSync(lowestFree);
    return lowestFree / limit;
  } catch {
    return 1;
  }
}

/** Limit of this process's file descriptors; infinite if it is not known. */
export function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY; // not Linux
  }
}

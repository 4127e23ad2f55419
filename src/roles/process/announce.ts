/** The text that is printed when the service is up: addresses, the data directory, the first access token. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '#config';
import { formatListenAddress, type ListenAddress } from '#lib/listen-address.ts';
import type { ReadyNews } from './messages.ts';

export interface Announcement {
  readonly config: Config;
  readonly news: ReadyNews;
  print(line: string): void;
  readonly isTerminal: boolean;
}

export function announce({ config, news, print, isTerminal }: Announcement): void {
  const { firstToken, control, dnsProblem } = news;
  const workers = config.edgeWorkers === 1 ? '1 worker' : `${config.edgeWorkers} workers`;
  if (config.roles.includes('control')) {
    const url = urlOf(config.controlListen, config.controlTls !== undefined);
    print(`control  ${url}`);
    if (config.console === 'on') print(`console  ${url}/console/`);
  }
  if (config.roles.includes('control') && config.fleetListen !== 'off')
    print(`fleet    ${urlOf(config.fleetListen, true)}`);
  if (config.roles.includes('edge')) {
    print(`edge     ${urlOf(config.edgeHttpListen, false)} (${workers})`);
    if (config.edgeHttpsListen !== 'off') print(`edge     ${urlOf(config.edgeHttpsListen, true)}`);
  }
  if (config.roles.includes('live')) {
    if (config.rtmpListen !== 'off') print(`live     rtmp://${formatListenAddress(config.rtmpListen)}`);
    if (config.rtmpsListen !== 'off') print(`live     rtmps://${formatListenAddress(config.rtmpsListen)}`);
  }
  if (config.roles.includes('dns')) {
    const note = dnsProblem ?? (config.dnsEngine === 'knot' ? 'Knot' : undefined);
    print(`dns      ${formatListenAddress(config.dnsListen)}${note === undefined ? '' : ` (${note})`}`);
  }
  if (control !== undefined)
    print(`follows  ${control.address} (${control.isConnected ? 'connected' : NOT_CONNECTED})`);
  print(`metrics  ${urlOf(config.metricsListen, false)}/metrics`);
  const database = config.databaseUrl === undefined ? 'SQLite' : 'PostgreSQL';
  print(`data     ${config.dataDir}${config.roles.includes('control') ? ` (${database})` : ''}`);
  if (firstToken === 'given') print('token    the first access token is the one set as bootstrap-token');
  if (firstToken === 'kept' || firstToken === 'stillKept') {
    const file = firstTokenPath(config.dataDir);
    if (firstToken === 'kept' && isTerminal) print(`token    ${readFileSync(file, 'utf8').trim()}`);
    print(`token    the first access token is kept in ${file}`);
  }
  print('causeway is ready');
}

const NOT_CONNECTED = 'not connected; retrying, with the last settings in force';

export function urlOf(address: ListenAddress, isSecure: boolean): string {
  return `${isSecure ? 'https' : 'http'}://${formatListenAddress(address)}`;
}

export function firstTokenPath(dataDir: string): string {
  return join(dataDir, 'first-token');
}

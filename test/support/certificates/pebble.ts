/** Debian's Pebble, a certificate authority that speaks ACME and is strict about it: it looks for challenges at the edge under test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { startDns } from '../edge/dns.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { obtain } from '../runner/needs.ts';
import { temporaryFolder } from '../temporary.ts';
import { createAuthority } from './certificate.ts';

/** Where it will be, known before it runs. Declare the test with `needs('pebble')` and `needs('openssl')`. */
export interface PebblePlace {
  readonly directory: string;
  /** Certificate of the authority of its TLS. */
  readonly ca: string;
  readonly caFile: string;
  start(options: PebbleOptions): Promise<Pebble>;
}

export interface PebbleOptions {
  /** Where it looks for challenges; every name of `names` leads to 127.0.0.1. */
  readonly httpPort: number;
  readonly names: readonly string[];
  /** Percent of good nonces that it refuses. */
  readonly nonceReject?: number;
  /** How long it takes before it looks, at most; absent: no time. */
  readonly validationSeconds?: number;
  /** External accounts, one of which an account must be bound to: MAC keys in base64url, by their identifiers. */
  readonly externalAccounts?: Readonly<Record<string, string>>;
}

export interface Pebble {
  /** PEM of the root that it issues under. */
  root(): Promise<string>;
  /** What it wrote. */
  log(): string;
}

export async function placePebble(t: Pick<TestContext, 'after'>): Promise<PebblePlace> {
  const [port, managementPort] = [await freePort(), await freePort()];
  const authority = createAuthority(t);
  const { key, cert } = authority.issue(['localhost', '127.0.0.1']);
  const folder = temporaryFolder(t);
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const url = (at: number, path: string) => `https://127.0.0.1:${at}/${path}`;
  return {
    directory: url(port, 'dir'),
    ca: authority.ca,
    caFile: authority.caFile,
    async start({ httpPort, names, nonceReject = 5, validationSeconds, externalAccounts }) {
      const dns = await startDns(t, Object.fromEntries(names.map((name) => [name, { a: ['127.0.0.1'] }])));
      const pebble = {
        listenAddress: `127.0.0.1:${port}`,
        managementListenAddress: `127.0.0.1:${managementPort}`,
        certificate: file('cert.pem', cert),
        privateKey: file('key.pem', key),
        httpPort,
        tlsPort: 1,
        ...(externalAccounts !== undefined && {
          externalAccountBindingRequired: true,
          externalAccountMACKeys: externalAccounts,
        }),
      };
      const child = spawn(
        obtain('pebble'),
        ['-strict', '-config', file('pebble.json', JSON.stringify({ pebble })), '-dnsserver', dns.server],
        {
          env: {
            PATH: process.env['PATH'],
            ...(validationSeconds === undefined
              ? { PEBBLE_VA_NOSLEEP: '1' }
              : { PEBBLE_VA_SLEEPTIME: String(validationSeconds) }),
            PEBBLE_WFE_NONCEREJECT: String(nonceReject),
            PEBBLE_AUTHZREUSE: '0',
          },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      let log = '';
      for (const output of [child.stdout, child.stderr])
        output.setEncoding('utf8').on('data', (said: string) => (log += said));
      const ended = once(child, 'close');
      t.after(async () => {
        child.kill('SIGKILL');
        await ended;
      });
      const ask = (path: string) =>
        new Promise<string>((resolve, reject) => {
          get(url(managementPort, path), { ca: authority.ca, agent: false }, (answer) =>
            text(answer).then(resolve, reject),
          ).on('error', reject);
        });
      await eventually('pebble answers', () => ask('roots/0'));
      return { root: () => ask('roots/0'), log: () => log };
    },
  };
}

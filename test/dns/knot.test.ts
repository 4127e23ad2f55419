/** The name server behind Knot DNS: what Knot answers, and what becomes of changes that it does not take. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startKnot } from '#dns/knot/engine.ts';
import { networksOf } from '#dns/knot/networks.ts';
import { parseClientNetwork } from '#dns/location.ts';
import { createLogger } from '#lib/logger.ts';
import { dig } from '../support/dns/dig.ts';
import { startNameServer, ZONES } from '../support/dns/name-server.ts';
import { eventually } from '../support/eventually.ts';
import { siteSpec } from '../support/feed/feed.ts';
import { freePort } from '../support/free-port.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { type Cleanup, temporaryFolder } from '../support/temporary.ts';

const putSite = (id: number, name: string) =>
  ({ kind: 'site', key: name, op: 'put', body: siteSpec(id, name) }) as const;
const putPlace = (addresses: readonly string[]) =>
  ({ kind: 'edge_place', key: 'local', op: 'put', body: { addresses, port: 80, weight: 100 } }) as const;
/** Probes find the edges of this group down, more than half of all, and are ignored. */
const LAB = { addresses: ['192.0.2.7'], port: 80, weight: 100, group: 'lab' };

interface Configured {
  /** What Knot is given in place of the file that the service writes. */
  readonly zones?: (files: string) => string;
  readonly template?: string;
}

async function startWithKnot(t: Cleanup, { zones, template }: Configured = {}) {
  const folder = temporaryFolder(t);
  const files = join(folder, 'files');
  for (const name of ['run', 'db', 'files']) mkdirSync(join(folder, name));
  const port = await freePort();
  const network = parseClientNetwork('10.20.0.0/16=lab');
  assert.ok(network);
  const names = await startNameServer(t, {
    places: { local: putPlace(['192.0.2.1']).body, lab1: LAB, lab2: { ...LAB, addresses: ['192.0.2.8'] } },
    locator: { networks: [network] },
  });
  names.apply(
    [
      putSite(1, 'www.example.com'),
      { kind: 'serving', key: 'default', op: 'put', body: { groups: ['default', 'lab'] } },
    ],
    ['www.example.com'],
  );
  await eventually('edges were probed', () => names.server.answersFor([]) !== undefined);
  const { server } = names;
  const knot = startKnot({
    directory: files,
    socket: join(folder, 'knot.sock'),
    listen: { host: '127.0.0.1', port },
    template,
    zones: ZONES,
    ttl: 30,
    ownAddresses: () => ['192.0.2.53'],
    source: {
      names: () => server.names(),
      labelOf: (name) => server.labelOf(name),
      takeChanged: () => server.takeChanged(),
      answers: () => server.answersFor(networksOf([network])),
    },
    log: createLogger({ level: 'silent', name: 'test' }),
  });
  const config = join(folder, 'knot.conf');
  writeFileSync(
    config,
    `server:
    rundir: "${folder}/run"
    listen: 127.0.0.1@${port}
    edns-client-subnet: on
database:
    storage: "${folder}/db"
control:
    listen: "${folder}/knot.sock"
template:
  - id: signed
    dnssec-signing: on
${zones?.(files) ?? `include: "${files}/causeway.conf"\n`}`,
  );
  await eventually('the files are there', () => knot.failed > 0); // Knot does not run yet
  const daemon = spawn(obtain('knot'), ['-c', config], { stdio: 'ignore' });
  const ended = once(daemon, 'close');
  t.after(async () => {
    daemon.kill('SIGKILL');
    await ended;
    await knot[Symbol.asyncDispose]();
  });
  return { port, knot, names, daemon };
}

describe('Knot DNS', needs('dig', 'knot', 'knotGeoip'), () => {
  test('Knot answers names and, by client, addresses, and takes changes of both', async (t) => {
    const { port, knot, names } = await startWithKnot(t);
    const addressesOf = async (subnet: string) =>
      (await dig(port, `+subnet=${subnet}`, 'default.r.test', 'A')).answer
        .map((line) => line.split(' ').at(-1))
        .sort()
        .join();
    const hasName = async (name: string) => (await dig(port, `${name}.cdn.test`, 'CNAME')).answer.length === 1;
    await eventually('Knot has the first name', () => hasName('www.example.com'));
    await eventually(
      'the edges are answered',
      async () => (await addressesOf('198.51.100.0/24')) === '192.0.2.1,192.0.2.7,192.0.2.8',
    );
    const lab = await dig(port, '+subnet=10.20.30.0/24', 'default.r.test', 'A');
    assert.deepEqual(lab.answer.toSorted(), ['default.r.test. 30 IN A 192.0.2.7', 'default.r.test. 30 IN A 192.0.2.8']);
    assert.match(lab.text, /CLIENT-SUBNET: 10\.20\.30\.0\/24\/16/);
    await eventually('all is taken', () => knot.problem === undefined && knot.applied >= 2);

    names.apply([putSite(2, 'www.example.net')], ['www.example.net']);
    await eventually('the new name answers', () => hasName('www.example.net'));
    assert.ok(await hasName('www.example.com'));
    names.apply([{ kind: 'site', key: 'www.example.net', op: 'delete' }], ['www.example.net']);
    assert.ok(await hasName('www.example.net'), 'for a day more');
    names.apply([putPlace(['192.0.2.9'])], []);
    await eventually(
      'the new address is answered',
      async () => (await addressesOf('198.51.100.0/24')) === '192.0.2.7,192.0.2.8,192.0.2.9',
    );
    assert.equal(knot.problem, undefined);
  });

  test('Knot without its module is noticed, since it answers every client alike', async (t) => {
    const zones = (files: string) => `zone:
  - domain: cdn.test
    file: ${files}/suffix.zone
  - domain: r.test
    file: ${files}/routing.zone
`;
    const { port, knot } = await startWithKnot(t, { zones });
    await eventually('Knot answers', async () => (await dig(port, 'r.test', 'SOA')).status === 'NOERROR');
    await eventually('the fault is told', () => knot.problem === 'Knot DNS answers otherwise than it was told');
  });

  test('Knot that hangs keeps no one waiting, and gets the change when it goes on', async (t) => {
    const { port, knot, names, daemon } = await startWithKnot(t);
    await eventually('all is taken', () => knot.problem === undefined && knot.applied >= 2);
    daemon.kill('SIGSTOP');
    names.apply([putPlace(['192.0.2.9'])], []);
    await eventually('the failure is known', () => knot.problem !== undefined);
    daemon.kill('SIGCONT');
    await eventually('the change is taken', async () =>
      (await dig(port, 'default.r.test', 'A')).answer.some((line) => line.endsWith(' 192.0.2.9')),
    );
  });

  test('both zones validate when Knot signs them', needs('delv'), async (t) => {
    const { port, knot } = await startWithKnot(t, { template: 'signed' });
    await eventually('all is taken', () => knot.problem === undefined && knot.applied >= 2);
    const rows = [
      ['cdn.test', 'www.example.com.cdn.test', 'CNAME', '; fully validated'],
      ['cdn.test', 'com.cdn.test', 'A', '; negative response, fully validated'],
      ['cdn.test', 'nothing.cdn.test', 'A', '; negative response, fully validated'],
      ['r.test', 'default.r.test', 'A', '; fully validated'],
      ['r.test', 'default.r.test', 'AAAA', '; negative response, fully validated'],
      ['r.test', 'nothing.r.test', 'A', '; negative response, fully validated'],
    ] as const;
    for (const [zone, name, type, found] of rows) {
      const text = await delv(temporaryFolder(t), port, { zone, name, type });
      assert.ok(text.includes(found), `${name} ${type}: ${text}`);
    }
  });
});

/** Validates an answer by the key of its zone. */
async function delv(
  folder: string,
  port: number,
  { zone, name, type }: { readonly zone: string; readonly name: string; readonly type: string },
): Promise<string> {
  const { answer } = await dig(port, '+tcp', zone, 'DNSKEY');
  const keys = answer.flatMap((line) => {
    const [, flags, protocol, algorithm, key] = /DNSKEY (257) (\d+) (\d+) (.*)$/.exec(line) ?? [];
    return flags === undefined ? [] : [`${zone}. static-key ${flags} ${protocol} ${algorithm} "${key}";`];
  });
  const anchors = join(folder, 'anchors');
  writeFileSync(anchors, `trust-anchors { ${keys.join(' ')} };\n`);
  const args = ['-a', anchors, `+root=${zone}`, '-p', String(port), '@127.0.0.1', name, type];
  const child = spawn(obtain('delv'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [text, problems] = await Promise.all([child.stdout, child.stderr].map((stream) => Array.fromAsync(stream)));
  return [...(text ?? []), ...(problems ?? [])].join('');
}

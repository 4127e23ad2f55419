/** Enrolment of machines: what tokens are good for, and which requests are refused. */
import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { deleteGroup } from '#db/tables/edge-groups.ts';
import { revokeEdgeToken } from '#db/tables/fleet/edge-tokens.ts';
import { readIdentity, readStored } from '#fleet/identity.ts';
import { identityFile } from '#fleet/identity-file.ts';
import { ENROL_PATH } from '#fleet/messages.ts';
import { enrolMachine } from '#fleet/obtain-identity.ts';
import { revokeEdge, type TokenOrder } from '#fleet/operate.ts';
import { FleetRefusal } from '#fleet/refusal.ts';
import { makeCsr } from '#model/csr.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { ask } from '../support/fleet/ask.ts';
import { createFleet, newMachine, type TestFleet } from '../support/fleet/fleet.ts';
import { freePort } from '../support/free-port.ts';
import type { Cleanup } from '../support/temporary.ts';

const HOUR_MS = 3_600_000;

interface Row {
  readonly what: string;
  readonly order?: Partial<TokenOrder>;
  /** What happens before the machine enrols. */
  readonly before?: (fleet: TestFleet, t: Cleanup, token: string) => unknown;
  readonly edge?: string;
  readonly alter?: (token: string) => string;
  /** Id of the edge, or status and word of the refusal. */
  readonly outcome: string | RegExp;
}

const ROWS: readonly Row[] = [
  { what: 'a token', outcome: /^default-[0-9a-f]{8}$/ },
  { what: 'a token with a wanted id', edge: 'fra1', outcome: 'fra1' },
  { what: 'a token for one id', order: { edge: 'fra1', group: 'eu' }, outcome: 'fra1' },
  { what: 'a token for one id, for another', order: { edge: 'fra1' }, edge: 'fra2', outcome: '400 edge' },
  { what: 'a token of this address', order: { addresses: ['127.0.0.0/8'] }, outcome: /^default-/ },
  { what: 'a token of another address', order: { addresses: ['192.0.2.0/24'] }, outcome: '403 token' },
  {
    what: 'a token that has expired',
    before: (fleet) => {
      fleet.now += 2 * HOUR_MS;
    },
    outcome: '403 token',
  },
  { what: 'a revoked token', before: (fleet) => revokeEdgeToken(fleet.db.query, 1, fleet.now), outcome: '403 token' },
  { what: 'a used token', before: (fleet, t, token) => enrolAt(fleet, t, token), outcome: '403 token' },
  {
    what: 'a token of two uses',
    order: { uses: 2 },
    before: (fleet, t, token) => enrolAt(fleet, t, token),
    outcome: /^default-/,
  },
  {
    what: 'a token of a group that was removed',
    order: { group: 'eu' },
    before: (fleet) => fleet.db.transaction((trx) => deleteGroup(trx, 'eu')),
    outcome: '403 group',
  },
  { what: 'an unknown token', alter: (token) => token.replace(/\.[\w-]{4}/, '.AAAA'), outcome: '403 token' },
  {
    what: 'an id that is taken',
    order: { edge: 'fra1' },
    before: (fleet) => fleet.enrol('fra1'),
    outcome: '409 edgeExists',
  },
  {
    what: 'an id that was revoked',
    order: { edge: 'fra1' },
    before: async (fleet) => {
      await fleet.enrol('fra1');
      await revokeEdge(fleet.db, { edge: 'fra1', reason: '', now: fleet.now, actor: 'token:0' });
    },
    outcome: 'fra1',
  },
  {
    what: 'an id that is replaced',
    order: { edge: 'fra1', replaces: true },
    before: (fleet) => fleet.enrol('fra1'),
    outcome: 'fra1',
  },
];

describeOnBothEngines('enrolment', (newDatabase, engine) => {
  test('a machine enrols with a token, and its requests name the edge of its certificate', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const { identity, dataDir } = await fleet.enrol('fra1');
    assert.deepEqual([identity.edge, identity.group, identity.controls], ['fra1', 'default', [fleet.control]]);
    assert.equal(readIdentity(dataDir)?.serial, identity.serial);
    const answer = await ask(fleet.control, identity);
    assert.equal(answer.status, 200);
    const { edge, serial, group, kind } = JSON.parse(answer.text);
    assert.deepEqual([edge, serial, group, kind], ['fra1', identity.serial, 'default', 'edge']);
  });

  for (const { what, order, before, edge, alter = (given: string) => given, outcome } of ROWS)
    test(`enrolment with ${what}`, async (t) => {
      const fleet = await createFleet(t, await newDatabase(t));
      const token = await fleet.createToken(order);
      await before?.(fleet, t, token);
      const enrolled = enrolAt(fleet, t, alter(token), edge).then(
        ({ identity }) => identity.edge,
        (error) => (error instanceof FleetRefusal ? `${error.status} ${error.word}` : String(error)),
      );
      if (typeof outcome === 'string') assert.equal(await enrolled, outcome);
      else assert.match(await enrolled, outcome);
    });

  test('an answer that was lost is given again to the same key, and to no other', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const token = await fleet.createToken();
    const dataDir = newMachine(t);
    const edges = fleet.db.query.selectFrom('edge').select('id').where('kind', '=', 'edge');
    const cutting = await startCuttingProxy(t, fleet.listener.port, async () => (await edges.execute()).length > 0);
    await assert.rejects(enrolMachine(enrolment(dataDir, [cutting], token)));
    assert.equal(readIdentity(dataDir), undefined);
    await assert.rejects(enrolAt(fleet, t, token), (error) => error instanceof FleetRefusal && error.word === 'token');
    const identity = await enrolMachine(enrolment(dataDir, [fleet.control], token));
    assert.equal((await ask(fleet.control, identity)).status, 200);
    assert.deepEqual(await edges.execute(), [{ id: identity.edge }]);
    const { key, machine } = readStored(identityFile(dataDir)) ?? { key: '', machine: '' };
    const csr = makeCsr('', createPrivateKey(key)).toString('base64');
    const body = JSON.stringify({ ...(await goodRequest(fleet)), token, csr, machine });
    const again = () => ask(fleet.control, undefined, { path: ENROL_PATH, method: 'POST', body });
    fleet.now += 599_000;
    assert.deepEqual(JSON.parse((await again()).text).chain, readStored(identityFile(dataDir))?.answer.chain);
    fleet.now += 1000;
    assert.equal(await outcomeOf(again()), '403 token');
  });

  if (engine === 'sqlite') testRefusals(newDatabase);
});

function testRefusals(newDatabase: Parameters<Parameters<typeof describeOnBothEngines>[1]>[0]): void {
  test('a control that cannot be reached is named with the reason, and so is each of several', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const token = await fleet.createToken();
    const [plain, closed] = [await freePort(), await freePort()];
    const server = createHttpServer().listen(plain, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const [one, two] = [`https://127.0.0.1:${closed}`, `https://localhost:${closed}`];
    const rows: readonly (readonly [controls: readonly string[], message: RegExp])[] = [
      [[one], /^https:\/\/127.0.0.1:\d+ cannot be reached: connect ECONNREFUSED/],
      [[two], /^https:\/\/localhost:\d+ cannot be reached: connect ECONNREFUSED/],
      [[`https://127.0.0.1:${plain}`], /cannot be reached: it does not speak TLS there; expected .* fleet-listen/],
      [
        [one, two],
        /127.0.0.1:\d+ cannot be reached: .*localhost:\d+ cannot|localhost:\d+ cannot .*127.0.0.1:\d+ cannot/,
      ],
    ];
    for (const [controls, message] of rows)
      await assert.rejects(enrolMachine(enrolment(newMachine(t), controls, token)), (error) => {
        assert.match(String(error instanceof Error && error.message), message);
        return true;
      });
  });

  test('a request that is not well formed is refused with the name of the member', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const good = await goodRequest(fleet);
    const p384 = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey;
    const rows: readonly (readonly [string, object | string, string])[] = [
      ['not JSON', '{', '400 not JSON'],
      ['a list', [], '400 body'],
      ['no token', { ...good, token: undefined }, '400 token'],
      ['a token that is a number', { ...good, token: 1 }, '400 token'],
      ['a text that is no token', { ...good, token: 'x' }, '403 token'],
      ['no csr', { ...good, csr: undefined }, '400 csr'],
      ['a csr that is not base64', { ...good, csr: '%' }, '400 csr'],
      ['a csr that is too long', { ...good, csr: 'A'.repeat(6000) }, '400 csr'],
      ['a csr of another curve', { ...good, csr: makeCsr('', p384).toString('base64') }, '400 csr'],
      ['a short seal', { ...good, seal: 'AAAA' }, '400 seal'],
      ['an id with a slash', { ...good, edge: 'a/b' }, '400 edge'],
      ['a machine of other characters', { ...good, machine: 'Z'.repeat(64) }, '400 machine'],
      ['a build that is too long', { ...good, build: 'b'.repeat(201) }, '400 build'],
      ['versions that are no range', { ...good, feed: 'two' }, '400 feed'],
      ['a later version of the feed only', { ...good, feed: '3' }, '426 feed'],
      ['an earlier version of the feed only', { ...good, feed: '1' }, '426 feed'],
      ['a NUL in the build', { ...good, build: 'a\0' }, '400 build'],
      ['a body that is too long', { ...good, more: 'x'.repeat(20_000) }, '413 body'],
    ];
    for (const [what, body, outcome] of rows) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      assert.equal(
        await outcomeOf(ask(fleet.control, undefined, { path: ENROL_PATH, method: 'POST', body: text })),
        outcome,
        what,
      );
    }
    assert.equal(await outcomeOf(ask(fleet.control, undefined, { path: ENROL_PATH })), '405 method');
    for (const field of ['forwarded', 'x-forwarded-for', 'via'])
      assert.equal(
        await outcomeOf(ask(fleet.control, undefined, { path: ENROL_PATH, headers: { [field]: 'x' } })),
        '400 proxy',
      );
  });

  test('an address that sends wrong tokens has to wait', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t), { steadyClock: () => 0 });
    const token = await fleet.createToken();
    const body = JSON.stringify({ ...(await goodRequest(fleet)), token: token.replace(/\.[\w-]{4}/, '.AAAA') });
    const outcomes: string[] = [];
    for (let n = 0; n < 11; n += 1)
      outcomes.push(await outcomeOf(ask(fleet.control, undefined, { path: ENROL_PATH, method: 'POST', body })));
    assert.deepEqual(outcomes, [...Array<string>(10).fill('403 token'), '429 tooManyTokens']);
    await assert.rejects(enrolAt(fleet, t, token), (error) => error instanceof FleetRefusal && error.status === 429);
  });
}

function enrolment(dataDir: string, controls: readonly string[], token: string) {
  return { dataDir, controls, token, build: 'test', now: Date.now() };
}

/** Enrols a new machine. */
async function enrolAt(fleet: TestFleet, t: Cleanup, token: string, edge?: string) {
  const dataDir = newMachine(t);
  return { dataDir, identity: await enrolMachine({ ...enrolment(dataDir, [fleet.control], token), edge }) };
}

async function goodRequest(fleet: TestFleet) {
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  return {
    token: await fleet.createToken(),
    csr: makeCsr('', key).toString('base64'),
    seal: Buffer.alloc(32, 1).toString('base64'),
    machine: 'a'.repeat(64),
    build: 'test',
    feed: '2-2',
  };
}

/** Returns status and word. */
async function outcomeOf(asking: ReturnType<typeof ask>): Promise<string> {
  const { status, text } = await asking;
  return `${status} ${text.split(':')[0]}`;
}

/** A proxy that passes bytes on, and cuts both sides when the server sends its answer: `hasAnswer` resolves with true. */
async function startCuttingProxy(t: Cleanup, port: number, hasAnswer: () => Promise<boolean>): Promise<string> {
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const one of [client, upstream]) one.on('error', cut).on('close', cut);
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', async (chunk) => {
      upstream.pause();
      if (await hasAnswer()) return cut();
      client.write(chunk);
      upstream.resume();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on a port');
  return `https://127.0.0.1:${address.port}`;
}

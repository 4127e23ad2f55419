/** The life of an edge's certificate: revocation, expiry, renewal, copies. Goals 3 to 5 of docs/fleet.md */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { findEdgeView } from '#db/tables/edges.ts';
import { readCertificateEnds } from '#db/tables/fleet/edge-certificates.ts';
import { drainEdge } from '#db/tables/fleet/edge-orders.ts';
import { findEnrolledEdge } from '#db/tables/fleet/enrolled-edges.ts';
import { listFleetEvents } from '#db/tables/fleet/events.ts';
import { allResources } from '#db/tables/resources.ts';
import { findViewKeyInUse, makeViewKey } from '#db/tables/view-keys.ts';
import { IdentityError, readIdentity, readStored, toIdentity } from '#fleet/identity.ts';
import { identityFile } from '#fleet/identity-file.ts';
import { identifyMachine } from '#fleet/machine.ts';
import { enrolMachine, renewIdentity } from '#fleet/obtain-identity.ts';
import { acceptEdge, revokeEdge } from '#fleet/operate.ts';
import { FleetRefusal } from '#fleet/refusal.ts';
import { beginRotation, finishRotation } from '#fleet/rotate-authority.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { ask } from '../support/fleet/ask.ts';
import { createFleet, newMachine } from '../support/fleet/fleet.ts';
import { temporaryFolder } from '../support/temporary.ts';

const DAY_MS = 86_400_000;

describeOnBothEngines('identities of edges', (newDatabase) => {
  test('a revoked edge is cut off every control, and no path answers it, nor a resumed session', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const other = await fleet.startAnother();
    const controls = [fleet.control, `https://127.0.0.1:${other.port}`];
    const { identity } = await fleet.enrol('fra1');
    const { identity: another } = await fleet.enrol('fra2');
    const open = await Promise.all(controls.map((control) => openConnection(t, control, identity)));
    const kept = await openConnection(t, fleet.control, another);
    const session = open[0]?.getSession();
    const closed = open.map((socket) => once(socket, 'close'));
    assert.equal(
      await revokeEdge(fleet.db, { edge: 'fra1', reason: 'stolen', now: fleet.now, actor: 'token:0' }),
      true,
    );
    await Promise.all(closed);
    for (const control of controls) {
      for (const path of ['/edge/v1/stream', '/fleet/v1/renew', '/edge/v1/status'])
        assert.deepEqual(await outcomeOf(ask(control, identity, { path, method: 'POST' })), [403, 'revoked'], path);
      const resumed = { fields: identity.fields, tls: () => ({ ...identity.tls(), ...(session && { session }) }) };
      assert.deepEqual(await outcomeOf(ask(control, resumed)), [403, 'revoked']);
    }
    assert.equal(kept.destroyed, false);
    assert.equal((await ask(fleet.control, another)).status, 200);
  });

  test('a revocation ends the drain of an edge, its certificates and the view key', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const { db, now } = fleet;
    const { identity } = await fleet.enrol('fra1');
    await fleet.enrol('fra2');
    const order = { at: now, detail: '', actor: 'token:0' };
    for (const edge of ['fra1', 'fra2']) await db.transaction((trx) => drainEdge(trx, { ...order, edge }));
    const drained = async () => {
      const orders: string[] = [];
      for await (const rows of allResources(db.query, 100))
        orders.push(...rows.filter(({ kind, isDeleted }) => kind === 'edge' && !isDeleted).map(({ key }) => key));
      return orders;
    };
    assert.deepEqual(await drained(), ['fra1', 'fra2']);
    await db.transaction((trx) => makeViewKey(trx, fleet.ring, { group: 'default', now }));
    const ends = await readCertificateEnds(db.query);
    assert.deepEqual([...ends.keys()].sort(), ['fra1', 'fra2']);
    assert.equal(ends.get('fra1'), new X509Certificate(String(identity.tls().cert)).validToDate.getTime());
    await revokeEdge(db, { edge: 'fra1', reason: '', now, actor: 'token:0' });
    assert.deepEqual(await drained(), ['fra2']);
    assert.equal(await findViewKeyInUse(db.query, 'default', now), undefined);
    assert.deepEqual([...(await readCertificateEnds(db.query)).keys()], ['fra2']);
    await fleet.enrol('fra1');
    assert.equal((await findEdgeView(db.query, 'fra1', now))?.drainAt, undefined);
  });

  test('no session is resumed', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const { identity } = await fleet.enrol('fra1');
    const first = await openConnection(t, fleet.control, identity);
    const session = first.getSession();
    const second = await openConnection(t, fleet.control, {
      tls: () => ({ ...identity.tls(), ...(session && { session }) }),
    });
    assert.equal(second.isSessionReused(), false);
  });

  test('an expired certificate may be renewed within the grace, and do nothing else; later nothing', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const real = fleet.now;
    const enrolledBefore = async (days: number, edge: string) => {
      fleet.now = real - days * DAY_MS;
      const enrolled = await fleet.enrol(edge);
      fleet.now = real;
      return enrolled;
    };
    // These have ended by the clock of TLS, too.
    const { identity, dataDir } = await enrolledBefore(8, 'fra1');
    const { identity: old, dataDir: oldDir } = await enrolledBefore(40, 'fra2');
    for (const path of ['/edge/v1/stream', '/edge/v1/status', '/fleet/v1/viewkeys', '/fleet/v1/announce'])
      for (const who of [identity, old])
        assert.deepEqual(await outcomeOf(ask(fleet.control, who, { path, method: 'POST' })), [403, 'expired'], path);
    await assert.rejects(renewIdentity(oldDir, Date.now()), (error) => isRefusal(error, 403, 'expired'));
    const renewed = await renewIdentity(dataDir, Date.now());
    assert.notEqual(renewed.serial, identity.serial);
    assert.equal((await ask(fleet.control, renewed)).status, 200);
  });

  test('a connection ends with its certificate', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const { identity } = await fleet.enrol('fra1');
    const { port } = new URL(fleet.control);
    const open = () => {
      const socket = connect({ ...identity.tls(), port: Number(port) });
      t.after(() => socket.destroy());
      return socket.on('error', () => {}).resume(); // shows as closed
    };
    const earlier = open();
    await once(earlier, 'secureConnect');
    await eventually('it is admitted', () => fleet.listener.connections === 1);
    fleet.now = identity.notAfter - 100;
    await once(open(), 'close');
    assert.equal(earlier.destroyed, false, 'it was opened for longer');
    fleet.now = identity.notAfter;
    assert.deepEqual(await outcomeOf(ask(fleet.control, identity)), [403, 'expired']);
  });

  test('the former certificate counts until the new one is seen, and is then that of a copy', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const { identity, dataDir } = await fleet.enrol('fra1');
    const renewed = await renewIdentity(dataDir, Date.now());
    assert.equal(readIdentity(dataDir)?.serial, renewed.serial);
    assert.equal((await ask(fleet.control, identity)).status, 200);
    assert.equal((await ask(fleet.control, renewed)).status, 200);
    assert.equal((await ask(fleet.control, identity)).status, 200, 'a connection that was begun a moment before');
    fleet.now += 61_000;
    assert.deepEqual(await outcomeOf(ask(fleet.control, identity)), [409, 'clone']);
    assert.equal(fleet.listener.counts.clones, 1);
    assert.equal((await ask(fleet.control, renewed)).status, 200, 'both serve on');
    await assert.rejects(renewIdentity(dataDir, Date.now()), (error) => isRefusal(error, 409, 'clone'));
    assert.equal(
      await acceptEdge(fleet.db, { edge: 'fra1', serial: renewed.serial, now: fleet.now, actor: 'token:0' }),
      'accepted',
    );
    const accepted = await renewIdentity(dataDir, Date.now());
    assert.equal((await ask(fleet.control, accepted)).status, 200);
  });

  test('a copied data directory is refused by itself, and by control if it asks all the same', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const { identity, dataDir } = await fleet.enrol('fra1');
    const copy = join(temporaryFolder(t), 'copy');
    cpSync(dataDir, copy, { recursive: true, preserveTimestamps: true });
    assert.throws(
      () => readIdentity(copy),
      (error) => error instanceof IdentityError && /is a copy of that of the edge fra1/.test(error.message),
    );
    const stored = readStored(identityFile(copy));
    assert.ok(stored !== undefined);
    const unchecked = toIdentity({ ...stored, machine: identifyMachine(copy) });
    await fleet.db.transaction((trx) => makeViewKey(trx, fleet.ring, { group: 'default', now: fleet.now }));
    assert.deepEqual(await outcomeOf(ask(fleet.control, unchecked)), [409, 'clone']);
    assert.equal(await findViewKeyInUse(fleet.db.query, 'default', fleet.now), undefined, 'both copies have that key');
    assert.equal((await ask(fleet.control, identity)).status, 200);
    assert.notEqual((await findEnrolledEdge(fleet.db.query, 'fra1'))?.suspectAt, undefined);
    await assert.rejects(renewIdentity(dataDir, Date.now()), (error) => isRefusal(error, 409, 'clone'));
    const { events } = await listFleetEvents(fleet.db.query, { edge: 'fra1', limit: 1, offset: 0 });
    const [event] = events;
    assert.deepEqual([event?.event, event?.detail], ['clone', 'from 127.0.0.1']);
    const accept = { edge: 'fra1', serial: identity.serial, now: fleet.now, actor: 'token:0' };
    assert.equal(await acceptEdge(fleet.db, accept), 'accepted');
    assert.equal((await ask(fleet.control, identity)).status, 200);
    assert.deepEqual(await outcomeOf(ask(fleet.control, unchecked)), [409, 'clone'], 'it has the same certificate');
  });

  test('the authority is changed in two steps, and no edge loses its connection', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const { db, ring } = fleet;
    const rest = { now: fleet.now, graceMs: 30 * DAY_MS };
    const { identity, dataDir } = await fleet.enrol('fra1');
    const token = await fleet.createToken({ edge: 'fra2' });
    assert.deepEqual(await finishRotation(db, rest), { kind: 'notBegun' });
    assert.equal((await beginRotation(db, ring, fleet.now)).kind, 'begun');
    assert.deepEqual(await beginRotation(db, ring, fleet.now), { kind: 'underWay' });
    assert.deepEqual(await finishRotation(db, rest), { kind: 'inUse', edges: ['fra1'], tokens: [2] });
    assert.equal((await ask(fleet.control, identity)).status, 200);
    const machine = { dataDir: newMachine(t), controls: [fleet.control], token, build: 'test', now: Date.now() };
    const enrolled = await enrolMachine(machine);
    const renewed = await renewIdentity(dataDir, Date.now());
    await eventually('the new authority is trusted', async () => (await ask(fleet.control, renewed)).status === 200);
    assert.equal((await finishRotation(db, rest)).kind, 'finished');
    for (const one of [renewed, enrolled]) assert.equal((await ask(fleet.control, one)).status, 200);
    // Its only authority is the old one, and control presents a certificate of the new one.
    await eventually('the old authority is gone', () =>
      ask(fleet.control, identity).then(
        () => false,
        () => true,
      ),
    );
  });

  test('certificates that control does not know, and those of another fleet, are refused', async (t) => {
    const [fleet, foreign] = [await createFleet(t, await newDatabase(t)), await createFleet(t, await newDatabase(t))];
    const { identity } = await fleet.enrol('fra1');
    const { identity: stranger } = await foreign.enrol('fra1');
    const unknown = { tls: () => ({ ...stranger.tls(), rejectUnauthorized: false }) };
    assert.deepEqual(await outcomeOf(ask(fleet.control, unknown)), [403, 'certificate']);
    await fleet.db.query.deleteFrom('edge_certificate').execute();
    assert.deepEqual(await outcomeOf(ask(fleet.control, identity)), [403, 'unknown']);
    assert.deepEqual(await outcomeOf(ask(fleet.control, undefined)), [403, 'certificate']);
  });
});

async function openConnection(
  t: { after(work: () => void): void },
  control: string,
  identity: { tls(): object },
): Promise<TLSSocket> {
  const { hostname: host, port } = new URL(control);
  const socket = connect({ ...identity.tls(), host, port: Number(port) });
  t.after(() => socket.destroy());
  socket.on('error', () => {}); // shows as closed
  await once(socket, 'secureConnect');
  socket.write('GET /edge/v1/test HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data'); // also the session has arrived, if there is one
  return socket;
}

/** Returns the status and the word of a refusal. */
async function outcomeOf(asking: ReturnType<typeof ask>): Promise<readonly [number, string | undefined]> {
  const { status, text } = await asking;
  return [status, text.split(':')[0]];
}

function isRefusal(error: unknown, status: number, word: string): boolean {
  return error instanceof FleetRefusal && error.status === status && error.word === word;
}

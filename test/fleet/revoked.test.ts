/** A revoked edge tries everything with what it has kept: keys, certificate, session, files. Goal 3 of docs/fleet.md */
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { zstdDecompressSync } from 'node:zlib';
import { addDomain } from '#api/settings/change.ts';
import { openDatabase } from '#db/open.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { saveLiveKeys } from '#db/tables/live/keys.ts';
import { publish, readConfigHead } from '#db/tables/resources.ts';
import { openFleetLink } from '#feed/client/control-link.ts';
import { requestFeed } from '#feed/client/feed-request.ts';
import { downloadSnapshot } from '#feed/client/snapshot-download.ts';
import { startFeedServer } from '#feed/server/server.ts';
import { parseDelta } from '#feed/wire/messages.ts';
import { formatPositionQuery } from '#feed/wire/position-query.ts';
import {
  LIVE_PATH,
  LOGS_PATH,
  PREFETCH_PATH,
  RECORDINGS_PATH,
  type ResourceChange,
  SEAL_HEADER,
  SNAPSHOT_PATH,
  STATISTICS_PATH,
  STATUS_PATH,
  STREAM_PATH,
  VIEW_KEYS_PATH,
} from '#feed/wire/protocol.ts';
import { readEvents, type SseItem } from '#feed/wire/sse.ts';
import { FEED_HEADER } from '#feed/wire/versions.ts';
import { formatSealKey, openUnder, openViewKey, type SealedViewKey } from '#feed/wire/view-key-box.ts';
import { readSealedBody } from '#feed/wire/view-key-messages.ts';
import { type Identity, readStored } from '#fleet/identity.ts';
import { identityFile } from '#fleet/identity-file.ts';
import { createIdentityReader } from '#fleet/identity-reader.ts';
import { ANNOUNCE_PATH, ENROL_PATH, RENEW_PATH } from '#fleet/messages.ts';
import { enrolMachine } from '#fleet/obtain-identity.ts';
import { revokeEdge } from '#fleet/operate.ts';
import { makeCsr } from '#model/csr.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { type DatabaseTarget, describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { silentLog, startTestEdge } from '../support/feed/feed.ts';
import { secureDomain } from '../support/feed/secure-domain.ts';
import { ask } from '../support/fleet/ask.ts';
import { createFleet, newMachine } from '../support/fleet/fleet.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const GETS = [STREAM_PATH, SNAPSHOT_PATH];
const POSTS = [
  ...[STATUS_PATH, PREFETCH_PATH, VIEW_KEYS_PATH, LIVE_PATH, LOGS_PATH, STATISTICS_PATH, RECORDINGS_PATH],
  ...[RENEW_PATH, ANNOUNCE_PATH, '/edge/v1/none'],
];

describeOnBothEngines('a revoked edge', (newDatabase) => {
  test(
    'a revoked edge is cut off two controls, no path answers it, and no later secret opens',
    needs('openssl'),
    async (t) => {
      const w = await startWorld(t, await newDatabase(t));
      const { fleet, controls } = w;
      const token = await fleet.createToken({ edge: 'fra1' });
      const dataDir = newMachine(t);
      const identity = await enrolMachine({
        dataDir,
        controls: [fleet.control],
        token,
        build: 'test',
        now: Date.now(),
      });
      const { identity: other } = await fleet.enrol('fra2');
      // Its process, with files of its own, and what it keeps of the decrypted streams.
      const credentials = createIdentityReader({ dataDir, own: undefined, controls: [] });
      using link = openFleetLink({ controls, credentials, random: Math.random });
      await using edge = startTestEdge(dataDir, link, { edgeId: 'fra1' });
      const streams = await Promise.all(controls.map((control) => followStream(t, w, control, identity)));
      const open = await Promise.all(controls.map((control) => openConnection(t, control, identity)));
      const session = open[0]?.socket.getSession();
      const first = await secureDomain(w, w.domainId, 'www.example.com');
      await w.setLiveKeys('first-live-key');
      await eventually('it has the certificate', () => edge.store.getCertificate(first) !== undefined);
      await eventually('its streams have the secrets', () => streams.every((each) => kindsIn(each) === 2));
      const kept = streams.flatMap((stream) => stream.keys(identity));
      const before = streams.flatMap(secretsIn);
      assert.equal(opened(before, kept).length, before.length);

      const stored = readStored(identityFile(dataDir));
      assert.ok(stored !== undefined);
      const csr = makeCsr('', createPrivateKey(stored.key)).toString('base64');
      const seal = formatSealKey(identity.sealKey);
      const enrolment = JSON.stringify({ token, csr, seal, machine: identity.machine, build: 'test' });

      const cut = [...open, ...streams].map(({ closed }) => closed);
      const revokedAt = performance.now();
      await revokeEdge(fleet.db, { edge: 'fra1', reason: 'stolen', now: fleet.now, actor: 'token:0' });
      await Promise.all(cut);
      t.diagnostic(`all connections were cut ${Math.round(performance.now() - revokedAt)} ms after the revocation`);

      const fields = { ...identity.fields, [FEED_HEADER]: '2', [SEAL_HEADER]: formatSealKey(identity.sealKey) };
      for (const control of controls) {
        const outcomes = [
          ...GETS.map((path) => ask(control, identity, { path: `${path}?${w.position}`, headers: fields })),
          ...POSTS.map((path) => ask(control, identity, { path, method: 'POST', body: '{}', headers: fields })),
        ];
        for (const { status, text } of await Promise.all(outcomes))
          assert.deepEqual([status, text.split(':')[0]], [403, 'revoked']);
        const resumed = { tls: () => ({ ...identity.tls(), ...(session && { session }) }) };
        const again = await openConnection(t, control, resumed);
        assert.equal(again.socket.isSessionReused(), false);
        assert.match(again.answer, /^HTTP\/1\.1 403 /);
        // The same token and key: what is answered again for ten minutes, in case that the answer was lost.
        for (const who of [identity, undefined]) {
          const answer = await ask(control, who, { path: ENROL_PATH, method: 'POST', body: enrolment });
          assert.deepEqual([answer.status, answer.text.split(':')[0]], [403, 'token']);
        }
      }

      // Another edge gets new secrets: what is on its way to it is all that the revoked one can get at.
      const capture = await followStream(t, w, controls[1] ?? '', other);
      const second = await secureDomain(w, w.domainId, 'www.example.com');
      await w.setLiveKeys('second-live-key');
      await eventually('the other edge has the secrets', () => {
        return secretsIn(capture).some(({ key }) => key === second) && kindsIn(capture) === 2;
      });
      const later = [...secretsIn(capture), ...(await w.snapshotSecrets(controls[0] ?? '', other))];
      assert.ok(later.length >= 4, String(later.length));
      assert.equal(opened(later, capture.keys(other)).length, later.length, 'the other edge opens all of them');
      assert.deepEqual(opened(later, kept), []);
      for (const sealed of capture.sealedKeys)
        for (const recipient of [identity, { edge: other.edge, serial: other.serial }])
          assert.throws(() => openViewKey(sealed, identity.sealKey, recipient));
      assert.deepEqual([edge.store.getCertificate(second), edge.client.isConnected], [undefined, false]);
      assert.match(edge.store.getCertificate(first)?.key ?? '', /PRIVATE KEY/, 'what it had, it has');
    },
  );
});

async function startWorld(t: TestContext, target: DatabaseTarget) {
  const folder = temporaryFolder(t);
  const handles: Awaited<ReturnType<typeof startFeedServer>>['handle'][] = [];
  const fleet = await createFleet(t, target, { onRequest: (...call) => handles[0]?.(...call) });
  const { db, ring } = fleet;
  const db2 = await openDatabase({ ...target, log: silentLog });
  t.after(() => db2[Symbol.asyncDispose]());
  for (const [n, own] of [db, db2].entries()) {
    const snapshots = { directory: join(folder, `snapshots-${n}`), bytesPerSecond: 1e9 };
    const socketPath = join(folder, `${n}.sock`);
    const server = await startFeedServer({ db: own, ring, socketPath, snapshots, clock: own.clock, log: silentLog });
    t.after(() => server[Symbol.asyncDispose]());
    handles.push(server.handle);
  }
  const second = await fleet.startAnother({ db: db2, onRequest: (...call) => handles[1]?.(...call) });
  const { id: accountId } = await createAccount(db.query, { name: 'test', kind: 'customer', now: 1 });
  const settings = { ...DEFAULT_SETTINGS, origins: ['origin.example.net'] };
  const named = { accountId, name: 'www.example.com', type: 'static', state: 'open', icpNumber: '' } as const;
  const domain = await addDomain(db, { ...named, remark: '', createdAt: 1, settings }, 100, db.clock());
  const { epoch, revision, tag } = await readConfigHead(db.query);
  const world = {
    ...{ fleet, db, ring, accountId, domainId: domain.id, authority: createAuthority(t) },
    controls: [fleet.control, `https://127.0.0.1:${second.port}`],
    position: formatPositionQuery({ epoch, revision, tag }, 'default.1'),
    setLiveKeys: (key: string) =>
      db.transaction(async (trx) => {
        const keys = { publish: [key], play: [] };
        await publish(trx, [await saveLiveKeys(trx, ring, { domainId: domain.id, keys, now: 1 })], db.clock());
      }),
    /** Sealed secrets in a snapshot that an edge gets. */
    async snapshotSecrets(control: string, identity: Identity) {
      using link = openFleetLink({ controls: [control], credentials: () => identity, random: Math.random });
      const file = join(temporaryFolder(t), 'snapshot');
      await downloadSnapshot({ link, path: SNAPSHOT_PATH, file, signal: new AbortController().signal });
      const lines = zstdDecompressSync(readFileSync(file)).toString('utf8').split('\n').slice(1, -1);
      return lines.flatMap((line) => sealedOf(JSON.parse(line)));
    },
  };
  return world;
}

type World = Pick<Awaited<ReturnType<typeof startWorld>>, 'position'>;

/** A secret on its way, and the place that it is bound to. */
interface Secret {
  readonly kind: string;
  readonly key: string;
  readonly revision: number;
  readonly vk: string;
  readonly sealed: string;
}

function sealedOf(change: ResourceChange): readonly Secret[] {
  const sealed = change.op === 'put' ? readSealedBody(change.body) : undefined;
  return sealed === undefined ? [] : [{ ...change, vk: sealed.vk, sealed: sealed.sealed }];
}

function secretsIn({ events }: { readonly events: readonly SseItem[] }): readonly Secret[] {
  return events.flatMap((event) =>
    event.kind === 'event' && event.name === 'delta' ? parseDelta(event.data).changes.flatMap(sealedOf) : [],
  );
}

/** Counts the kinds of secrets. */
function kindsIn(stream: { readonly events: readonly SseItem[] }): number {
  return new Set(secretsIn(stream).map(({ kind }) => kind)).size;
}

/** Returns the secrets that any of the keys opens. */
function opened(secrets: readonly Secret[], keys: readonly Buffer[]): readonly Secret[] {
  const opens = (secret: Secret, key: Buffer) => {
    try {
      return openUnder(key, secret, secret.sealed) !== '';
    } catch {
      return false;
    }
  };
  return secrets.filter((secret) => keys.some((key) => opens(secret, key)));
}

/** Follows the stream of a control as an edge would, and keeps everything that it gets. */
async function followStream(t: TestContext, { position }: World, control: string, identity: Identity) {
  const link = openFleetLink({ controls: [control], credentials: () => identity, random: Math.random });
  t.after(() => link[Symbol.dispose]());
  const path = `${STREAM_PATH}?${position}`;
  const { signal } = new AbortController();
  const response = await requestFeed({ link, path, signal, silenceMs: 60_000, isStream: true });
  const events: SseItem[] = [];
  const reading = async () => {
    try {
      for await (const event of readEvents(response, 1_000_000)) events.push(event);
    } catch {
      // cut
    }
  };
  const sealedKeys = (): readonly SealedViewKey[] =>
    events.flatMap((event) => (event.kind === 'event' && event.name === 'viewkey' ? JSON.parse(event.data) : []));
  const closed = reading();
  return {
    events,
    closed,
    get sealedKeys() {
      return sealedKeys();
    },
    /** The view keys that the edge opens. */
    keys: (own: Identity) => sealedKeys().map((sealed) => openViewKey(sealed, own.sealKey, own)),
  };
}

/** Opens a connection with a request on it. `answer`: the first bytes of the answer. */
async function openConnection(t: TestContext, control: string, identity: { tls(): ConnectionOptions }) {
  const { hostname: host, port } = new URL(control);
  const socket: TLSSocket = connect({ ...identity.tls(), host, port: Number(port) });
  t.after(() => socket.destroy());
  socket.on('error', () => {}); // shows as closed
  await once(socket, 'secureConnect');
  const closed = once(socket, 'close');
  socket.write(`GET /edge/v1/none HTTP/1.1\r\nHost: x\r\n${FEED_HEADER}: 2\r\n\r\n`);
  const [answer] = await once(socket, 'data'); // also the session has arrived, if there is one
  return { socket, closed, answer: String(answer) };
}

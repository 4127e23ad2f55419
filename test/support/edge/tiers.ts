/** Edges in one process that fetch through each other, with certificates of one fleet and a feed that tests write. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import type { TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import type { TierIdentity } from '../../../src/edge/origin/parents/tiers.ts';
import { issueEdgeLeaf, makeAuthority, readEdgeLeaf } from '../../../src/fleet/authority.ts';
import type { EdgeTier } from '../../../src/model/edge-tier.ts';
import type { SiteSpec } from '../../../src/sites/spec.ts';
import { startTestEdge, type TestEdge, type TestEdgeOptions } from './edge.ts';

const FLEET = '1f2e3d4c';
export const CDN_ID = `causeway-${FLEET}`;

export interface TierKeys {
  readonly cert: string;
  readonly key: string;
  readonly ca: readonly string[];
  readonly serial: string;
}

export interface TierEdge extends TestEdge {
  readonly edgeId: string;
}

export interface TestFleet {
  /** What the feed says of each edge. */
  readonly tiers: Map<string, EdgeTier>;
  readonly edges: readonly TierEdge[];
  /** What each edge presents; `undefined`: its identity cannot be read. */
  readonly keys: Map<string, TierKeys | undefined>;
  /** Whether the feed's file is locked: then it cannot be read. */
  isLocked: boolean;
  /** Certificates that edges have looked at. */
  leavesRead: number;
  /** Starts an edge of a group; with `listens` others reach it. */
  start(
    edgeId: string,
    group: string,
    options?: TestEdgeOptions & { readonly parent?: string; readonly listens?: boolean },
  ): Promise<TierEdge>;
  /** Has all edges look at the feed again. */
  recheck(): void;
  issue(edgeId: string): TierKeys;
  /** Connects to a parent as the edge with these keys, or as nobody; resolves to the connection, or rejects. */
  connect(port: number, keys?: Pick<TierKeys, 'cert' | 'key'>): Promise<TLSSocket>;
}

export function createTestFleet(
  t: Pick<TestContext, 'after'>,
  origins: readonly number[] | Partial<SiteSpec['origins']>,
): TestFleet {
  const authority = makeAuthority(FLEET, Date.now(), randomBytes(16));
  const tiers = new Map<string, EdgeTier>();
  const edges: TierEdge[] = [];
  const issue = (edge: string): TierKeys => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const draft = { fleet: FLEET, edge, publicKey, now: Date.now(), serial: randomBytes(16) };
    const { certificate: cert, serial } = issueEdgeLeaf(authority, draft);
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    return { cert, key, ca: [authority.certificate], serial };
  };
  const keys = new Map<string, TierKeys | undefined>();
  const identityOf = (edgeId: string): TierIdentity => ({
    tls: () => keys.get(edgeId) ?? assert.fail('it has no identity'),
    readLeaf: (certificate) => {
      fleet.leavesRead++;
      return readEdgeLeaf(FLEET, certificate);
    },
  });
  const read = () => {
    if (fleet.isLocked) throw new Error('database is locked');
    return tiers;
  };
  const fleet: TestFleet = {
    tiers,
    edges,
    keys,
    isLocked: false,
    leavesRead: 0,
    issue,
    async start(edgeId, group, { parent, listens = false, ...options } = {}) {
      if (!keys.has(edgeId)) keys.set(edgeId, issue(edgeId));
      const started = await startTestEdge(t, origins, {
        cdn: { id: CDN_ID },
        ...options,
        limits: { parentConnectMs: 30_000, ...options.limits }, // a busy machine is no failure
        tier: {
          edgeId,
          identity: identityOf(edgeId),
          source: {
            getTier: (edge) => read().get(edge),
            listTiers: () => [...read()].map(([edge, tier]) => ({ ...tier, edge })),
          },
          ...(listens && { listen: { listen: { host: '127.0.0.1', port: 0 } } }),
        },
      });
      tiers.set(edgeId, {
        group,
        ...(parent !== undefined && { parent }),
        ...(listens && { address: `127.0.0.1:${started.edge.tierPort}` }),
        serials: [keys.get(edgeId)?.serial ?? ''],
      });
      const edge: TierEdge = { ...started, edgeId };
      edges.push(edge);
      for (const one of edges) one.edge.recheck();
      return edge;
    },
    recheck: () => {
      for (const { edge } of edges) edge.recheck();
    },
    connect: (port, own) => {
      const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
      const checkServerIdentity = (_: string, { raw }: { raw: Buffer }) =>
        readEdgeLeaf(FLEET, new X509Certificate(raw)) === undefined ? new Error('not an edge') : undefined;
      const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate, checkServerIdentity, ...own });
      socket.on('error', reject).on('close', () => reject(new Error('closed')));
      socket.once('secureConnect', () => resolve(socket));
      t.after(() => socket.destroy());
      return promise;
    },
  };
  return fleet;
}

/** Sends a request over a connection, and resolves to the text that it carried until its end. */
export function askOver(socket: TLSSocket, lines: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = '';
  const done = () => resolve(text);
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('end', done).on('close', done);
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  return promise;
}

/** The controls that share the database with this one, as control joins them. docs/decisions/0577 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { Config } from '#config';
import type { Db } from '#db/open.ts';
import { joinControls, type OpenControls } from '#db/peers/join.ts';
import { ALONE, type Controls, HOUSEKEEPING, SMS_SWEEP } from '#db/peers/peers.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import type { Logger } from '#lib/logger.ts';
import { metricsOf } from '#lib/metrics.ts';
import { readControlFacts } from './control-facts.ts';

interface ControlPeersOptions {
  readonly config: Config;
  readonly db: Db;
  readonly build: string;
  /** Secret of this service, the same for every process that it starts. */
  readonly localSecret: string;
  readonly ring: Keyring;
  readonly log: Logger;
  readonly registry: Registry;
}

export interface ControlPeers extends AsyncDisposable {
  readonly peers: Controls;
  /** Refuses `/readyz`, and resolves when load balancers have had time to notice; at once if this control is alone. */
  leave(): Promise<void>;
}

const WORK = [HOUSEKEEPING, SMS_SWEEP].map((name) => ({ name, holders: 1 }));

/** Joins the other controls. On SQLite control is alone, and nothing is read or written. */
export async function joinControlPeers(options: ControlPeersOptions): Promise<ControlPeers> {
  const { config, db, build, localSecret, ring, log, registry } = options;
  if (db.engine === 'sqlite')
    return { peers: ALONE, leave: async () => undefined, [Symbol.asyncDispose]: async () => undefined };
  let last = readControlFacts(config, build, ring);
  const facts = () => {
    try {
      last = readControlFacts(config, build, ring);
    } catch {
      // The key ring is being replaced or is damaged. Code that needs a key reports it; leases are renewed regardless.
    }
    return last;
  };
  const peers = await joinControls({ db, id: idOf(localSecret), facts, log });
  peers.want('work', WORK);
  addMetrics(registry, peers);
  return {
    peers,
    async leave() {
      peers.announceStop();
      if (peers.seen > 1) await delay(config.stopDelaySeconds * 1000);
    },
    [Symbol.asyncDispose]: () => peers[Symbol.asyncDispose](),
  };
}

/** A process that is restarted after a crash continues the leases of its predecessor. */
function idOf(localSecret: string): string {
  return createHash('sha256').update(`control ${localSecret}`).digest('hex').slice(0, 32);
}

function addMetrics(registry: Registry, peers: OpenControls): void {
  const { gauge, gauges } = metricsOf(registry);
  gauge(
    'causeway_controls',
    'Controls that use the database, seen within the last 15 s, this one included',
    () => peers.seen,
  );
  gauge(
    'causeway_database_clock_ahead_seconds',
    'How far the clock of this machine is ahead of the clock of the database; negative if it is behind',
    () => peers.clockAheadMs / 1000,
  );
  gauges('causeway_lease_held', '1 for each lease that this control holds', ['name'], () =>
    peers.held.map((name) => [{ name }, 1]),
  );
}

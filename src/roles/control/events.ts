/** Events in control: what is looked for, and what is posted to webhooks. docs/decisions/0619 to 0621 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import type { Config } from '#config';
import { describeEvent } from '#contract/operators/event-texts.ts';
import type { Db } from '#db/open.ts';
import type { Controls } from '#db/peers/peers.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { readEventBacklog } from '#db/tables/events/webhooks.ts';
import type { GuardOptions } from '#edge/origin/guard.ts';
import { observeCertificates } from '#events/certificates.ts';
import { type ConnectorSources, observeConnectors } from '#events/connectors.ts';
import { startEventDeliveries } from '#events/deliveries.ts';
import { observeEdges } from '#events/edges.ts';
import type { Observer } from '#events/observer.ts';
import { observeOrigins } from '#events/origins.ts';
import { observeQuotas } from '#events/quotas.ts';
import { watchConditions } from '#events/watch.ts';
import { HOUR_MS } from '#lib/durations.ts';
import type { Logger } from '#lib/logger.ts';
import { metricsOf } from '#lib/metrics.ts';
import { startRounds } from '#lib/rounds.ts';
import { systemTimers } from '#lib/timers.ts';
import { createDays } from '#logs/day.ts';
import { NEARLY_FULL_SHARE } from '#model/edge-health.ts';
import { listBackups, OLD_BACKUP_MS } from '../database/backup.ts';
import { readDiskSpaces } from '../process/disk-space.ts';
import { ANYWHERE, createWebhookSender } from '../process/webhook-sender.ts';

export interface EventsOptions {
  readonly config: Config;
  readonly db: Db;
  readonly peers: Controls;
  readonly ring: Keyring;
  /** Guard for addresses of customers. */
  readonly guard: GuardOptions;
  readonly connectors: ConnectorSources;
  readonly log: Logger;
  readonly registry: Registry;
}

/** Interval of what changes at any time. */
const SOON_MS = 5_000;
/** Interval of what changes slowly, or costs more to read. */
const LATER_MS = 30_000;

export function startEvents(options: EventsOptions): AsyncDisposable {
  const { db, peers, log } = options;
  const stack = new AsyncDisposableStack();
  stack.use(watchConditions({ db, peers, clock: db.clock, log }, observersOf(options)));
  stack.use(postEvents(options));
  return stack;
}

function observersOf({ config, db, connectors }: EventsOptions): readonly Observer[] {
  const { purgeUrlsPerDay, purgeDirectoriesPerDay, prefetchUrlsPerDay, smsBalanceNear, timeZone } = config;
  const limits = {
    purgeUrls: purgeUrlsPerDay,
    purgeDirectories: purgeDirectoriesPerDay,
    prefetchUrls: prefetchUrlsPerDay,
  };
  const { dayOf } = createDays(timeZone);
  return [
    observeOrigins(db, SOON_MS),
    observeEdges(db, SOON_MS),
    observeConnectors(db, connectors, SOON_MS),
    observeQuotas({ db, limits, lowBalance: smsBalanceNear, dayOf, everyMs: SOON_MS }),
    observeCertificates(db, LATER_MS),
    observeMachine(config, db.clock()),
  ];
}

/** The disks of this machine, and its backups. The cache's disk is that of an edge, which reports it. */
function observeMachine(config: Config, startedAt: number): Observer {
  const machine = hostname();
  const target = { kind: 'machine', id: machine, name: machine } as const;
  return {
    kinds: ['disk', 'backup'],
    owner: `${machine} ${config.dataDir}`,
    everyMs: SOON_MS,
    async observe(now) {
      const spaces = (await readDiskSpaces(config)).filter(({ disk }) => disk !== 'cache');
      const full = spaces.filter(
        ({ device, sizeBytes, freeBytes }, n) =>
          1 - freeBytes / sizeBytes >= NEARLY_FULL_SHARE && spaces.findIndex((its) => its.device === device) === n,
      );
      const disks = full.map(({ disk, sizeBytes, freeBytes }) => {
        const data = { disk, percent: Math.floor((1 - freeBytes / sizeBytes) * 100) };
        return { kind: 'disk', key: disk, target, level: 0, data } as const;
      });
      const ageMs = now - (newestBackupAt(config) ?? startedAt);
      if (config.backupDirectory === undefined || ageMs < OLD_BACKUP_MS) return disks;
      const data = { hours: Math.floor(ageMs / HOUR_MS) };
      return [...disks, { kind: 'backup', key: '', target, level: 0, data } as const];
    },
  };
}

/** `undefined` if there is none. */
function newestBackupAt({ backupDirectory: directory }: Pick<Config, 'backupDirectory'>): number | undefined {
  if (directory === undefined || !existsSync(directory)) return undefined;
  const [newest] = listBackups(readdirSync(directory));
  return newest === undefined ? undefined : statSync(join(directory, newest)).mtimeMs;
}

function postEvents({ config, db, peers, ring, guard, log, registry }: EventsOptions): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  // The operator's own receivers are mostly in the private network.
  const anywhere = stack.use(createWebhookSender({ ...guard, allow: ANYWHERE }));
  const guarded = stack.use(createWebhookSender(guard));
  let backlog = { deliveries: 0, oldestMs: 0 };
  const { counter, gauge } = metricsOf(registry);
  const posts = counter(
    'causeway_event_webhooks_total',
    'Attempts to post events to webhooks: delivered, retry or dropped',
    ['outcome'],
  );
  gauge('causeway_event_deliveries', 'Events that wait to be posted to webhooks', () => backlog.deliveries);
  gauge(
    'causeway_event_deliveries_oldest_seconds',
    'Age of the oldest event that waits to be posted; 0: none waits',
    () => backlog.oldestMs / 1000,
  );
  stack.use(
    startRounds({
      everyMs: LATER_MS,
      isDelayed: true,
      work: async () => {
        backlog = await readEventBacklog(db.query, db.clock());
      },
      onFailure: () => undefined, // the deliveries say so
    }),
  );
  stack.use(
    startEventDeliveries({
      ...{ db, peers, ring, log },
      clock: db.clock,
      timers: systemTimers,
      random: Math.random,
      postToOperator: anywhere.post,
      postToCustomers: guarded.post,
      describe: (event) => describeEvent(event, config.locale),
      count: (outcome) => posts.inc({ outcome }),
    }),
  );
  return stack;
}

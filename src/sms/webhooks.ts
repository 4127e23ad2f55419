/**
 * Posts events to customers' webhooks and retries until they are delivered or given up; one that fails delays no other.
 */
import type { Keyring } from '#db/secrets/keyring.ts';
import { claimDeliveries, type DueDelivery, deleteDelivery, postponeDelivery } from '#db/tables/sms/deliveries.ts';
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';
import { startRounds } from '#lib/rounds.ts';
import type { Timers } from '#lib/timers.ts';
import type { SmsTools } from './tools.ts';
import type { PostWebhook, WebhookAnswer } from './webhook-post.ts';
import { deliveryFateOf, UNWANTED, webhookPostOf } from './webhook-request.ts';

export interface WebhooksOptions extends Omit<SmsTools, 'owner' | 'chargeAt'> {
  readonly ring: Keyring;
  /** Timers, whose monotonic clock measures pauses. */
  readonly timers: Timers;
  readonly post: PostWebhook;
}

const POLL_MS = 500;
/** Limit of deliveries in flight, of all apps together. */
const MAX_UNDER_WAY = 64;
/** Limit of deliveries in flight of one app. */
const MAX_PER_APP = 8;
/** Lease of a claimed delivery, longer than any post takes. */
const LEASE_MS = 60_000;
/** Pause of an app whose address refuses its deliveries. */
const PAUSE: Backoff = { firstMs: 1_000, capMs: 60_000 };

interface Pause {
  readonly failures: number;
  /** End of the pause by the clock of `timers`. */
  readonly until: number;
}

export function startWebhooks(options: WebhooksOptions): AsyncDisposable {
  const { db, ring, clock, timers, log, peers } = options;
  /** App of each delivery in flight. */
  const underWay = new Map<Promise<void>, number>();
  const pauses = new Map<number, Pause>();

  /** Apps whose webhook is pausing after a failure, or has as many deliveries in flight as it may. */
  const passedOver = () => {
    const now = timers.now();
    const busy = Map.groupBy(underWay.values(), (appId) => appId);
    const full = [...busy].filter(([, all]) => all.length >= MAX_PER_APP).map(([appId]) => appId);
    return [...full, ...[...pauses].filter(([, { until }]) => until > now).map(([appId]) => appId)];
  };
  const take = async (signal: AbortSignal) => {
    while (underWay.size < MAX_UNDER_WAY && peers.mayClaim && !signal.aborted) {
      const now = clock();
      const request = { now, leaseUntil: now + LEASE_MS, limit: MAX_PER_APP, pausedApps: passedOver() };
      const due = await db.transaction((trx) => claimDeliveries(trx, ring, request));
      if (due.length === 0) return;
      for (const delivery of due) start(delivery, signal);
    }
  };
  const start = (delivery: DueDelivery, signal: AbortSignal) => {
    const posting = deliver(options, delivery, pauses, signal)
      .catch((error: unknown) =>
        log.error({ err: error }, 'cannot store the outcome of a webhook delivery; it will be sent again'),
      )
      .finally(() => {
        underWay.delete(posting);
        if (underWay.size <= MAX_UNDER_WAY / 2) rounds.start();
      });
    underWay.set(posting, delivery.appId);
  };
  const rounds = startRounds({
    everyMs: POLL_MS,
    work: take,
    onFailure: (error) => log.error({ err: error }, 'cannot read pending webhook deliveries; retrying'),
  });
  return {
    async [Symbol.asyncDispose]() {
      await rounds[Symbol.asyncDispose]();
      await Promise.all(underWay.keys());
    },
  };
}

async function deliver(
  { db, clock, timers, random, log, metrics, post }: WebhooksOptions,
  delivery: DueDelivery,
  pauses: Map<number, Pause>,
  signal: AbortSignal,
): Promise<void> {
  const { id, appId, tries } = delivery;
  const answer = await ask(post, delivery, clock(), signal);
  if (signal.aborted) return await postponeDelivery(db.query, id, clock(), 'stopped');
  const now = clock();
  const fate = deliveryFateOf(answer, tries, now, random());
  metrics.deliveries.inc({ outcome: fate.kind });
  if (fate.kind === 'retry') {
    const failures = (pauses.get(appId)?.failures ?? 0) + 1;
    pauses.set(appId, { failures, until: timers.now() + backoffDelayMs(PAUSE, failures, random()) });
    log.info({ appId, delivery: id, tries, reason: fate.reason }, 'webhook delivery failed; retrying');
    return await postponeDelivery(db.query, id, fate.dueAt, fate.reason);
  }
  if (fate.kind === 'delivered') pauses.delete(appId);
  else log.warn({ appId, delivery: id, tries, reason: fate.reason }, 'webhook delivery failed; giving up');
  await deleteDelivery(db.query, id);
}

function ask(
  post: PostWebhook,
  { id, webhook, body }: DueDelivery,
  now: number,
  signal: AbortSignal,
): Promise<WebhookAnswer> {
  if (webhook === 'none') return Promise.resolve({ kind: 'answered', status: UNWANTED });
  if (webhook === 'locked') return Promise.resolve({ kind: 'failed', reason: 'secret' });
  return post(webhookPostOf({ id, ...webhook, body }, now), signal);
}

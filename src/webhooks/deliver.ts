/**
 * Posts deliveries to webhooks and retries until they are delivered or given up; a receiver that fails delays no other.
 */
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import type { Timers } from '#lib/timers.ts';
import type { DeliveryClaim, DueDelivery } from '#model/webhook.ts';
import type { PostWebhook, WebhookAnswer } from './webhook-post.ts';
import { type DeliveryFate, deliveryFateOf, UNWANTED, webhookPostOf } from './webhook-request.ts';

/** Where deliveries wait. They are stored: one that was claimed by a process that died is due again when its lease ends. */
interface DeliveryQueue {
  claim(claim: DeliveryClaim): Promise<readonly DueDelivery[]>;
  /** Called for a delivery that was accepted or given up. */
  delete(id: number): Promise<void>;
  postpone(id: number, dueAt: number, error: string): Promise<void>;
}

export interface DeliveriesOptions {
  readonly queue: DeliveryQueue;
  /** Whether this process may take work. */
  readonly mayClaim: () => boolean;
  readonly clock: Clock;
  /** Timers, whose monotonic clock measures pauses. */
  readonly timers: Timers;
  /** 0 ≤ random() < 1 */
  readonly random: () => number;
  /** How deliveries of a receiver are posted. */
  readonly postTo: (receiver: number) => PostWebhook;
  /** Notified of each attempt; absent: attempts are not kept. */
  readonly note?: (delivery: DueDelivery, attempt: NotedAttempt) => void;
  /** Counts the outcome of each attempt. */
  readonly count: (outcome: DeliveryFate['kind']) => void;
  readonly log: Logger;
}

/** An attempt to post a delivery, and how long it took. */
export interface NotedAttempt {
  readonly answer: WebhookAnswer;
  readonly at: number;
  readonly tookMs: number;
  readonly outcome: DeliveryFate['kind'];
}

const POLL_MS = 500;
/** Limit of deliveries in flight, of all receivers together. */
const MAX_UNDER_WAY = 64;
/** Limit of deliveries in flight of one receiver; with half of all in flight it is 1, so that others find a place. */
const MAX_PER_RECEIVER = 8;
/** Lease of a claimed delivery, longer than any post takes. */
const LEASE_MS = 60_000;
/** Pause of a receiver whose address refuses its deliveries. */
const PAUSE: Backoff = { firstMs: 1_000, capMs: 60_000 };

interface Pause {
  readonly failures: number;
  /** End of the pause by the clock of `timers`. */
  readonly until: number;
}

export function startDeliveries(options: DeliveriesOptions): AsyncDisposable {
  const { queue, mayClaim, clock, timers, log } = options;
  /** Receiver of each delivery in flight. */
  const underWay = new Map<Promise<void>, number>();
  const pauses = new Map<number, Pause>();

  const limitOfOne = () => (underWay.size < MAX_UNDER_WAY / 2 ? MAX_PER_RECEIVER : 1);
  /** Receivers whose webhook is pausing after a failure, or has as many deliveries in flight as it may. */
  const passedOver = () => {
    const now = timers.now();
    const busy = Map.groupBy(underWay.values(), (receiver) => receiver);
    const full = [...busy].filter(([, all]) => all.length >= limitOfOne()).map(([receiver]) => receiver);
    return [...full, ...[...pauses].filter(([, { until }]) => until > now).map(([receiver]) => receiver)];
  };
  const take = async (signal: AbortSignal) => {
    while (underWay.size < MAX_UNDER_WAY && mayClaim() && !signal.aborted) {
      const now = clock();
      const limits = { limit: MAX_PER_RECEIVER, limitOfOne: limitOfOne(), paused: passedOver() };
      const due = await queue.claim({ now, leaseUntil: now + LEASE_MS, ...limits });
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
    underWay.set(posting, delivery.receiver);
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
  { queue, clock, timers, random, log, count, postTo, note }: DeliveriesOptions,
  delivery: DueDelivery,
  pauses: Map<number, Pause>,
  signal: AbortSignal,
): Promise<void> {
  const { id, receiver, tries } = delivery;
  const startedAt = timers.now();
  const answer = await ask(postTo(receiver), delivery, clock(), signal);
  if (signal.aborted) return await queue.postpone(id, clock(), 'stopped');
  const now = clock();
  const tookMs = Math.round(timers.now() - startedAt);
  const fate = deliveryFateOf(answer, tries, now, random());
  count(fate.kind);
  if (delivery.webhook !== 'none') note?.(delivery, { answer, at: now, tookMs, outcome: fate.kind });
  if (fate.kind === 'retry') {
    const failures = (pauses.get(receiver)?.failures ?? 0) + 1;
    pauses.set(receiver, { failures, until: timers.now() + backoffDelayMs(PAUSE, failures, random()) });
    log.info({ receiver, delivery: id, tries, reason: fate.reason }, 'webhook delivery failed; retrying');
    return await queue.postpone(id, fate.dueAt, fate.reason);
  }
  if (fate.kind === 'delivered') pauses.delete(receiver);
  else log.warn({ receiver, delivery: id, tries, reason: fate.reason }, 'webhook delivery failed; giving up');
  await queue.delete(id);
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

/** The deliveries of events of a database, by real posts. */
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { startEventDeliveries } from '#events/deliveries.ts';
import type { Clock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import { createWebhookSender } from '#roles/process/webhook-sender.ts';
import type { Cleanup } from '../temporary.ts';

interface TestDeliveries {
  readonly db: Db;
  readonly ring: Keyring;
  readonly clock: Clock;
  /** Private networks that customers' receivers may lie in; absent: that of this machine. */
  readonly allow?: readonly string[];
}

/** Starts them for the time of the test. Returns the outcomes, in order. */
export function startTestDeliveries(
  t: Cleanup,
  { db, ring, clock, allow = ['127.0.0.0/8'] }: TestDeliveries,
): readonly string[] {
  const outcomes: string[] = [];
  const anywhere = createWebhookSender({ allow: ['0.0.0.0/0', '::/0'], refuse: [] });
  const guarded = createWebhookSender({ allow, refuse: [] });
  const deliveries = startEventDeliveries({
    ...{ db, ring, clock },
    peers: { mayClaim: true },
    timers: { ...systemTimers, now: clock },
    random: () => 0,
    postToOperator: anywhere.post,
    postToCustomers: guarded.post,
    describe: ({ kind }) => `text of ${kind}`,
    count: (outcome) => outcomes.push(outcome),
    log: createLogger({ level: 'silent', name: 'test' }),
  });
  t.after(async () => {
    await deliveries[Symbol.asyncDispose]();
    for (const sender of [anywhere, guarded]) await sender[Symbol.asyncDispose]();
  });
  return outcomes;
}

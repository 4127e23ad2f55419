/**
 * Runs the SMS engine in control: connectors to carriers, guarded posts to customers' addresses, deletion of old data.
 * docs/decisions/0220
 */
import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { Config } from '#config';
import type { Db } from '#db/open.ts';
import { type Controls, HOUSEKEEPING } from '#db/peers/peers.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import type { GuardOptions } from '#edge/origin/guard.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import { systemTimers } from '#lib/timers.ts';
import { connectCarrier } from '#sms/connectors/connect.ts';
import { type SmsEngine, startSmsEngine } from '#sms/engine.ts';
import { forgetOldSms } from '#sms/retention.ts';
import type { WebhookAnswer, WebhookPost } from '#webhooks/webhook-post.ts';
import { createWebhookSender } from '../process/webhook-sender.ts';

export interface SmsOptions {
  readonly config: Pick<Config, 'smsChargeAt' | 'smsDays'>;
  readonly db: Db;
  readonly peers: Controls;
  readonly ring: Keyring;
  /** Guard for addresses of customers. */
  readonly guard: GuardOptions;
  readonly log: Logger;
  readonly registry: Registry;
}

/** Time for answers of carriers when the service stops; parts without one are uncertain then. */
const MAX_DRAIN_MS = 5_000;
const FORGET_EVERY_MS = 3_600_000;

export interface RunningSms extends SmsEngine {
  /** Posts to a webhook as deliveries are posted. Never rejects; bounded in time. */
  post(post: WebhookPost): Promise<WebhookAnswer>;
}

export async function startSms({ config, db, peers, ring, guard, log, registry }: SmsOptions): Promise<RunningSms> {
  const webhooks = createWebhookSender(guard);
  const engine = await startSmsEngine({
    ...{ db, peers, ring, log, registry },
    connect: connectCarrier,
    post: webhooks.post,
    clock: db.clock,
    timers: systemTimers,
    random: Math.random,
    owner: randomUUID(),
    chargeAt: config.smsChargeAt,
  });
  const { smsDays } = config;
  const forgetting = startRounds({
    everyMs: FORGET_EVERY_MS,
    work: (signal) =>
      peers.underLease(HOUSEKEEPING, db, (leased) => forgetOldSms({ db: leased, smsDays }, db.clock(), signal)),
    onFailure: (error) => {
      if (!forgetting.signal.aborted) log.error({ err: error }, 'cannot delete expired SMS data; retrying later');
    },
  });
  return {
    wake: () => engine.wake(),
    offer: (submissions) => engine.offer(submissions),
    isUp: (connectorId) => engine.isUp(connectorId),
    reports: () => engine.reports(),
    reload: () => engine.reload(),
    post: (post) => webhooks.post(post, forgetting.signal),
    async stop(graceMs) {
      await forgetting[Symbol.asyncDispose]();
      await engine.stop(Math.min(graceMs, MAX_DRAIN_MS));
      await webhooks[Symbol.asyncDispose]();
    },
  };
}

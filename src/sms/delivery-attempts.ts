/**
 * Keeps the last attempts to post to each app's webhook. They are written together once a second, so that a busy webhook
 * costs one short transaction, and what a crash loses is a second of them. docs/decisions/0680
 */
import type { Db } from '#db/open.ts';
import { KEPT_ATTEMPTS, storeDeliveryAttempts } from '#db/tables/sms/delivery-attempts.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import type { DeliveryAttempt, DeliveryEvent, DueDelivery } from '#model/webhook.ts';
import type { NotedAttempt } from '#webhooks/deliver.ts';

const WRITE_EVERY_MS = 1_000;

export interface DeliveryAttempts extends AsyncDisposable {
  note(attempt: DeliveryAttempt): void;
}

export function startDeliveryAttempts({ db, log }: { readonly db: Db; readonly log: Logger }): DeliveryAttempts {
  /** The last attempts of each app that are not written yet. */
  let noted = new Map<number, DeliveryAttempt[]>();
  const write = async () => {
    const attempts = [...noted.values()].flat();
    noted = new Map();
    if (attempts.length > 0) await db.transaction((trx) => storeDeliveryAttempts(trx, attempts));
  };
  const onFailure = (error: unknown) => log.error({ err: error }, 'cannot store attempts of webhook deliveries');
  const rounds = startRounds({ everyMs: WRITE_EVERY_MS, work: write, onFailure });
  return {
    note(attempt) {
      const own = noted.get(attempt.appId) ?? [];
      noted.set(attempt.appId, [...own.slice(1 - KEPT_ATTEMPTS), attempt]);
    },
    async [Symbol.asyncDispose]() {
      await rounds[Symbol.asyncDispose]();
      await write().catch(onFailure);
    },
  };
}

/** The attempt as it is kept: of what was posted only the event and the sendid, since replies have texts. */
export function deliveryAttemptOf(
  { id, receiver, body, tries }: Pick<DueDelivery, 'id' | 'receiver' | 'body' | 'tries'>,
  { answer, at, tookMs, outcome }: NotedAttempt,
): DeliveryAttempt {
  // `as`: `queueDeliveries` and the test of a webhook write it.
  const { event, sendid = '' } = JSON.parse(body) as { readonly event: DeliveryEvent; readonly sendid?: string };
  return {
    appId: receiver,
    deliveryId: id,
    event,
    sendid,
    at,
    tookMs,
    tries,
    outcome,
    status: answer.kind === 'answered' ? answer.status : 0,
    reason: answer.kind === 'answered' ? '' : answer.reason,
    answer: answer.kind === 'answered' ? (answer.body ?? '') : '',
  };
}

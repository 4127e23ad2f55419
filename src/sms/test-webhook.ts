/** Posts a test to the webhook of an app, as deliveries are posted, and once. docs/decisions/0680 */
import type { Clock } from '#lib/clock.ts';
import type { DeliveryAttempt, Webhook } from '#model/webhook.ts';
import type { WebhookAnswer, WebhookPost } from '#webhooks/webhook-post.ts';
import { isAccepted, webhookPostOf } from '#webhooks/webhook-request.ts';
import { deliveryAttemptOf } from './delivery-attempts.ts';

/** Never rejects; bounded in time. */
export type PostOnce = (post: WebhookPost) => Promise<WebhookAnswer>;

export interface WebhookTest {
  readonly appId: number;
  readonly webhook: Webhook;
  readonly now: number;
}

/** Id of a delivery that is in no queue. */
const TEST = 0;

export async function testWebhook(
  post: PostOnce,
  { appId, webhook, now }: WebhookTest,
  steadyClock: Clock,
): Promise<DeliveryAttempt> {
  const body = JSON.stringify({ event: 'test', time: now });
  const startedAt = steadyClock();
  const answer = await post(webhookPostOf({ id: TEST, ...webhook, body }, now));
  const tookMs = Math.round(steadyClock() - startedAt);
  const outcome = isAccepted(answer) ? 'delivered' : 'dropped';
  const delivery = { id: TEST, receiver: appId, body, tries: 1 };
  return deliveryAttemptOf(delivery, { answer, at: now, tookMs, outcome });
}

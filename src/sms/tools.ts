/** What every part of the engine is given. */
import type { Db } from '#db/open.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { ChargeAt } from '#model/sms-part.ts';
import type { SmsMetrics } from './metrics.ts';

export interface SmsTools {
  readonly db: Db;
  readonly clock: Clock;
  /** 0 ≤ random() < 1 */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: SmsMetrics;
  /** Names this process among those that share the database, unlike any earlier one on this machine. */
  readonly owner: string;
  readonly chargeAt: ChargeAt;
}

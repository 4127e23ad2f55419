/** Tools that all components of the engine share. */
import type { Db } from '#db/open.ts';
import type { Controls } from '#db/peers/peers.ts';
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
  /** Unique name of this process among those that ever used the database. */
  readonly owner: string;
  readonly chargeAt: ChargeAt;
  /** The controls that share the database. */
  readonly peers: Controls;
}

/** Counters of the engine. Labels are connectors and closed sets of words, never anything that a customer or a carrier writes. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface SmsMetrics {
  /** Outcomes of sent parts. */
  readonly outcomes: Counter<'connector' | 'outcome'>;
  readonly receipts: Counter<'connector' | 'state'>;
  /** Unmatched receipts that are reported. */
  readonly unmatched: Counter<'connector' | 'reason'>;
  readonly replies: Counter<'connector'>;
  readonly unread: Counter<'connector' | 'reason'>;
  readonly deliveries: Counter<'outcome'>;
  readonly rounds: Histogram;
  /** Parts whose state was changed by a timeout. */
  readonly swept: Counter<'to'>;
}

export interface SmsMetricSources {
  lines(): readonly { readonly name: string; readonly kind: string; readonly isWhole: boolean }[];
}

const ROUND_BUCKETS_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5];

export function createSmsMetrics(registry: Registry, sources: SmsMetricSources): SmsMetrics {
  const registers = [registry];
  new Gauge({
    name: 'causeway_sms_connector_up',
    help: '1 while the connector is bound to its carrier in both directions; `kind` is loopback if sending is only simulated',
    labelNames: ['connector', 'kind'],
    registers,
    collect() {
      this.reset();
      for (const { name, kind, isWhole } of sources.lines()) this.set({ connector: name, kind }, isWhole ? 1 : 0);
    },
  });
  return {
    outcomes: new Counter({
      name: 'causeway_sms_parts_total',
      help: 'Parts sent, by connector and outcome: accepted, simulated, refused, postponed or lost',
      labelNames: ['connector', 'outcome'],
      registers,
    }),
    receipts: new Counter({
      name: 'causeway_sms_receipts_total',
      help: 'Stored delivery receipts, by connector and state',
      labelNames: ['connector', 'state'],
      registers,
    }),
    unmatched: new Counter({
      name: 'causeway_sms_receipts_unmatched_total',
      help: 'Receipts without a matching part, by connector and reason: number (parts with its id have other numbers) or ambiguous (several parts matched for 72 hours)',
      labelNames: ['connector', 'reason'],
      registers,
    }),
    replies: new Counter({
      name: 'causeway_sms_replies_total',
      help: 'Stored messages from phones, by connector',
      labelNames: ['connector'],
      registers,
    }),
    unread: new Counter({
      name: 'causeway_sms_unread_total',
      help: 'Messages from carriers that could not be parsed, by connector and reason: cut (the PDU ends before its text) or empty (a receipt without content)',
      labelNames: ['connector', 'reason'],
      registers,
    }),
    deliveries: new Counter({
      name: 'causeway_sms_webhooks_total',
      help: "Attempts to post to customers' webhooks: delivered, retry or dropped",
      labelNames: ['outcome'],
      registers,
    }),
    rounds: new Histogram({
      name: 'causeway_sms_round_duration_seconds',
      help: 'Duration of one transaction of the engine, which stores responses and receipts and claims parts',
      buckets: ROUND_BUCKETS_SECONDS,
      registers,
    }),
    swept: new Counter({
      name: 'causeway_sms_swept_parts_total',
      help: 'Parts whose state was changed by a timeout: uncertain, expired, unknown, queued again, or the state of a receipt that arrived before its response',
      labelNames: ['to'],
      registers,
    }),
  };
}

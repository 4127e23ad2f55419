/** Counters of the engine. Labels are connectors and closed sets of words, never anything that a customer or a carrier writes. */
import { type Counter, Histogram, type Registry } from 'prom-client';
import { metricsOf } from '#lib/metrics.ts';
import type { Line } from './lines.ts';

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
  lines(): readonly Pick<Line, 'name' | 'kind' | 'isWhole' | 'misconfigured'>[];
}

const ROUND_BUCKETS_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5];

export function createSmsMetrics(registry: Registry, sources: SmsMetricSources): SmsMetrics {
  const { counter, gauges } = metricsOf(registry);
  gauges(
    'causeway_sms_connector_up',
    '1 while the connector is bound to its carrier in both directions; `kind` is loopback if sending is only simulated',
    ['connector', 'kind'],
    () => sources.lines().map(({ name, kind, isWhole }) => [{ connector: name, kind }, isWhole ? 1 : 0]),
  );
  gauges(
    'causeway_sms_connector_misconfigured',
    '1 while the carrier refuses every part for the settings of the connector, which therefore rests',
    ['connector'],
    () => sources.lines().map(({ name, misconfigured }) => [{ connector: name }, misconfigured === undefined ? 0 : 1]),
  );
  return {
    outcomes: counter(
      'causeway_sms_parts_total',
      'Parts sent, by connector and outcome: accepted, simulated, refused, postponed or lost',
      ['connector', 'outcome'],
    ),
    receipts: counter('causeway_sms_receipts_total', 'Stored delivery receipts, by connector and state', [
      'connector',
      'state',
    ]),
    unmatched: counter(
      'causeway_sms_receipts_unmatched_total',
      'Receipts without a matching part, by connector and reason: number (parts with its id have other numbers) or ambiguous (several parts matched for 72 hours)',
      ['connector', 'reason'],
    ),
    replies: counter('causeway_sms_replies_total', 'Stored messages from phones, by connector', ['connector']),
    unread: counter(
      'causeway_sms_unread_total',
      'Messages from carriers that could not be parsed, by connector and reason: cut (the PDU ends before its text) or empty (a receipt without content)',
      ['connector', 'reason'],
    ),
    deliveries: counter(
      'causeway_sms_webhooks_total',
      "Attempts to post to customers' webhooks: delivered, retry or dropped",
      ['outcome'],
    ),
    rounds: new Histogram({
      name: 'causeway_sms_round_duration_seconds',
      help: 'Duration of one transaction of the engine, which stores responses and receipts and claims parts',
      buckets: ROUND_BUCKETS_SECONDS,
      registers: [registry],
    }),
    swept: counter(
      'causeway_sms_swept_parts_total',
      'Parts whose state was changed by a timeout: uncertain, expired, unknown, queued again, or the state of a receipt that arrived before its response',
      ['to'],
    ),
  };
}

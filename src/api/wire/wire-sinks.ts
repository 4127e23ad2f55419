/** Sinks of log lines on the wire. Used by `wire.ts` and its handlers only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { NamedSink } from '#db/tables/line-sinks.ts';
import { parseSinkHeader, SINK_FIELDS, SINK_LIMITS, type SinkTrouble } from '#model/line-sink.ts';
import type { SinkTest } from '../views/sink-tests.ts';

export interface SinkView extends NamedSink {
  readonly troubles: readonly (SinkTrouble & { readonly edge: string })[];
}

export const READ_SINKS = {
  'sinkOperator.list': () => undefined,
  'sinkOperator.set': ({ name, url, headers, ...asked }: RequestOf<'sinkOperator.set'>) => ({
    name,
    url,
    /** `undefined`: those that are stored. */
    headers: headers?.flatMap((text) => parseSinkHeader(text) ?? []),
    fields: asked.fields ?? SINK_FIELDS,
    samplePercent: asked.sample_percent ?? 100,
    domainIds: asked.domain_ids ?? [],
    maxBytes: asked.max_bytes ?? SINK_LIMITS.bytes.default,
    maxRecords: asked.max_records ?? SINK_LIMITS.records.default,
    maxSeconds: asked.max_seconds ?? SINK_LIMITS.seconds.default,
  }),
  'sinkOperator.remove': ({ name }: RequestOf<'sinkOperator.remove'>) => ({ name }),
  'sinkOperator.test': ({ name }: RequestOf<'sinkOperator.test'>) => ({ name }),
};

export const WRITE_SINKS = {
  'sinkOperator.list': (sinks: readonly SinkView[]): DataOf<'sinkOperator.list'> => ({ list: sinks.map(writeSink) }),
  'sinkOperator.set': () => true,
  'sinkOperator.remove': () => true,
  'sinkOperator.test': ({ status, reason, tookMs, answer }: SinkTest): DataOf<'sinkOperator.test'> => {
    return { status, reason, took_ms: tookMs, answer };
  },
};

function writeSink({ name, sink, troubles }: SinkView): DataOf<'sinkOperator.list'>['list'][0] {
  return {
    name,
    url: sink?.url ?? '',
    headers: sink?.headers.map((header) => header.name) ?? [],
    fields: [...(sink?.fields ?? [])],
    sample_percent: sink?.samplePercent ?? 0,
    domain_ids: sink?.domainIds.map(String) ?? [],
    max_bytes: sink?.maxBytes ?? 0,
    max_records: sink?.maxRecords ?? 0,
    max_seconds: sink?.maxSeconds ?? 0,
    troubles: troubles.map(({ edge, state, reason }) => ({ edge_id: edge, state, reason })),
  };
}

/** Sinks of log lines, for operators. docs/decisions/0743 */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { lockInTransaction } from '#db/engines/engine.ts';
import { listEdgeViews } from '#db/tables/edges.ts';
import { listLineSinks, type NamedSink, putLineSink } from '#db/tables/line-sinks.ts';
import { publish } from '#db/tables/resources.ts';
import { createLocalTime } from '#lib/local-time.ts';
import { composeSinkPost, TEST_KEY, testRecordOf } from '#logs/sinks/compose.ts';
import { MAX_SINKS, SINK_KIND } from '#model/line-sink.ts';
import type { SinkTest } from '../views/sink-tests.ts';
import type { SinkView } from '../wire/wire-sinks.ts';
import type { Handler } from './handler.ts';

/** How the test names its sender. */
const CONTROL = 'control';

export const SINK_HANDLERS = {
  'sinkOperator.list': async ({ db, keyring, now }): Promise<readonly SinkView[]> => {
    const edges = await listEdgeViews(db.query, now);
    return (await listLineSinks(db.query, keyring)).map((sink) => ({
      ...sink,
      troubles: edges.flatMap(({ edge, sinks }) =>
        sinks.filter((trouble) => trouble.sink === sink.name).map((trouble) => ({ edge, ...trouble })),
      ),
    }));
  },

  'sinkOperator.set': async ({ db, keyring, now }, { name, headers, ...asked }) => {
    await db.transaction(async (trx) => {
      await lockInTransaction(trx, 'line sinks');
      const sinks = await listLineSinks(trx, keyring);
      const before = sinks.find((sink) => sink.name === name);
      if (before === undefined && sinks.length >= MAX_SINKS) throw new ServiceError('sinkLimit', { limit: MAX_SINKS });
      const kept = before?.sink?.headers ?? [];
      if (headers === undefined && kept.length > 0 && originOf(before?.sink?.url) !== originOf(asked.url))
        throw new ServiceError('sinkHeadersKept', { name });
      await publish(trx, [putLineSink(keyring, name, { ...asked, headers: headers ?? kept })], now);
    });
  },

  'sinkOperator.remove': async ({ db, keyring, now }, { name }) => {
    await db.transaction(async (trx) => {
      await lockInTransaction(trx, 'line sinks');
      findOrRefuse(await listLineSinks(trx, keyring), name);
      await publish(trx, [{ kind: SINK_KIND, key: name, op: 'delete' }], now);
    });
  },

  'sinkOperator.test': async ({ db, keyring, now, timeZone, sinkTests }, { name }): Promise<SinkTest> => {
    const { sink } = findOrRefuse(await listLineSinks(db.query, keyring), name);
    if (sink === undefined) throw new ServiceError('sinkLocked', { name });
    const record = testRecordOf(sink, { edge: CONTROL, at: now, zone: createLocalTime(timeZone) });
    return await sinkTests.post(await composeSinkPost(sink, { edge: CONTROL, key: TEST_KEY, records: [record] }));
  },
} satisfies { readonly [N in Extract<RouteName, `sinkOperator.${string}`>]: Handler<N> };

/** Scheme, host and port. */
function originOf(url: string | undefined): string {
  return url === undefined ? '' : new URL(url).origin;
}

function findOrRefuse(sinks: readonly NamedSink[], name: string): NamedSink {
  const found = sinks.find((sink) => sink.name === name);
  if (found === undefined) throw new ServiceError('sinkNotFound', { name });
  return found;
}

/** `smsOperator.listStates` and `smsOperator.testNumber`. docs/decisions/0681 */
import type { Executor } from '#db/schema/schema.ts';
import { listSmsPrices } from '#db/tables/sms/balance.ts';
import { countQueuedByRoute, readConnectorErrors } from '#db/tables/sms/connector-states.ts';
import { listConnectors, listRoutes } from '#db/tables/sms/connectors.ts';
import { HOUR_MS } from '#lib/durations.ts';
import { findPrice } from '#sms/price.ts';
import { RouteTable } from '#sms/route.ts';
import type { ConnectorStateView } from '../wire/wire-sms-states.ts';
import type { Handler } from './handler.ts';

/** Errors of a connector that are shown, the most frequent ones. */
const SHOWN_ERRORS = 20;

export const SMS_STATE_HANDLERS = {
  'smsOperator.listStates': async ({ db, now, sms }) => {
    const { errors, since } = await readConnectorErrors(db.query, now - HOUR_MS);
    const errorsOf = Map.groupBy(errors, ({ connectorId }) => connectorId);
    const sessionsOf = Map.groupBy(sms.connectors(), ({ connectorId }) => connectorId);
    const queuedFor = await countQueuedFor(db.query);
    const list = (await listConnectors(db.query)).map(
      (connector): ConnectorStateView => ({
        connector,
        sessions: sessionsOf.get(connector.id) ?? [],
        queued: queuedFor(connector.id),
        errors: (errorsOf.get(connector.id) ?? []).toSorted((a, b) => b.count - a.count).slice(0, SHOWN_ERRORS),
      }),
    );
    return { list, since };
  },

  'smsOperator.testNumber': async ({ db, currency }, { number, kind }) => {
    const price = findPrice(await listSmsPrices(db.query), kind, number);
    const names = new Map((await listConnectors(db.query)).map(({ id, name }) => [id, name]));
    const route = new RouteTable(await listRoutes(db.query)).find(number);
    const connectors = (route?.connectorIds ?? []).map((id) => names.get(id) ?? '');
    return { number, kind, price, route: { prefix: route?.prefix ?? '', connectors }, currency };
  },
} satisfies { readonly [N in `smsOperator.${'listStates' | 'testNumber'}`]: Handler<N> };

/** Returns a function that returns how many parts wait in routes with a connector. */
async function countQueuedFor(x: Executor): Promise<(connectorId: number) => number> {
  const [routes, queued] = [await listRoutes(x), await countQueuedByRoute(x)];
  return (connectorId) =>
    routes
      .filter(({ connectorIds }) => connectorIds.includes(connectorId))
      .reduce((sum, { prefix }) => sum + (queued.get(prefix) ?? 0), 0);
}

/** SMS connectors that no control can send by. */
import type { Db } from '#db/open.ts';
import { listConnectors } from '#db/tables/sms/connectors.ts';
import type { Observation } from '#model/condition.ts';
import type { Observer } from './observer.ts';

/** `isUp`: whether any control can send by the connector with this id. */
export function observeConnectors(db: Db, isUp: (connectorId: number) => boolean, everyMs: number): Observer {
  return {
    kinds: ['connector'],
    owner: '',
    everyMs,
    async observe() {
      const connectors = await listConnectors(db.query);
      const down = connectors.filter(({ id, enabled, settings }) => enabled && settings.kind === 'smpp' && !isUp(id));
      return down.map(
        ({ id, name }): Observation => ({
          kind: 'connector',
          key: String(id),
          target: { kind: 'connector', id: String(id), name },
          level: 0,
          data: {},
        }),
      );
    },
  };
}

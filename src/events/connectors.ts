/** SMS connectors that no control can send by, or whose carrier refuses every part for their settings. */
import type { Db } from '#db/open.ts';
import { listConnectors } from '#db/tables/sms/connectors.ts';
import type { ConditionKind, Observation } from '#model/condition.ts';
import type { ConnectorReport } from '#model/sms-connector-report.ts';
import type { Observer } from './observer.ts';

export interface ConnectorSources {
  /** Whether any control can send by the connector with this id. */
  isUp(connectorId: number): boolean;
  /** The connectors of all controls. */
  reports(): readonly ConnectorReport[];
}

export function observeConnectors(db: Db, { isUp, reports }: ConnectorSources, everyMs: number): Observer {
  return {
    kinds: ['connector', 'misconfigured'],
    owner: '',
    everyMs,
    async observe() {
      const codes = new Map(
        reports().flatMap(({ connectorId, misconfigured }) =>
          misconfigured === undefined ? [] : [[connectorId, misconfigured] as const],
        ),
      );
      const connectors = await listConnectors(db.query);
      return connectors.flatMap(({ id, enabled, name, settings }): readonly Observation[] => {
        const code = codes.get(id);
        const seen = (kind: ConditionKind, data: Observation['data']): Observation => {
          const target = { kind: 'connector', id: String(id), name } as const;
          return { kind, key: String(id), target, level: 0, data };
        };
        // It rests, and says so itself.
        if (code !== undefined) return enabled ? [seen('misconfigured', { code })] : [];
        return enabled && settings.kind !== 'loopback' && !isUp(id) ? [seen('connector', {})] : [];
      });
    },
  };
}

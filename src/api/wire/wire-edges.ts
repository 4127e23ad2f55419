/** Edges of the fleet, their words on the wire. Used by `wire.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { toModelNames } from '#lib/model-names.ts';
import type { EdgeView } from '#model/edge.ts';
import type { EdgeExposure } from '#model/edge-exposure.ts';
import type { EdgeState } from '#model/edge-state.ts';
import type { FleetEvent } from '#model/fleet-event.ts';
import type { FleetStatus } from '#model/fleet-status.ts';
import { readPage, writeFlag, writeSeconds } from './wire-values.ts';

interface EdgePage {
  readonly total: number;
  readonly edges: readonly EdgeView[];
  readonly headRevision: number;
}

interface ShownEdge {
  readonly edge: EdgeView;
  readonly headRevision: number;
}

/** Limit of `rejections`. */
const MAX_SHOWN_REJECTIONS = 100;

export const READ_EDGES = {
  'edgeOperator.list': (request: RequestOf<'edgeOperator.list'>) => ({
    group: request.group,
    state: request.status,
    ...readPage(request),
  }),
  'edgeOperator.get': toModelNames<RequestOf<'edgeOperator.get'>>,
  'edgeOperator.setState': ({ edge_id, action, force }: RequestOf<'edgeOperator.setState'>) => ({
    edgeId: edge_id,
    action,
    isForced: force ?? false,
  }),
  'edgeOperator.status': () => undefined,
  'edgeOperator.events': (request: RequestOf<'edgeOperator.events'>) => ({
    edge: request.edge_id,
    ...readPage(request),
  }),
  'edgeOperator.exposure': (request: RequestOf<'edgeOperator.exposure'>) => ({
    edge: request.edge_id,
    ...readPage(request),
  }),
};

export const WRITE_EDGES = {
  'edgeOperator.list': ({ total, edges, headRevision }: EdgePage): DataOf<'edgeOperator.list'> => ({
    total,
    list: edges.map((edge) => writeEdge(edge, headRevision)),
  }),
  'edgeOperator.get': ({ edge, headRevision }: ShownEdge): DataOf<'edgeOperator.get'> => ({
    ...writeEdge(edge, headRevision),
    rejections: edge.rejected.slice(0, MAX_SHOWN_REJECTIONS).map((rejection) => ({ ...rejection })),
  }),
  'edgeOperator.setState': (status: EdgeState): DataOf<'edgeOperator.setState'> => ({ status }),
  'edgeOperator.status': (status: FleetStatus): DataOf<'edgeOperator.status'> => ({
    head_revision: status.headRevision,
    edges: status.counts.map(({ group, state, count }) => ({ group, status: state, count })),
    lag_revisions: status.lagRevisions,
    lag_seconds: status.lagSeconds,
    controls: status.controls.map(({ id, build, seenAt, leases }) => ({
      control_id: id,
      build,
      seen_at: writeSeconds(seenAt),
      leases: [...leases],
    })),
    synchronous: status.isSynchronous === undefined ? null : writeFlag(status.isSynchronous),
  }),
  'edgeOperator.events': ({
    total,
    events,
  }: {
    readonly total: number;
    readonly events: readonly FleetEvent[];
  }): DataOf<'edgeOperator.events'> => ({
    total,
    list: events.map(({ at, edge, event, detail, actor }) => ({
      time: writeSeconds(at),
      edge_id: edge,
      event,
      detail,
      actor,
    })),
  }),
  'edgeOperator.exposure': ({ group, revokedAt, total, domains }: EdgeExposure): DataOf<'edgeOperator.exposure'> => ({
    group,
    revoked_at: writeSeconds(revokedAt),
    total,
    list: domains.map(({ domainId, name, accountId, certificates, hasLiveKeys }) => ({
      domain_id: String(domainId),
      domain_name: name,
      account_id: String(accountId),
      ssl_keys: [...certificates],
      live_keys: writeFlag(hasLiveKeys),
    })),
  }),
};

function writeEdge(edge: EdgeView, headRevision: number): DataOf<'edgeOperator.list'>['list'][0] {
  const { load } = edge;
  const failed = edge.health.filter(({ ok }) => !ok).map(({ check }) => check);
  return {
    edge_id: edge.edge,
    group: edge.group,
    labels: { ...edge.labels },
    status: edge.state,
    reason: edge.state === 'unhealthy' ? failed.join(', ') : '',
    status_at: writeSeconds(edge.stateAt),
    seen_at: writeSeconds(edge.seenAt),
    drain_at: writeSeconds(edge.drainAt),
    drains_itself: writeFlag(edge.drainsItself),
    revision: edge.appliedRevision,
    lag: Math.max(0, headRevision - edge.appliedRevision),
    rejected: edge.rejected.length,
    build: edge.build,
    features: [...edge.features],
    clock_offset_ms: edge.clockOffsetMs ?? null,
    load:
      load === undefined
        ? null
        : {
            cpu: load.cpu,
            mbit: load.mbit,
            requests: load.requests,
            under_way: load.underWay,
            cache_disk: load.cacheDisk,
          },
    health: edge.health.map(({ check, ok, detail = '' }) => ({ check, ok: writeFlag(ok), detail })),
  };
}

/** What the stages are given: the edge's parts, and one request on its way through. */
import type { CacheOptions } from '#http/options.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { HitRecord } from '#logs/hit-record.ts';
import type { AccessRecord } from '#logs/line.ts';
import type { ChallengeSource } from '#sites/challenge.ts';
import type { Site } from '#sites/site.ts';
import type { SiteTable } from '#sites/table.ts';
import type { Buffers } from './buffers/buffers.ts';
import type { ClientRates } from './client-rates.ts';
import type { Flights } from './fetch/collapse.ts';
import type { SliceFlights } from './fetch/slices/flights.ts';
import type { WebSockets } from './fetch/web-sockets.ts';
import type { LiveEdge } from './live/live.ts';
import type { EdgeMetrics } from './metrics.ts';
import type { TieredOrigins } from './origin/parents/tiered-origins.ts';
import type { Tiers } from './origin/parents/tiers.ts';
import type { CdnName } from './origin-headers.ts';
import type { EdgeRequest } from './request.ts';
import type { Compressions } from './respond/compressions.ts';
import type { Pins } from './respond/pins.ts';
import type { Shortcuts } from './shortcuts/shortcuts.ts';
import type { HealthPage } from './stages/health.ts';
import type { LagBudget } from './store/client-lag.ts';
import type { Holds } from './store/holds.ts';
import type { CacheStore } from './store/store.ts';

export interface EdgeContext {
  readonly cdn: CdnName;
  readonly sites: SiteTable;
  readonly challenges: ChallengeSource;
  readonly health: HealthPage;
  readonly store: CacheStore;
  readonly shortcuts: Shortcuts;
  readonly rates: ClientRates;
  readonly origins: TieredOrigins;
  readonly refreshes: Refreshes;
  readonly flights: Flights;
  readonly slices: SliceFlights;
  readonly compressions: Compressions;
  /** `domainId` 0: of no domain. */
  readonly writeLog: (domainId: number, record: AccessRecord) => void;
  readonly writeHit: (hit: HitRecord) => void;
  readonly metrics: EdgeMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether answers announce the end of their connection: other processes have taken over the listeners. */
  readonly isDraining: () => boolean;
  /** Whether the edge is shutting down: connections end with their answer, announced or not. */
  readonly isClosing: () => boolean;
  /** Where the edge listens; without `https` it does so for plain HTTP alone. */
  readonly ports: { readonly http: number; readonly https?: number };
  readonly lag: LagBudget;
  readonly pins: Pins;
  readonly buffers: Buffers;
  readonly webSockets: WebSockets;
  /** Absent: this edge has no identity, and fetches from origins alone. */
  readonly tiers: Tiers | undefined;
  /** Absent: this machine has no process for live streams. */
  readonly live: LiveEdge | undefined;
  /** A client that takes nothing of what is there for it. */
  readonly clientIdleMs: number;
  /** Time limit of a fetch without readers. */
  readonly unreadFetchMs: number;
}

/** Validations in the background. */
export interface Refreshes {
  /** Returns at once. Does nothing when one is under way for the key, or too many are. */
  start(edge: EdgeContext, visit: Visit, refresh: Refresh): void;
}

/** `visit`: as a plain GET. */
type Refresh = (visit: Visit, signal: AbortSignal) => Promise<void>;

/** A request that has a site, is allowed, and has a key and a plan. */
export interface Visit {
  readonly request: EdgeRequest;
  readonly site: Site;
  readonly key: string;
  readonly options: CacheOptions;
  /** What the request holds of the store's memory until its answer is out. */
  readonly holds: Holds;
  /** The instant of the look-up: responses requested at or before it count as absent. */
  readonly absentUpTo: number;
  /** Present for a request of an edge that fetches through this one: the tiers that it has passed. */
  readonly tierHops?: number;
  /** The instant up to which responses count as absent for an edge that fetches through this one. */
  readonly tierSince?: number;
}

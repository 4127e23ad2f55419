/** The messages between the supervisor and its child processes. Settings travel here, never in the environment. */
import type { ChildProcess } from 'node:child_process';
import type { Config } from '#config';
import type { RateCounts } from '#edge/client-rates.ts';
import type { DrainLimits } from '#edge/ending.ts';
import type { OriginUse, ProbeReport } from '#edge/origin/probe-schedule.ts';
import type { TicketSecret } from '#edge/transport/tls/ticket-keys.ts';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { SettingInForce } from '#lib/settings.ts';
import type { Tail, TailedLines } from '#logs/tail/tail-watch.ts';
import type { OwnCondition } from '#model/edge-health.ts';
import type { PrefetchOutcome, PrefetchRequest } from '#sites/prefetch.ts';
import type { SocketSet } from '../sockets/listeners.ts';
import type { WorkerVitals } from './worker-vitals.ts';

export type PartKind = 'control' | 'edge-feed' | 'edge-worker' | 'live';

export interface StartMessage {
  readonly kind: 'start';
  readonly part: PartKind;
  /**
   * The part's kind, numbered where there are several: `edge-worker-2`. Parts of later generations have a letter:
   * `edge-worker-2-b`, `live-b`.
   */
  readonly name: string;
  /** The name without the letter. */
  readonly slot: string;
  /** Whether the part takes the place of others that are running. */
  readonly isSuccessor: boolean;
  /** Names of the live processes that a live process takes over from, the latest first: each has followed the next. */
  readonly predecessors?: readonly string[];
  /** What the health page says at the time; absent if that is not known yet. */
  readonly health?: OwnCondition['word'];
  /** Sockets that the supervisor holds for this part. */
  readonly sockets: SocketSet;
  /** Names of the parts that write access logs. */
  readonly logWriters: readonly string[];
  /** Settings in force with where each comes from, without secrets; only for control. */
  readonly settings?: readonly SettingInForce[];
  /** Configuration without the secrets that the part does not need. */
  readonly config: Config;
  /** Opens control's operator operations to commands of this machine. */
  readonly localSecret: string;
  /** Secret of the tables in which the edge workers count clients: the same for all of them. */
  readonly rateSeed: string;
  readonly build: string;
  /** Where this machine's own parts and its database listen: no origin may be there. */
  readonly ownAddresses: readonly ListenAddress[];
}

/** New settings are in the edge's store. `names`: of the sites that changed; absent means any may have. */
export interface ChangedMessage {
  readonly kind: 'changed';
  readonly id: number;
  readonly revision: number;
  readonly names?: readonly string[];
}

/** Goes from the feed to the supervisor, and from there to one worker. */
export interface PrefetchMessage {
  readonly kind: 'prefetch';
  readonly id: number;
  readonly request: PrefetchRequest;
}

/** The answer; without an outcome if no worker could do it. */
interface PrefetchedMessage {
  readonly kind: 'prefetched';
  readonly id: number;
  readonly outcome?: PrefetchOutcome;
}

/** Goes from a worker to the feed's process, which probes the origins for all workers. */
interface OriginUsesMessage {
  readonly kind: 'originUses';
  readonly uses: readonly OriginUse[];
}

/** Sent by the feed's process to every worker. */
interface OriginProbesMessage {
  readonly kind: 'originProbes';
  readonly report: ProbeReport;
}

/** Goes from the feed's process, which renews the secrets, to every worker. */
interface TicketSecretsMessage {
  readonly kind: 'ticketSecrets';
  readonly secrets: readonly TicketSecret[];
}

/** What a worker has counted for rate limits. Goes from it to every other worker. */
interface ClientRatesMessage {
  readonly kind: 'clientRates';
  readonly counts: RateCounts;
}

/** Goes from a worker to the feed's process. */
interface VitalsMessage {
  readonly kind: 'vitals';
  readonly vitals: WorkerVitals;
}

/** Sent by the feed's process to every worker, and again to workers that are started later. */
export interface HealthMessage {
  readonly kind: 'health';
  /** The word of the health page: `ready`, or why the edge should get no viewers. */
  readonly word: OwnCondition['word'];
}

/** The logs that somebody follows. Sent by the feed's process to every part that writes logs, and again to later ones. */
export interface TailsMessage {
  readonly kind: 'tails';
  readonly tails: readonly Tail[];
}

/** Goes from such a part to the feed's process. */
interface TailedMessage extends TailedLines {
  readonly kind: 'tailed';
}

export type ToChild =
  | StartMessage
  /** Sent to a worker or the live process, which answers `inForce` when it runs them. */
  | ChangedMessage
  /** Sent to the feed: every worker runs the change, or, with `isRun` false, there is no worker now. */
  | { readonly kind: 'confirmed'; readonly id: number; readonly isRun: boolean }
  | PrefetchMessage
  | PrefetchedMessage
  | OriginUsesMessage
  | OriginProbesMessage
  | TicketSecretsMessage
  | ClientRatesMessage
  | VitalsMessage
  | HealthMessage
  | TailsMessage
  | TailedMessage
  | { readonly kind: 'metrics'; readonly id: number }
  /** Sent to the feed when workers have come or gone. */
  | { readonly kind: 'logWriters'; readonly names: readonly string[] }
  /** Sent to a worker or a live process: others have its listeners. It ends with its last connection. */
  | ({ readonly kind: 'drain' } & DrainLimits)
  | { readonly kind: 'stop'; readonly graceMs: number };

export type FromChild =
  | { readonly kind: 'ready'; readonly news: ReadyNews }
  /** The part cannot start, and ends after this. */
  | { readonly kind: 'failed'; readonly problem: string }
  /** Sent by the feed. */
  | ChangedMessage
  | { readonly kind: 'inForce'; readonly id: number }
  | PrefetchMessage
  | PrefetchedMessage
  | OriginUsesMessage
  | OriginProbesMessage
  | TicketSecretsMessage
  | ClientRatesMessage
  | VitalsMessage
  | HealthMessage
  | TailsMessage
  | TailedMessage
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: readonly unknown[] };

/**
 * `kept`: in the file `first-token`. `stillKept`: there since an earlier start, which may have failed before it printed
 * that. `given`: from the settings, and not kept. `none`: none was needed.
 */
export type FirstToken = 'kept' | 'stillKept' | 'given' | 'none';

/** What is printed of a part when the service has started. */
export interface ReadyNews {
  readonly firstToken?: FirstToken;
  /** The control that an edge without control on its machine follows. */
  readonly control?: { readonly address: string; readonly isConnected: boolean };
  /** Why the name server does not answer yet. */
  readonly dnsProblem?: string;
}

/** Metric of a worker: requests that it is serving. */
export const UNDER_WAY = 'causeway_edge_requests_under_way';

export function onMessage(child: ChildProcess, listener: (message: FromChild) => void): void {
  // The other end is our own code of the same checkout.
  child.on('message', (message) => listener(message as FromChild));
}

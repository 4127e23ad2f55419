/** Events: what happened to the service that an operator or a customer may have to act upon. docs/decisions/0619 */

export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Every kind of event, and how severe it is. */
export const EVENT_KINDS = {
  /** The edge is in another state, none of the three below. `detail` */
  'edge.state': 'info',
  /** The edge is not heard of any more. `detail` */
  'edge.away': 'critical',
  /** The edge is heard of again. `detail` */
  'edge.back': 'info',
  /** The edge fails its own checks. `detail` */
  'edge.unhealthy': 'warning',
  /** A machine has become the edge. `detail`; so have the other actions of operators. */
  'edge.enrol': 'info',
  'edge.drain': 'info',
  'edge.undrain': 'info',
  'edge.remove': 'info',
  'edge.revoke': 'warning',
  'edge.accept': 'info',
  /** Two copies of the edge were noticed. `detail` */
  'edge.clone': 'critical',
  /** The edge cannot apply settings, and runs their earlier versions. `count`, `resource`, `error` */
  'edge.rejecting': 'critical',
  'edge.applying': 'info',
  /** An edge cannot send log lines to a sink, or dropped some. `sink`, `state`, `reason` */
  'sink.failing': 'warning',
  /** The edge sends to the sink again. `sink` */
  'sink.taking': 'info',
  /** An edge cannot reach an origin of the domain. `origin`, `state`, `edges`, `edge` */
  'origin.down': 'warning',
  /** No edge reports the origin as down any more. `origin` */
  'origin.up': 'info',
  /** A certificate that a domain uses ends within `days`: told once for each threshold. `days`, `names`, `ends_at` */
  'certificate.expiring': 'warning',
  /** The certificate has ended. `names`, `ends_at` */
  'certificate.expired': 'critical',
  /** No certificate could be obtained for the domain. `problem`, `detail`, `failures` */
  'certificate.failing': 'warning',
  /** Obtaining a certificate for the domain no longer fails. */
  'certificate.recovered': 'info',
  /** No control can send by the connector. */
  'connector.unbound': 'critical',
  'connector.bound': 'info',
  /** The carrier refuses every part for the settings of the connector, which rests. `code` */
  'connector.misconfigured': 'critical',
  /** The carrier accepts parts of the connector again. */
  'connector.accepting': 'info',
  /** The account has used most of what it may today, or of its balance. `quota`, `used`, `limit` */
  'quota.near': 'warning',
  /** The domains of the account send more than it may, as the mean of five minutes. `mbps`, `limit` */
  'bandwidth.over': 'warning',
  'bandwidth.within': 'info',
  /** A file system of a machine is nearly full. `disk`, `percent` */
  'disk.nearFull': 'warning',
  'disk.roomy': 'info',
  /** The newest backup is older than two days. `hours` */
  'backup.late': 'warning',
  'backup.made': 'info',
} as const satisfies Readonly<Record<string, Severity>>;
export type EventKind = keyof typeof EVENT_KINDS;

// `as`: its own keys.
export const EVENT_KIND_NAMES = Object.keys(EVENT_KINDS) as readonly EventKind[];

export const TARGET_KINDS = ['account', 'certificate', 'connector', 'domain', 'edge', 'machine'] as const;

/** What an event is about. */
export interface EventTarget {
  readonly kind: (typeof TARGET_KINDS)[number];
  readonly id: string;
  readonly name: string;
}

/** Details, from which texts are made. */
export type EventData = Readonly<Record<string, string | number>>;

export interface NewServiceEvent {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly kind: EventKind;
  /** Whose it is; `undefined`: the operator's. */
  readonly accountId?: number | undefined;
  readonly target: EventTarget;
  /** `token:<id>` (0: the command line of this machine), `edge`, or `control`. */
  readonly actor: string;
  readonly data: EventData;
}

export interface ServiceEvent extends NewServiceEvent {
  readonly id: number;
  readonly severity: Severity;
}

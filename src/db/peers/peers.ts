/**
 * What a control may do while others use the same database: the work that is done by one of them, its part of a limit,
 * and whether its clock allows it to take work at all. docs/decisions/0577
 */
import type { WantedLease } from '#model/lease.ts';
import type { ConnectorReport } from '#model/sms-connector-report.ts';
import type { Db } from '../open.ts';

/** Deleting what is old, and what the feed no longer needs. */
export const HOUSEKEEPING = 'housekeeping';
/** Sweeping the SMS queue. */
export const SMS_SWEEP = 'sms-sweep';

export interface Controls {
  /** Names this control to the others; empty if it is alone. */
  readonly id: string;
  /** Controls that were seen within the last 15 s, this one included. */
  readonly seen: number;
  /** False while this control must not take work: its clock is wrong, or another control is of a newer schema. */
  readonly mayClaim: boolean;
  /** Why `/readyz` is refused; `undefined` if it is not. */
  readonly obstacle: string | undefined;
  /** Whether this control holds the lease now. */
  holds(lease: string): boolean;
  /** Says which leases of a kind this control would take; others of the kind are no longer renewed. */
  want(kind: string, leases: readonly WantedLease[]): void;
  /** Subscribes to changes of `mayClaim` and of the leases held. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void;
  /**
   * Runs `work` if this control holds the lease, otherwise does nothing. Each transaction of the database that it is
   * given is stored only if the lease is still held.
   */
  underLease(lease: string, db: Db, work: (db: Db) => Promise<void>): Promise<void>;
  /** Tells the others by which SMS connectors this control can send. */
  noteConnectorsUp(ids: readonly number[]): void;
  /** Whether another control can send by the connector. */
  isUpElsewhere(connectorId: number): boolean;
  /** Shows the others how the SMS connectors of this control are; `read` is called every few seconds. */
  showConnectors(read: () => readonly ConnectorReport[]): void;
  /** The connectors of other controls, as of the last few seconds. */
  readonly connectorsElsewhere: readonly { readonly control: string; readonly reports: readonly ConnectorReport[] }[];
}

/** A control that has its database to itself, as every one on SQLite. */
export const ALONE: Controls = {
  id: '',
  seen: 1,
  mayClaim: true,
  obstacle: undefined,
  holds: () => true,
  want: () => undefined,
  onChange: () => () => undefined,
  underLease: (_lease, db, work) => work(db),
  noteConnectorsUp: () => undefined,
  isUpElsewhere: () => false,
  showConnectors: () => undefined,
  connectorsElsewhere: [],
};

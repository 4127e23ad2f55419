/** Events of the fleet: actions on edges, and changes of their states. */

export const FLEET_EVENTS = ['state', 'enrol', 'drain', 'undrain', 'remove', 'revoke', 'accept', 'clone'] as const;
/**
 * `state`: the edge is in another state, named in the detail. `enrol`: a machine has become the edge. `clone`: two copies of
 * the edge were noticed. The others are actions of operators.
 */
export type FleetEventKind = (typeof FLEET_EVENTS)[number];

export interface FleetEvent {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly edge: string;
  readonly event: FleetEventKind;
  /** A text for people; may be empty. */
  readonly detail: string;
  /** `token:<id>` (0: the command line of this machine), `edge`, or `control`. */
  readonly actor: string;
}

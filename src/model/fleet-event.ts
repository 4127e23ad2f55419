/** Events of the fleet: actions on edges, and changes of their states. */
import { EVENT_KIND_NAMES, type EventKind } from './event.ts';

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
  /** A text for people; may be empty. For `state` the state, or the one before and it: `ready → away`. */
  readonly detail: string;
  /** `token:<id>` (0: the command line of this machine), `edge`, or `control`. */
  readonly actor: string;
}

/** Kinds of events of the service that are events of the fleet, by the fleet's name. */
const KINDS: ReadonlyMap<EventKind, FleetEventKind> = new Map<EventKind, FleetEventKind>([
  ['edge.away', 'state'],
  ['edge.back', 'state'],
  ['edge.unhealthy', 'state'],
  ...EVENT_KIND_NAMES.flatMap((kind): [EventKind, FleetEventKind][] => {
    const event = FLEET_EVENTS.find((its) => kind === `edge.${its}`);
    return event === undefined ? [] : [[kind, event]];
  }),
]);

export const EDGE_EVENT_KINDS: readonly EventKind[] = [...KINDS.keys()];

export function toFleetEventKind(kind: EventKind): FleetEventKind {
  return KINDS.get(kind) ?? 'state';
}

/** Returns the kind of event; that of a change of state follows from the states in its detail. */
export function toEventKind(event: FleetEventKind, detail: string): EventKind {
  if (event !== 'state') return `edge.${event}`;
  const [before, state = before] = detail.split(' → ');
  if (state === 'away') return 'edge.away';
  if (state === 'unhealthy') return 'edge.unhealthy';
  return before === 'away' ? 'edge.back' : 'edge.state';
}

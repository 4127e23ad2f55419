/** What is said of a connector at the moment. Pure. */
import type { DataOf } from '#contract/operations.ts';

export type ConnectorNow = DataOf<'smsOperator.listStates'>['list'][number];

/** Earliest instant since which a session can do it; 0: none can. */
export function sinceOf(sessions: ConnectorNow['sessions'], what: 'sends_since' | 'receives_since'): number {
  const instants = sessions.map((session) => session[what]).filter((at) => at > 0);
  return instants.length === 0 ? 0 : Math.min(...instants);
}

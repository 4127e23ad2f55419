/** The connector that a fresh install has: takes every part and sends it nowhere, and says so with each. */
import type { LoopbackSettings } from '#model/sms-connector.ts';
import type { Carrier, CarrierState, ConnectCarrier } from '../carrier.ts';

/** In one call of the engine's; it answers at once. */
const ROOM = 1_000;

export const connectLoopback: ConnectCarrier<LoopbackSettings> = (_settings, events, { log, timers }) => {
  log.warn('the loopback connector sends messages to nobody');
  let state: CarrierState = 'connecting';
  const become = (next: CarrierState) => {
    state = next;
    events.stateChanged(next);
    if (next === 'bound') events.roomFreed();
  };
  // Not before whoever connects has got it.
  const cancel = timers.after(0, () => become('bound'));
  const carrier: Carrier = {
    get room() {
      return state === 'bound' ? ROOM : 0;
    },
    get state() {
      return state;
    },
    submit: async () => (state === 'bound' ? { kind: 'simulated' } : { kind: 'unsent', reason: state }),
    async [Symbol.asyncDispose]() {
      cancel();
      if (state !== 'closed') become('closed');
    },
  };
  return carrier;
};

/** The connector of a new installation: it accepts every part without sending it and marks it as simulated. */
import type { LoopbackSettings } from '#model/sms-connector.ts';
import type { Carrier, CarrierState, ConnectCarrier } from '../carrier.ts';

/** Parts that one round may submit; their outcome follows at once. */
const ROOM = 1_000;

export const connectLoopback: ConnectCarrier<LoopbackSettings> = (_settings, events, { log, timers }) => {
  log.info('the loopback connector only simulates sending; messages do not reach phones');
  let state: CarrierState = 'connecting';
  let hasWarned = false;
  // An installation that sends no messages gets no warning.
  const warn = () => {
    if (!hasWarned)
      log.warn('the loopback connector took a message: it and later ones are only simulated and do not reach phones');
    hasWarned = true;
  };
  const become = (next: CarrierState) => {
    state = next;
    events.stateChanged(next);
    if (next === 'bound') events.roomFreed();
  };
  // Deferred, so that the caller has the connector before its first event.
  const cancel = timers.after(0, () => become('bound'));
  const carrier: Carrier = {
    get room() {
      return state === 'bound' ? ROOM : 0;
    },
    get state() {
      return state;
    },
    inFlight: 0, // the outcome follows at once
    get isReceiving() {
      return state === 'bound';
    },
    wholeMessages: false,
    async submit() {
      if (state !== 'bound') return { kind: 'unsent', reason: state };
      warn();
      return { kind: 'simulated' };
    },
    async [Symbol.asyncDispose]() {
      cancel();
      if (state !== 'closed') become('closed');
    },
  };
  return carrier;
};

/** Whether a carrier takes a session with the settings of a connector: one is opened, looked at and closed; nothing is sent. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectorSettings } from '#model/sms-connector.ts';
import type { CarrierTools, ConnectCarrier } from './carrier.ts';

/** True when it is bound within `limitMs`. */
export async function probeConnector(
  settings: ConnectorSettings,
  connect: ConnectCarrier<ConnectorSettings>,
  tools: CarrierTools,
  limitMs: number,
): Promise<boolean> {
  const bound = Promise.withResolvers<void>();
  const refuse = () => Promise.reject(new Error('this session is only a test'));
  await using carrier = connect(
    settings,
    {
      // What a carrier tells here it tells the connector's own session again.
      receipt: refuse,
      reply: refuse,
      lateAnswer: () => undefined,
      stateChanged: (state) => {
        if (state === 'bound') bound.resolve();
      },
      roomFreed: () => undefined,
    },
    tools,
  );
  if (carrier.state === 'bound') return true;
  const stop = new AbortController();
  const late = delay(limitMs, false, { signal: stop.signal }).catch(() => false);
  const isBound = await Promise.race([bound.promise.then(() => true), late]);
  stop.abort();
  return isBound;
}

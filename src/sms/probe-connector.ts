/**
 * Tests whether a carrier accepts a session with the settings of a connector: opens one and closes it without sending
 * anything.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectorSettings } from '#model/sms-connector.ts';
import type { CarrierTools, ConnectCarrier } from './carrier.ts';

export type Probe = { readonly kind: 'bound' } | { readonly kind: 'failed'; readonly reason: string };

/** The first session decides: after a wrong password there is no retry. */
export async function probeConnector(
  settings: ConnectorSettings,
  connect: ConnectCarrier<ConnectorSettings>,
  tools: CarrierTools,
  limitMs: number,
): Promise<Probe> {
  const { promise, resolve } = Promise.withResolvers<Probe>();
  const look = () => {
    if (carrier.state === 'bound' && carrier.isReceiving) resolve({ kind: 'bound' });
  };
  const refuse = () => Promise.reject(new Error('this session is only a test'));
  await using carrier = connect(
    besideItself(settings),
    {
      // Receipts and replies are refused: the carrier sends them again on the connector's own session.
      receipt: refuse,
      reply: refuse,
      unread: refuse,
      lateAnswer: () => undefined,
      stateChanged: look,
      sessionEnded: (reason) => resolve({ kind: 'failed', reason }),
      roomFreed: () => undefined,
    },
    tools,
  );
  look();
  const stop = new AbortController();
  const reason = `no session within ${limitMs / 1000} s`;
  const late = delay(limitMs, { kind: 'failed' as const, reason }, { signal: stop.signal }).catch(() => promise);
  const probe = await Promise.race([promise, late]);
  stop.abort();
  return probe;
}

/**
 * The connector itself may listen at its address meanwhile: what a gateway opens is no part of the test. One connection
 * is enough, beside those that it may have.
 */
function besideItself(settings: ConnectorSettings): ConnectorSettings {
  if (settings.kind === 'loopback' || settings.kind === 'smpp') return settings;
  const one = { ...settings, connections: 1 };
  return one.kind === 'sgip' ? { ...one, listen: { host: '127.0.0.1', port: 0 } } : one;
}

/** Opens the connector that settings describe. */
import type { ConnectorSettings } from '#model/sms-connector.ts';
import type { ConnectCarrier } from '../carrier.ts';
import { connectLoopback } from './loopback.ts';
import { connectSmpp } from './smpp.ts';

export const connectCarrier: ConnectCarrier<ConnectorSettings> = (settings, events, tools) =>
  settings.kind === 'smpp' ? connectSmpp(settings, events, tools) : connectLoopback(settings, events, tools);

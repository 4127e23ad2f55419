/** Opens the connector that settings describe. */
import type { ConnectorSettings } from '#model/sms-connector.ts';
import type { ConnectCarrier } from '../carrier.ts';
import { connectCmpp } from './cmpp.ts';
import { connectLoopback } from './loopback.ts';
import { connectSgip } from './sgip.ts';
import { connectSmgp } from './smgp.ts';
import { connectSmpp } from './smpp.ts';

export const connectCarrier: ConnectCarrier<ConnectorSettings> = (settings, events, tools) => {
  switch (settings.kind) {
    case 'loopback':
      return connectLoopback(settings, events, tools);
    case 'smpp':
      return connectSmpp(settings, events, tools);
    case 'smgp':
      return connectSmgp(settings, events, tools);
    case 'sgip':
      return connectSgip(settings, events, tools);
    default:
      return connectCmpp(settings, events, tools);
  }
};

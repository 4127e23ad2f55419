/** The connector to a carrier that speaks CMPP 2.0 or 3.0. */
import type { CmppSettings } from '#model/sms-connector.ts';
import type { ConnectCarrier } from '../carrier.ts';
import { cmppDialect } from '../cmpp/dialect.ts';
import { WireCarrier } from '../wire/wire-carrier.ts';

export const connectCmpp: ConnectCarrier<CmppSettings> = (settings, events, tools) => {
  const dialects = Array.from({ length: settings.connections }, () => cmppDialect(settings, tools.clock));
  return new WireCarrier({ settings, dialects, wholeMessages: true }, events, tools);
};

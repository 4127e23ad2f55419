/** The connector to a carrier that speaks SMGP 3.0. */
import type { SmgpSettings } from '#model/sms-connector.ts';
import type { ConnectCarrier } from '../carrier.ts';
import { smgpDialect } from '../smgp/dialect.ts';
import { WireCarrier } from '../wire/wire-carrier.ts';

export const connectSmgp: ConnectCarrier<SmgpSettings> = (settings, events, tools) => {
  const dialects = Array.from({ length: settings.connections }, () => smgpDialect(settings, tools.clock));
  return new WireCarrier({ settings, dialects, wholeMessages: true }, events, tools);
};

/** The connector to a carrier that speaks SMPP 3.4. */
import type { SmppSettings } from '#model/sms-connector.ts';
import type { ConnectCarrier } from '../carrier.ts';
import { smppDialects } from '../smpp/dialect.ts';
import { WireCarrier } from '../wire/wire-carrier.ts';

export const connectSmpp: ConnectCarrier<SmppSettings> = (settings, events, tools) =>
  new WireCarrier({ settings, dialects: smppDialects(settings), wholeMessages: false }, events, tools);

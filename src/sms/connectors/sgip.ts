/** The connector to a carrier that speaks SGIP 1.2: sessions for submits, and a listener for the gateway's own. */
import type { SgipSettings } from '#model/sms-connector.ts';
import type { ConnectCarrier } from '../carrier.ts';
import { sgipDialect } from '../sgip/dialect.ts';
import { SgipListener } from '../sgip/listener.ts';
import { WireCarrier } from '../wire/wire-carrier.ts';

export const connectSgip: ConnectCarrier<SgipSettings> = (settings, events, tools) => {
  const dialect = sgipDialect(settings, tools.clock);
  const { listen, allow, account, gatewayAccount = account, password, connections } = settings;
  const login = { name: gatewayAccount, password };
  return new WireCarrier(
    {
      ...{ settings, dialects: Array.from({ length: connections }, () => dialect), wholeMessages: true },
      openReceiver: (own) => new SgipListener({ listen, allow, login, dialect, tools, events: own }),
    },
    events,
    tools,
  );
};

/** A connector of SGIP before a scripted gateway. */
import type { TestContext } from 'node:test';
import { CONNECTOR_DEFAULTS, type SgipSettings } from '#model/sms-connector.ts';
import type { CarrierTools } from '#sms/carrier.ts';
import { freePort } from '../free-port.ts';
import { connectTestCarrier, type TestCarrier } from './carrier.ts';
import { TEST_NODE } from './gateway-protocols.ts';
import { type GatewayOptions, ScriptedGateway } from './scripted-gateway.ts';

type Cleanup = Pick<TestContext, 'after'>;

/** `listenPort`: where it listens for its gateway. */
export function sgipSettings(port: number, listenPort: number, changed: Partial<SgipSettings> = {}): SgipSettings {
  return {
    ...CONNECTOR_DEFAULTS.sgip,
    ...{ kind: 'sgip', host: '127.0.0.1', port, account: 'customer', password: 'secret', corpId: '12345' },
    ...{ sender: '10690001', node: TEST_NODE, gatewayAccount: 'gateway', allow: ['127.0.0.1'] },
    listen: { host: '127.0.0.1', port: listenPort },
    ...changed,
  };
}

/** Both close with the test. */
export async function openSgip(
  t: Cleanup,
  options: Omit<GatewayOptions, 'kind'> = {},
  changed: Partial<SgipSettings> = {},
  tools: Partial<CarrierTools> = {},
): Promise<{ readonly gateway: ScriptedGateway; readonly test: TestCarrier; readonly listenPort: number }> {
  const listenPort = await freePort();
  const gateway = await new ScriptedGateway({ kind: 'sgip', listener: listenPort, ...options }).listen(t);
  return { gateway, test: connectTestCarrier(t, sgipSettings(gateway.port, listenPort, changed), tools), listenPort };
}

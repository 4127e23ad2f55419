import { connectTestCarrier } from '../../../test/support/carrier.ts';
import { connectorSuite } from './connector.suite.ts';

connectorSuite('loopback', {}, 'simulated', async (t) => connectTestCarrier(t, { kind: 'loopback' }));

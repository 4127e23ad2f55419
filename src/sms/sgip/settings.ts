/** What the dialect of SGIP reads of a connector's settings. */
import type { SgipSettings } from '#model/sms-connector.ts';
import type { GatewayFields } from '../gateways/settings.ts';

export type SgipFields = GatewayFields & Pick<SgipSettings, 'node'>;

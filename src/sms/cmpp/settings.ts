/** What the dialect of CMPP reads of a connector's settings. */
import type { CmppSettings } from '#model/sms-connector.ts';
import type { GatewayFields } from '../gateways/settings.ts';

export type CmppFields = GatewayFields & Pick<CmppSettings, 'kind' | 'feeUserType' | 'pk' | 'accountPadding'>;

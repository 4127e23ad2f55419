/** What the dialect of CMPP reads of a connector's settings. */
import type { GatewayFields } from '../gateways/settings.ts';

export interface CmppFields extends GatewayFields {
  readonly kind: 'cmpp2' | 'cmpp3';
  /** Fee_UserType, the payer: 0 the phone, 1 the sender by its number, 2 the service, 3 the number in the submit. */
  readonly feeUserType: number;
  /** `one`: each part says that it is 1 of 1, as some gateways want; its user data header has the true numbers. */
  readonly pk: 'parts' | 'one';
  /** `6`: a shorter account is filled with zeros in the digest. */
  readonly accountPadding: 'none' | '6';
}

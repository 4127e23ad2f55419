/** What the dialect of SGIP reads of a connector's settings. */
import type { GatewayFields } from '../gateways/settings.ts';

export interface SgipFields extends GatewayFields {
  /** Our node number: 3, the area code in four digits, and the enterprise's code, such as 3010012345. */
  readonly node: number;
}

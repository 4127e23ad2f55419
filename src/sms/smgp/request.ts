/** Our requests to a gateway, less their sequence. */
import type { FieldsOf } from '../wire/fixed-codec.ts';
import type { SmgpTable } from './layouts.ts';

export interface SmgpRequestOf<C extends keyof SmgpTable> {
  readonly kind: 'request';
  readonly command: C;
  readonly fields: FieldsOf<SmgpTable[C]['fields']>;
  /** Optional parameters. */
  readonly tlvs?: Buffer;
}
export type SmgpRequest = SmgpRequestOf<'login'> | SmgpRequestOf<'submit'> | SmgpRequestOf<'activeTest' | 'exit'>;

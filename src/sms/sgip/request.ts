/** Our requests to a gateway, less their sequence. */
import type { FieldsOf } from '../wire/fixed-codec.ts';
import type { SgipTable } from './layouts.ts';

export interface SgipRequestOf<C extends keyof SgipTable> {
  readonly kind: 'request';
  readonly command: C;
  readonly fields: FieldsOf<SgipTable[C]['fields']>;
  /** Which part a submit is of. */
  readonly partId?: number;
}
export type SgipRequest = SgipRequestOf<'bind'> | SgipRequestOf<'submit'> | SgipRequestOf<'unbind'>;

/** Our requests to a gateway, less their sequence. */
import type { FieldsOf } from '../wire/fixed-codec.ts';
import type { CmppTable } from './layouts.ts';

export interface CmppRequestOf<C extends keyof CmppTable> {
  readonly kind: 'request';
  readonly command: C;
  readonly fields: FieldsOf<CmppTable[C]['fields']>;
}
export type CmppRequest = { readonly [C in 'connect' | 'submit' | 'activeTest' | 'terminate']: CmppRequestOf<C> }[
  | 'connect'
  | 'submit'
  | 'activeTest'
  | 'terminate'];
